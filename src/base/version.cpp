#include "pliant/version.h"

namespace pliant {

const char* library_version() { return PLIANT_VERSION; }

}  // namespace pliant
