// What stands in for src/view/ in a build without the window.
#include "view/viewer.h"

namespace pliant {

Status run_viewer(const ViewerOptions&, SceneErrors&) {
  return Error{Error::Code::Unsupported,
               "this pliant was built without the window: configure with -DPLIANT_RENDER=ON and -DPLIANT_VIEWER=ON"};
}

}  // namespace pliant
