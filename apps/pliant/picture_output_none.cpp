// What stands in for picture_output.cpp in a build without the renderer.
#include "picture_output.h"

namespace pliant::app {

struct PictureOutput::Impl {};

PictureOutput::PictureOutput(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PictureOutput::PictureOutput(PictureOutput&&) noexcept = default;
PictureOutput::~PictureOutput() = default;

Result<PictureOutput> PictureOutput::create(const PictureOptions&, const Scene&) {
  return Error{Error::Code::Unsupported, "this pliant was built without pictures (PLIANT_RENDER=OFF)"};
}
Status PictureOutput::add_frame(const ScenePlayer&, int) { return {}; }
Status PictureOutput::finish() { return {}; }
std::vector<std::pair<std::string, std::filesystem::path>> PictureOutput::paths() const { return {}; }
std::vector<std::string> PictureOutput::notices() const { return {}; }
void add_picture_options(CLI::App&, PictureOptions&) {}

}  // namespace pliant::app
