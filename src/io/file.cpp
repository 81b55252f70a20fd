#include "io/file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pliant {

namespace fs = std::filesystem;

namespace {

std::string reason(int error_number) { return std::strerror(error_number); }

Error cannot_write(const fs::path& file, std::string message) {
  return file_error(Error::Code::CannotWrite, file, std::move(message));
}

/// Why `target` cannot be replaced by a new file, or success.
Status check_target(const fs::path& target) {
  if (target.empty() || !target.has_filename()) return cannot_write(target, "needs a file name, not only a folder");
  std::error_code ec;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ec))
    return cannot_write(target, fmt::format("the folder {} does not exist; create it first", folder.string()));
  const fs::file_status status = fs::status(target, ec);
  if (fs::is_directory(status)) return cannot_write(target, "is a directory; give the name of a file");
  if (fs::exists(status) && !fs::is_regular_file(status))
    return cannot_write(target, "is not a regular file and is not replaced; choose another name");
  if (fs::exists(status) && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return cannot_write(target, "is write-protected; choose another name or make it writable");
  return {};
}

/// The file behind a symbolic link, so that the link survives the rename.
fs::path behind_links(const fs::path& target) {
  std::error_code ec;
  if (!fs::is_symlink(fs::symlink_status(target, ec))) return target;
  fs::path real = fs::canonical(target, ec);
  return ec ? target : real;
}

Result<std::string> read_stream(std::FILE* stream, const fs::path& file, std::uint64_t expected,
                                std::uint64_t max_bytes) {
  std::string content;
  content.resize(static_cast<std::size_t>(expected));
  content.resize(std::fread(content.data(), 1, content.size(), stream));
  // The file may have grown since its size was asked.
  char rest[4096];
  while (const std::size_t n = std::fread(rest, 1, sizeof rest, stream)) {
    content.append(rest, n);
    if (content.size() > max_bytes)
      return file_error(Error::Code::CapacityExceeded, file, fmt::format("is larger than {} bytes", max_bytes));
  }
  if (std::ferror(stream))
    return file_error(Error::Code::CannotRead, file, fmt::format("cannot be read: {}", reason(errno)));
  return content;
}

}  // namespace

Error file_error(Error::Code code, const fs::path& file, std::string message, int line, std::string field) {
  return {code, std::move(message), file.string(), std::move(field), line};
}

Error error_about(const fs::path& file, Error error) {
  error.file = file.string();
  return error;
}

std::string lower_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return ending;
}

Result<std::string> read_file(const fs::path& file, std::uint64_t max_bytes) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return file_error(missing ? Error::Code::NotFound : Error::Code::CannotRead, file,
                      missing ? "does not exist; check the name and the folder it is relative to"
                              : fmt::format("cannot be read: {}", reason(errno)));
  }
  if (S_ISDIR(info.st_mode))
    return file_error(Error::Code::CannotRead, file, "is a directory; give the name of a file");
  if (!S_ISREG(info.st_mode)) return file_error(Error::Code::CannotRead, file, "is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > max_bytes)
    return file_error(Error::Code::CapacityExceeded, file,
                      fmt::format("has {} bytes; at most {} are read", bytes, max_bytes));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), &std::fclose);
  if (!stream)
    return file_error(Error::Code::CannotRead, file,
                      fmt::format("cannot be opened: {}; check its permissions", reason(errno)));
  try {
    return read_stream(stream.get(), file, bytes, max_bytes);
  } catch (const std::bad_alloc&) {
    return file_error(Error::Code::CapacityExceeded, file, fmt::format("has {} bytes: not enough memory", bytes));
  }
}

fs::path hidden_neighbour(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  // Long names leave no room for more letters: keep the start only.
  const std::string name = target.filename().string().substr(0, 200);
  fs::path neighbour;
  std::error_code ec;
  do {
    neighbour = target.parent_path() / fmt::format(".{}.{}-{}.part", name, ::getpid(), counter++);
  } while (fs::exists(fs::symlink_status(neighbour, ec)));
  return neighbour;
}

Result<OutputFile> OutputFile::create(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_write(file, fmt::format("cannot be created: {}", reason(errno)));
  std::FILE* stream = ::fdopen(fd, "w+b");
  if (!stream) {
    ::close(fd);
    return cannot_write(file, "cannot be created: out of memory");
  }
  std::setvbuf(stream, nullptr, _IOFBF, std::size_t{1} << 16);
  return OutputFile(file, stream);
}

void OutputFile::fail(const char* what) {
  if (!failed()) status_ = cannot_write(path_, fmt::format("{}: {}; nothing was kept of it", what, reason(errno)));
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (failed() || bytes == 0) return;
  if (std::fwrite(data, 1, bytes, stream_.get()) != bytes) return fail("writing failed");
  size_ += bytes;
}

void OutputFile::overwrite(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (failed()) return;
  std::FILE* f = stream_.get();
  if (::fseeko(f, static_cast<off_t>(offset), SEEK_SET) != 0 || std::fwrite(data, 1, bytes, f) != bytes ||
      std::fseek(f, 0, SEEK_END) != 0)
    fail("writing failed");
}

bool OutputFile::read_back(std::uint64_t offset, void* data, std::size_t bytes) {
  if (failed()) return false;
  std::FILE* f = stream_.get();
  if (::fseeko(f, static_cast<off_t>(offset), SEEK_SET) != 0 || std::fread(data, 1, bytes, f) != bytes ||
      std::fseek(f, 0, SEEK_END) != 0)
    fail("reading back failed");
  return !failed();
}

void OutputFile::unlink() {
  std::error_code ec;
  fs::remove(path_, ec);
}

Status OutputFile::close(bool to_disk) {
  if (!stream_) return status_;
  if (std::fflush(stream_.get()) != 0) fail("writing failed");
  if (to_disk && !failed() && ::fsync(::fileno(stream_.get())) != 0 && errno != EINVAL) fail("writing failed");
  if (std::fclose(stream_.release()) != 0) fail("writing failed");
  return status_;
}

Result<AtomicFile> AtomicFile::create(const fs::path& target) {
  const fs::path real = behind_links(target);
  if (Status s = check_target(real); !s) return s.error();
  Result<OutputFile> temporary = OutputFile::create(hidden_neighbour(real));
  if (!temporary) return error_about(target, temporary.error());
  struct stat old {};
  if (::stat(real.c_str(), &old) == 0) ::chmod(temporary->path().c_str(), old.st_mode & 0777);
  return AtomicFile(std::move(*temporary), real);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : OutputFile(std::move(other)), target_(std::move(other.target_)), pending_(std::exchange(other.pending_, false)) {}

AtomicFile::~AtomicFile() {
  if (pending_) unlink();
}

Status AtomicFile::commit() {
  Status closed = close(true);
  if (closed) {
    std::error_code ec;
    fs::rename(path(), target_, ec);
    if (!ec) {
      pending_ = false;
      return {};
    }
    closed = cannot_write(target_, fmt::format("cannot be put into place: {}", ec.message()));
  }
  return error_about(target_, closed.error());
}

}  // namespace pliant
