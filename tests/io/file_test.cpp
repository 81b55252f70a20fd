// Reading whole files, and writing that leaves all or nothing.
#include "io/file.h"

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/mesh_test_support.h"

namespace pliant::test {
namespace {

namespace fs = std::filesystem;

class FileTest : public MeshFolder {
 protected:
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    MeshFolder::TearDown();
  }
};

/// Root may do everything and permissions mean nothing then: while this lives, a root process is nobody.
class OrdinaryUser {
 public:
  explicit OrdinaryUser(const fs::path& folder) : was_root_(::geteuid() == 0) {
    if (!was_root_) return;
    for (const auto& e : fs::directory_iterator(folder)) EXPECT_EQ(::chown(e.path().c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(::seteuid(kNobody), 0);
  }
  ~OrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  bool was_root_;
};

/// While it lives no file may grow beyond so many bytes: a full disk that needs no disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

TEST_F(FileTest, ReadsTheWholeContent) {
  const std::string content("a\0b\r\n\xff", 6);
  const Result<std::string> read = read_file(put("f", content));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, content);
}

TEST_F(FileTest, SaysWhatIsWrongWithAFile) {
  fs::create_directory(path("folder"));
  ::mkfifo(path("pipe").c_str(), 0600);  // opening it for reading would wait for ever
  put("large", std::string(100, 'x'));
  const auto error = [&](const char* name, std::uint64_t limit = 50) {
    const Result<std::string> r = read_file(path(name), limit);
    EXPECT_FALSE(r.ok());
    EXPECT_EQ(r.error().file, path(name).string());
    return r.error();
  };
  EXPECT_EQ(error("missing").code, Error::Code::NotFound);
  EXPECT_EQ(error("large/below").code, Error::Code::NotFound);
  EXPECT_EQ(error("large").code, Error::Code::CapacityExceeded);
  expect_message(error("large"), "100 bytes");
  expect_message(error("folder"), "is a directory");
  expect_message(error("pipe"), "not a regular file");
}

TEST_F(FileTest, UnreadableFileIsAnError) {
  put("secret", "x");
  fs::permissions(path("secret"), fs::perms::none);
  const OrdinaryUser user(folder_);
  const Result<std::string> r = read_file(path("secret"));
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Error::Code::CannotRead);
}

TEST_F(FileTest, AppearsOnlyWhenCommitted) {
  Result<AtomicFile> file = AtomicFile::create(path("f"));
  ASSERT_TRUE(file.ok());
  file->write("hello ");
  file->write("w0rld");
  file->overwrite(7, "o", 1);
  file->write("!");
  char back[5];
  EXPECT_TRUE(file->read_back(6, back, 5));
  EXPECT_EQ(std::string(back, 5), "world");
  EXPECT_EQ(file->size(), 12u);
  EXPECT_FALSE(fs::exists(path("f")));
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(slurp(path("f")), "hello world!");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(FileTest, LeavesTheOldFileWithoutCommit) {
  put("f", "old");
  {
    Result<AtomicFile> file = AtomicFile::create(path("f"));
    ASSERT_TRUE(file.ok());
    file->write("new");
    const AtomicFile moved = std::move(*file);
    EXPECT_EQ(moved.target(), path("f"));
  }
  EXPECT_EQ(slurp(path("f")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(FileTest, AFullDiskLeavesTheOldFileAndIsTold) {
  put("f", "old");
  {
    Result<AtomicFile> file = AtomicFile::create(path("f"));
    ASSERT_TRUE(file.ok());
    const FileSizeLimit limit(100000);
    for (int i = 0; i < 100; ++i) file->write(std::string(10000, 'x'));
    const Status s = file->commit();
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().code, Error::Code::CannotWrite);
    EXPECT_EQ(s.error().file, path("f").string());
  }
  EXPECT_EQ(slurp(path("f")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(FileTest, AFullDiskSeenOnlyAtTheEndIsTold) {
  Result<AtomicFile> file = AtomicFile::create(path("f"));
  ASSERT_TRUE(file.ok());
  const FileSizeLimit limit(10);
  file->write("stays in the buffer until commit");
  EXPECT_FALSE(file->commit().ok());
  EXPECT_FALSE(fs::exists(path("f")));
}

TEST_F(FileTest, KeepsPermissionsAndLinks) {
  put("real", "old");
  fs::permissions(path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", path("link"));
  Result<AtomicFile> file = AtomicFile::create(path("link"));
  ASSERT_TRUE(file.ok());
  file->write("new");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(slurp(path("real")), "new");
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, RefusesWhatCannotBeAFile) {
  fs::create_directory(path("folder"));
  ::mkfifo(path("pipe").c_str(), 0600);
  const auto message = [&](const fs::path& p, const char* part) {
    const Result<AtomicFile> file = AtomicFile::create(p);
    ASSERT_FALSE(file.ok()) << p;
    EXPECT_EQ(file.error().code, Error::Code::CannotWrite);
    expect_message(file.error(), part);
  };
  message(path("folder"), "is a directory");
  message(path("pipe"), "not a regular file");
  message("/dev/null", "not a regular file");
  message(path("nowhere/f"), "does not exist");
  message("", "needs a file name");
  EXPECT_EQ(names(), (std::vector<std::string>{"folder", "pipe"}));
}

TEST_F(FileTest, AReadOnlyFolderIsAnError) {
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const OrdinaryUser user(folder_);
  const Result<AtomicFile> file = AtomicFile::create(path("f"));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Error::Code::CannotWrite);
  EXPECT_EQ(file.error().file, path("f").string());
  EXPECT_FALSE(AtomicFolder::create(path("run")).ok());
}

TEST_F(FileTest, AWriteProtectedFileIsNotReplaced) {
  put("f", "precious");
  fs::permissions(path("f"), fs::perms::owner_read);
  const OrdinaryUser user(folder_);
  const Result<AtomicFile> file = AtomicFile::create(path("f"));
  ASSERT_FALSE(file.ok());
  expect_message(file.error(), "write-protected");
}

/// A recording of some files.
Status record(const fs::path& target, const std::vector<std::string>& files, const std::string& content = "x") {
  Result<AtomicFolder> folder = AtomicFolder::create(target);
  if (!folder.ok()) return folder.error();
  for (const std::string& name : files) {
    Result<OutputFile> file = folder->create_file(name);
    if (!file.ok()) return file.error();
    file->write(content);
    if (Status s = folder->close_file(*file); !s) return s;
  }
  return folder->commit();
}

TEST_F(FileTest, FolderAppearsWhole) {
  ASSERT_TRUE(record(path("run"), {"a.vtu", "b.vtu"}).ok());
  EXPECT_EQ(slurp(path("run/a.vtu")), "x");
  EXPECT_EQ(names(), std::vector<std::string>{"run"});
}

TEST_F(FileTest, FolderReplacesOnlyItsOwnKind) {
  ASSERT_TRUE(record(path("run"), {"a.vtu", "b.vtu", "c c.vtu"}).ok());
  ASSERT_TRUE(record(path("run/"), {"a.vtu"}, "new").ok());
  EXPECT_EQ(slurp(path("run/a.vtu")), "new");
  EXPECT_FALSE(fs::exists(path("run/b.vtu")));
  fs::create_directory(path("empty"));
  EXPECT_TRUE(record(path("empty"), {"a"}).ok());
  EXPECT_EQ(names(), (std::vector<std::string>{"empty", "run"}));
}

TEST_F(FileTest, FolderWithForeignFilesIsNotTouched) {
  ASSERT_TRUE(record(path("run"), {"a.vtu"}).ok());
  put("run/notes.txt", "mine");
  const Status s = record(path("run"), {"b.vtu"});
  ASSERT_FALSE(s.ok());
  expect_message(s.error(), "notes.txt");
  EXPECT_EQ(slurp(path("run/notes.txt")), "mine");
  EXPECT_EQ(slurp(path("run/a.vtu")), "x");
  EXPECT_EQ(names(), std::vector<std::string>{"run"});
}

TEST_F(FileTest, FolderNobodyRecordedIsNotTouched) {
  fs::create_directories(path("home/documents"));
  EXPECT_FALSE(record(path("home"), {"b.vtu"}).ok());
  EXPECT_TRUE(fs::exists(path("home/documents")));
  put("file", "x");
  EXPECT_FALSE(record(path("file"), {"b.vtu"}).ok());
  EXPECT_FALSE(record(path("no/where"), {"b.vtu"}).ok());
  EXPECT_FALSE(record(".", {"b.vtu"}).ok());
  EXPECT_FALSE(record("/", {"b.vtu"}).ok());
}

TEST_F(FileTest, FolderWithAChangedFileIsNotTouched) {
  ASSERT_TRUE(record(path("run"), {"a.vtu"}).ok());
  put("run/a.vtu", "edited by hand");
  EXPECT_FALSE(record(path("run"), {"a.vtu"}).ok());
  EXPECT_EQ(slurp(path("run/a.vtu")), "edited by hand");
}

TEST_F(FileTest, AFileThatComesInMeanwhileStopsTheCommit) {
  ASSERT_TRUE(record(path("run"), {"a.vtu"}).ok());
  Result<AtomicFolder> folder = AtomicFolder::create(path("run"));
  ASSERT_TRUE(folder.ok());
  put("run/notes.txt", "mine");
  EXPECT_FALSE(folder->commit().ok());
  EXPECT_EQ(slurp(path("run/notes.txt")), "mine");
}

TEST_F(FileTest, FolderWithoutCommitLeavesNoTrace) {
  {
    Result<AtomicFolder> folder = AtomicFolder::create(path("run"));
    ASSERT_TRUE(folder.ok());
    Result<OutputFile> open = folder->create_file("a");
    ASSERT_TRUE(open.ok());
    open->write("half");
    const AtomicFolder moved = std::move(*folder);
    EXPECT_EQ(moved.target(), path("run"));
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(FileTest, FolderTakesPlainNamesOnly) {
  Result<AtomicFolder> folder = AtomicFolder::create(path("run"));
  ASSERT_TRUE(folder.ok());
  for (const char* name : {"", "..", ".", "a/b", "../a", "a\\b", "a\nb", AtomicFolder::kListName})
    EXPECT_FALSE(folder->create_file(name).ok()) << name;
  EXPECT_TRUE(folder->create_file("a").ok());
  EXPECT_FALSE(folder->create_file("a").ok()) << "the same file twice";
}

TEST_F(FileTest, AFullDiskKeepsTheOldFolder) {
  ASSERT_TRUE(record(path("run"), {"a.vtu"}, "old").ok());
  {
    const FileSizeLimit limit(1000);
    EXPECT_FALSE(record(path("run"), {"a.vtu"}, std::string(100000, 'x')).ok());
  }
  EXPECT_EQ(slurp(path("run/a.vtu")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"run"});
}

TEST_F(FileTest, EndingsIgnoreCase) {
  EXPECT_EQ(lower_ending("a/b.GlB"), ".glb");
  EXPECT_EQ(lower_ending("a.b/c"), "");
}

}  // namespace
}  // namespace pliant::test
