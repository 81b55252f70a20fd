#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

using FileSizes = std::map<std::string, std::uint64_t>;

constexpr const char* kListTitle = "pliant files 1";

Error cannot_write(const fs::path& file, std::string message) {
  return file_error(Error::Code::CannotWrite, file, std::move(message));
}

/// The list an earlier folder left, empty if there is none or it is not one of ours.
FileSizes read_list(const fs::path& folder) {
  const Result<std::string> text = read_file(folder / AtomicFolder::kListName, std::uint64_t{1} << 28);
  FileSizes files;
  if (!text) return files;
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || line != kListTitle) return files;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::uint64_t bytes = 0;
    std::string name;
    if (fields >> bytes && fields.get() == ' ' && std::getline(fields, name)) files[name] = bytes;
  }
  files[AtomicFolder::kListName] = text->size();
  return files;
}

/// Success if `folder` is empty or holds only what is in its own list.
Status check_only_ours(const fs::path& folder, const FileSizes& files) {
  std::error_code ec;
  fs::directory_iterator entries(folder, ec);
  if (ec) return cannot_write(folder, fmt::format("cannot be looked into: {}", ec.message()));
  for (; entries != fs::directory_iterator(); entries.increment(ec)) {
    if (ec) return cannot_write(folder, fmt::format("cannot be looked into: {}", ec.message()));
    const std::string name = entries->path().filename().string();
    const auto found = files.find(name);
    std::error_code size_error;
    const bool ours = found != files.end() && entries->symlink_status(size_error).type() == fs::file_type::regular &&
                      entries->file_size(size_error) == found->second && !size_error;
    if (!ours)
      return cannot_write(folder, fmt::format("holds {}, which no earlier recording wrote, and is not replaced; choose "
                                              "another folder or move that file away",
                                              name));
  }
  return {};
}

/// Success if `target` can become a folder of ours. `replaced` gets the files that go.
Status check_target(const fs::path& target, FileSizes& replaced) {
  replaced.clear();
  std::error_code ec;
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, ec))
    return cannot_write(target, fmt::format("the folder {} does not exist; create it first", parent.string()));
  const fs::file_status status = fs::symlink_status(target, ec);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) return cannot_write(target, "exists and is not a folder; choose another name");
  replaced = read_list(target);
  return check_only_ours(target, replaced);
}

/// Removes what is known to be ours and then the folder, which stays if something else has come into it.
void remove_files_and_folder(const fs::path& folder, const FileSizes& files) {
  std::error_code ec;
  for (const auto& [name, bytes] : files) fs::remove(folder / name, ec);
  fs::remove(folder / AtomicFolder::kListName, ec);
  fs::remove(folder, ec);
}

/// "out/" and "out" mean the same folder; "." and ".." cannot be replaced by a rename.
fs::path without_trailing_slash(fs::path target) {
  target = target.lexically_normal();
  return target.has_filename() ? target : target.parent_path();
}

}  // namespace

Result<AtomicFolder> AtomicFolder::create(const fs::path& requested) {
  const fs::path target = without_trailing_slash(requested);
  if (target.empty() || target.filename() == "." || target.filename() == ".." || !target.has_filename())
    return cannot_write(requested, "give the name of a folder of its own");
  FileSizes replaced;
  if (Status s = check_target(target, replaced); !s) return s.error();
  const fs::path staging = hidden_neighbour(target);
  if (::mkdir(staging.c_str(), 0777) != 0)
    return cannot_write(target, fmt::format("cannot be created: {}", std::strerror(errno)));
  return AtomicFolder(staging, target);
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : staging_(std::move(other.staging_)),
      target_(std::move(other.target_)),
      files_(std::move(other.files_)),
      pending_(std::exchange(other.pending_, false)) {}

AtomicFolder::~AtomicFolder() {
  if (pending_) remove_files_and_folder(staging_, files_);
}

Result<OutputFile> AtomicFolder::create_file(const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." && name != kListName &&
                     name.find_first_of("/\\\n") == std::string::npos;
  if (!plain)
    return Error{
        Error::Code::InvalidArgument, fmt::format("\"{}\" is not a plain file name", name), target_.string(), {}, 0};
  Result<OutputFile> file = OutputFile::create(staging_ / name);
  if (!file) return error_about(target_ / name, file.error());
  files_[name] = 0;
  return file;
}

Status AtomicFolder::close_file(OutputFile& file) {
  const std::string name = file.path().filename().string();
  files_[name] = file.size();
  const Status closed = file.close(false);
  return closed ? closed : error_about(target_ / name, closed.error());
}

Status AtomicFolder::write_list() {
  std::string text = std::string(kListTitle) + "\n";
  for (const auto& [name, bytes] : files_) text += fmt::format("{} {}\n", bytes, name);
  Result<OutputFile> list = OutputFile::create(staging_ / kListName);
  if (!list) return list.error();
  list->write(text);
  return list->close(false);
}

Status AtomicFolder::commit() {
  if (Status s = write_list(); !s) return s;
  return replace_target();
}

Status AtomicFolder::replace_target() {
  FileSizes replaced;
  if (Status s = check_target(target_, replaced); !s) return s;
  std::error_code ec;
  fs::path aside;
  if (fs::exists(target_, ec)) {
    aside = hidden_neighbour(target_);
    fs::rename(target_, aside, ec);
    if (ec) return cannot_write(target_, fmt::format("cannot be replaced: {}", ec.message()));
  }
  fs::rename(staging_, target_, ec);
  if (ec) {
    const std::string why = ec.message();
    if (!aside.empty()) fs::rename(aside, target_, ec);
    return cannot_write(target_, fmt::format("cannot be put into place: {}", why));
  }
  pending_ = false;
  if (!aside.empty()) remove_files_and_folder(aside, replaced);
  return {};
}

}  // namespace pliant
