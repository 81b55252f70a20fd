// How generators look at their arguments: anything that makes no sense throws `BadResult` before memory is touched.
#pragma once

#include "pliant/math.h"

namespace pliant {

/// `value` if it is positive and finite.
double require_positive(const char* generator, const char* argument, float value);
void require_positive(const char* generator, const char* argument, Vec3 value);
/// `value` if it is at least `least` and less than the largest number of elements.
int require_count(const char* generator, const char* argument, int value, int least);
/// The size and cell counts of a box.
void require_box(const char* generator, Vec3 size, int nx, int ny, int nz);
/// Into how many cells a length is cut, at least `least`. Throws where that would exceed the largest number of
/// elements.
int cells_along(const char* generator, float length, float cell, int least = 1);
/// Throws if a mesh of so many elements would be too large.
void require_size(const char* generator, double elements);
/// Throws an error of what is wrong with an argument.
[[noreturn]] void refuse_argument(const char* generator, const char* argument, const char* why);

}  // namespace pliant
