// Counts what the test program allocates.
#pragma once

#include <cstddef>

/// How many times `operator new` was called so far.
std::size_t allocation_count();
