// Videos as ffprobe and the file's own bytes see them; a missing, a failing and a dying ffmpeg.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "render/child_process.h"
#include "render/picture_support.h"
#include "render/video_writer.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

Image plain(int width, int height, std::uint8_t red) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) image.pixels[i] = red, image.pixels[i + 1] = 60;
  return image;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Another PATH for as long as it lives.
class PathIs {
 public:
  explicit PathIs(const std::string& path) : old_(std::getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  PathIs(const PathIs&) = delete;
  ~PathIs() { setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

void make_program(const fs::path& file, const std::string& script) {
  std::ofstream(file) << "#!/bin/sh\n" << script;
  fs::permissions(file, fs::perms::owner_all);
}

Status film(VideoWriter& writer, int width, int height, int frames) {
  for (int i = 0; i < frames; ++i) {
    if (const Status s = writer.add(plain(width, height, static_cast<std::uint8_t>(8 * i))); !s.ok()) return s;
  }
  return writer.finish();
}

class VideoTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  void SetUp() override {
    if (find_program("ffmpeg").empty()) GTEST_SKIP() << "ffmpeg is not installed";
  }
  std::string probe(const std::string& name, const std::string& what) const {
    return output_of(
        fmt::format("ffprobe -v error -count_frames -select_streams v -show_entries stream={} -of csv=p=0 {}", what,
                    (folder_ / name).string()));
  }
};

TEST_F(VideoTest, Mp4PlaysInABrowser) {
  VideoWriter writer = VideoWriter::create(folder_ / "a.mp4", {VideoSettings::Format::Mp4, 97, 63, 30}).value();
  EXPECT_EQ(writer.path(), folder_ / "a.mp4");
  EXPECT_FALSE(fs::exists(folder_ / "a.mp4"));
  ASSERT_TRUE(film(writer, 97, 63, 20).ok());
  EXPECT_EQ(probe("a.mp4", "codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames"),
            "h264,98,64,yuv420p,30/1,20\n");  // sides are made even
  const std::string bytes = content(folder_ / "a.mp4");
  EXPECT_LT(bytes.find("moov"), bytes.find("mdat"));  // the index comes first
  EXPECT_EQ(folder_.count(), 1u);
}

TEST_F(VideoTest, ColorsComeBack) {
  VideoWriter writer = VideoWriter::create(folder_ / "a.mp4", {VideoSettings::Format::Mp4, 64, 64, 30}).value();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.add(plain(64, 64, 200)).ok());
  ASSERT_TRUE(writer.finish().ok());
  const std::string png = (folder_ / "a.png").string();
  output_of(fmt::format("ffmpeg -v error -y -i {} -frames:v 1 {} 2>&1", (folder_ / "a.mp4").string(), png));
  const Image back = read_png(png);
  ASSERT_EQ(back.width, 64);
  EXPECT_NEAR(back.at(32, 32)[0], 200, 4);
  EXPECT_NEAR(back.at(32, 32)[1], 60, 4);
  EXPECT_NEAR(back.at(32, 32)[2], 0, 4);
}

TEST_F(VideoTest, GifIsAtMost640Wide) {
  VideoWriter writer = VideoWriter::create(folder_ / "a.gif", {VideoSettings::Format::Gif, 800, 400, 20}).value();
  ASSERT_TRUE(film(writer, 800, 400, 10).ok());
  EXPECT_EQ(probe("a.gif", "codec_name,width,height,r_frame_rate,nb_read_frames"), "gif,640,320,20/1,10\n");
  EXPECT_EQ(folder_.count(), 1u);
}

TEST_F(VideoTest, LeavesNothingBehindWhenDropped) {
  std::ofstream(folder_ / "a.mp4") << "earlier";
  for (const auto format : {VideoSettings::Format::Mp4, VideoSettings::Format::Gif}) {
    VideoWriter writer = VideoWriter::create(folder_ / "a.mp4", {format, 64, 64, 30}).value();
    ASSERT_TRUE(writer.add(plain(64, 64, 1)).ok());
  }
  EXPECT_EQ(content(folder_ / "a.mp4"), "earlier");
  EXPECT_EQ(folder_.count(), 1u);
}

TEST_F(VideoTest, RefusesWhatCannotBe) {
  EXPECT_FALSE(VideoWriter::create(folder_ / "missing/a.mp4", {}).ok());
  VideoWriter writer = VideoWriter::create(folder_ / "a.mp4", {VideoSettings::Format::Mp4, 64, 64, 30}).value();
  EXPECT_FALSE(writer.add(plain(64, 63, 1)).ok());
  EXPECT_FALSE(writer.finish().ok());  // no pictures
}

TEST(VideoWithoutFfmpeg, BecomesAFolderOfPngFiles) {
  const TemporaryFolder folder;
  const PathIs path((folder / "nothing").string());
  VideoWriter writer = VideoWriter::create(folder / "a.mp4", {VideoSettings::Format::Mp4, 64, 48, 30}).value();
  EXPECT_NE(writer.notice().find("ffmpeg"), std::string::npos);
  EXPECT_EQ(writer.path(), folder / "a_frames");
  ASSERT_TRUE(film(writer, 64, 48, 3).ok());
  EXPECT_FALSE(fs::exists(folder / "a.mp4"));
  for (int i = 0; i < 3; ++i) {
    const Image image = read_png(folder / fmt::format("a_frames/frame_{:05}.png", i));
    ASSERT_EQ(image.width, 64);
    EXPECT_EQ(image.at(5, 5)[0], 8 * i);
  }
}

TEST(VideoWithBadFfmpeg, IsReportedWithItsOwnWords) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "bin");
  const PathIs path((folder / "bin").string() + ":/usr/bin:/bin");
  // It dies at once, in the middle of a picture, or at the end; a write to a dead one must not kill us.
  for (const std::string script :
       {"echo no codec >&2\nexit 3\n", "head -c 5000 > /dev/null\necho no codec >&2\nexit 3\n",
        "cat > /dev/null\necho no codec >&2\nexit 3\n"}) {
    make_program(folder / "bin/ffmpeg", script);
    VideoWriter writer = VideoWriter::create(folder / "a.mp4", {VideoSettings::Format::Mp4, 640, 480, 30}).value();
    const Status status = film(writer, 640, 480, 5);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("no codec"), std::string::npos) << status.error().to_string();
    EXPECT_EQ(status.error().file, (folder / "a.mp4").string());
  }
  EXPECT_EQ(folder.count(), 1u);  // bin alone
}

TEST(FindProgram, LooksAlongThePath) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "dir");
  std::ofstream(folder / "plain") << "not a program";
  make_program(folder / "tool", "exit 0\n");
  fs::create_directory(folder / "tool_folder");
  const PathIs path("::" + (folder / "missing").string() + ":" + (folder / "").string());
  EXPECT_EQ(find_program("tool"), folder / "tool");
  EXPECT_TRUE(find_program("plain").empty());
  EXPECT_TRUE(find_program("dir").empty());
}

}  // namespace
}  // namespace pliant
