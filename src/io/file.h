// Whole files in, whole files out.
//
// Reading: one call, with a limit on the size. Writing: `AtomicFile` and `AtomicFolder` write to a hidden neighbour and
// rename it into place when all went well, so that a failed run never leaves half a file or destroys an earlier one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "pliant/result.h"

namespace pliant {

inline constexpr std::uint64_t kMaxMeshFileBytes = std::uint64_t{2} << 30;

/// An error about `file`. `line` is 0 and `field` empty where they have no meaning.
Error file_error(Error::Code code, const std::filesystem::path& file, std::string message, int line = 0,
                 std::string field = {});

/// The same error about another file: the one the user knows, not the temporary one behind it.
Error error_about(const std::filesystem::path& file, Error error);

/// The ending of a file's name in lower case, with its dot: ".glb".
std::string lower_ending(const std::filesystem::path& file);

/// The whole content of a regular file. Errors: missing, a directory or device, unreadable, larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& file, std::uint64_t max_bytes = kMaxMeshFileBytes);

/// A file being written. The first failed write is kept and every later one does nothing, so a caller may write a whole
/// format without looking and ask once, at the end.
class OutputFile {
 public:
  /// Creates `file`, which must not exist.
  static Result<OutputFile> create(const std::filesystem::path& file);

  OutputFile(OutputFile&&) noexcept = default;
  OutputFile& operator=(OutputFile&&) noexcept = default;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes written earlier, such as a count known only at the end. The next `write` appends again.
  void overwrite(std::uint64_t offset, const void* data, std::size_t bytes);
  /// Reads bytes written earlier. False, and a failed file, where there are not so many.
  bool read_back(std::uint64_t offset, void* data, std::size_t bytes);

  std::uint64_t size() const { return size_; }  ///< bytes written so far
  bool failed() const { return !status_.ok(); }
  const Status& status() const { return status_; }
  const std::filesystem::path& path() const { return path_; }

  /// Removes the name from the folder at once; the content stays usable until the file is closed.
  void unlink();
  /// Flushes and closes; `to_disk` also waits until the data is on the disk. Fails if any write did.
  Status close(bool to_disk);

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  OutputFile(std::filesystem::path path, std::FILE* stream) : path_(std::move(path)), stream_(stream) {}
  void fail(const char* what);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::uint64_t size_ = 0;
  Status status_;
};

/// A file that appears whole, under its name, when `commit` succeeds. Destroyed without a commit it leaves no trace,
/// and whatever had the name before stays as it was.
class AtomicFile : public OutputFile {
 public:
  /// Errors: the folder is missing or read-only, `target` is a directory, a device or a write-protected file.
  static Result<AtomicFile> create(const std::filesystem::path& target);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Flushes to disk, checks that every write succeeded and renames into place.
  Status commit();
  const std::filesystem::path& target() const { return target_; }

 private:
  AtomicFile(OutputFile temporary, std::filesystem::path target)
      : OutputFile(std::move(temporary)), target_(std::move(target)), pending_(true) {}

  std::filesystem::path target_;
  bool pending_ = false;
};

/// A folder of files that appears whole when `commit` succeeds, such as a recording of one file per frame.
///
/// It replaces an earlier folder of the same name only if that one is empty or holds nothing but what an earlier
/// `AtomicFolder` wrote (it leaves a list of its files and their sizes in `kListName`); foreign or changed files are
/// never deleted.
class AtomicFolder {
 public:
  static constexpr const char* kListName = ".pliant-files";

  /// Errors: as `AtomicFile`, or `target` holds foreign files (asked again by `commit`).
  static Result<AtomicFolder> create(const std::filesystem::path& target);

  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  ~AtomicFolder();

  /// A new file of the folder. `name` is a plain name, without separators.
  Result<OutputFile> create_file(const std::string& name);
  /// Closes a file made by `create_file`.
  Status close_file(OutputFile& file);

  Status commit();
  const std::filesystem::path& target() const { return target_; }

 private:
  AtomicFolder(std::filesystem::path staging, std::filesystem::path target)
      : staging_(std::move(staging)), target_(std::move(target)), pending_(true) {}
  Status write_list();
  Status replace_target();

  std::filesystem::path staging_, target_;
  std::map<std::string, std::uint64_t> files_;  ///< name and size of those closed so far
  bool pending_ = false;
};

/// A name beside `target` that does not exist yet: hidden, in the same folder, so that a rename is atomic.
std::filesystem::path hidden_neighbour(const std::filesystem::path& target);

}  // namespace pliant
