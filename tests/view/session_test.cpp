// A scene being played with, without a window.
#include "view/session.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "view/film.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("pliant-session-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::unique_ptr<Session> load() const {
    return Session::load(write("box.json", R"({"bodies": [{"kind": "ground"},
      {"kind": "rigid", "name": "box", "shape": {"kind": "box"}, "position": [0, 0.5, 0]}]})"),
                         0)
        .value();
  }
  fs::path folder_;
};

const Ray kAtTheBox{{0, 0.6f, 10}, {0, 0, -1}};

TEST_F(SessionTest, StepsAsTheSceneDoes) {
  const std::unique_ptr<Session> session = load();
  const Scene scene = session->scene();
  ScenePlayer player = ScenePlayer::create(scene).value();
  for (int i = 0; i < 30; ++i) session->step(), player.step();
  EXPECT_EQ(session->world().hash(), player.world().hash());
  EXPECT_EQ(session->name(), "box");
  EXPECT_EQ(session->history().total.size(), 30u);
}

TEST_F(SessionTest, TellsAllThatIsWrongWithAScene) {
  SceneErrors errors;
  const fs::path file = write("bad.json", R"({"bodies": [{"kind": "rigid", "shape": {"kind": "bx"}}, {"kind": 3}]})");
  EXPECT_FALSE(Session::load(file, 0, &errors));
  EXPECT_GE(errors.list.size(), 2u);
  EXPECT_FALSE(Session::load(folder_ / "none.json", 0, &errors));
}

TEST_F(SessionTest, GrabsMovesAndLetsGo) {
  const std::unique_ptr<Session> session = load();
  EXPECT_FALSE(session->grab({{0, 5, 10}, {0, 1, 0}}));  // the sky
  EXPECT_FALSE(session->grab({{5, 5, 5}, {0, -1, 0}}));  // the ground
  EXPECT_EQ(session->grabbed(), nullptr);
  ASSERT_TRUE(session->grab(kAtTheBox));
  EXPECT_EQ(session->picked(), session->world().find("box"));
  EXPECT_LT(length(*session->grabbed_position() - Vec3{0, 0.6f, 0.5f}), 1e-3f);
  session->grabbed()->pull_to({0, 3, 0.5f});
  for (int i = 0; i < 180; ++i) session->step();
  session->look();
  EXPECT_NEAR(session->grabbed_position()->y, 3, 0.1f);
  session->release();
  for (int i = 0; i < 120; ++i) session->step();
  EXPECT_LT(session->world().state(session->picked())->center_of_mass.y, 1);
}

TEST_F(SessionTest, HoldsNothingThatIsGone) {
  const std::unique_ptr<Session> session = load();
  ASSERT_TRUE(session->grab(kAtTheBox));
  session->world().remove(session->picked());
  session->step();
  session->step();
  EXPECT_EQ(session->grabbed(), nullptr);
  EXPECT_TRUE(session->picked().is_null());
  EXPECT_TRUE(session->world().report().errors.empty());
}

TEST_F(SessionTest, RestartsWithItsGravity) {
  const std::unique_ptr<Session> session = load();
  const auto start = session->world().hash();
  session->set_gravity({0, 2, 0});
  session->set_dt(0.01f);
  for (int i = 0; i < 100; ++i) session->step();
  const float height = session->world().state(session->world().find("box"))->center_of_mass.y;
  EXPECT_NEAR(height, 0.5f + 0.5f * 2 * 1.0f, 0.02f);  // 1 s upwards at 2 m/s²
  session->restart();
  EXPECT_EQ(session->world().time(), 0);
  for (int i = 0; i < 100; ++i) session->step();
  EXPECT_EQ(session->world().state(session->world().find("box"))->center_of_mass.y, height);
  session->set_gravity(session->scene().world.gravity);
  session->restart();
  EXPECT_EQ(session->world().hash(), start);
  for (const float bad : {0.0f, -1.0f, 2.0f, NAN}) session->set_dt(bad);
  EXPECT_EQ(session->dt(), 0.01f);
}

TEST_F(SessionTest, ChangesABodyWhileItMoves) {
  const std::unique_ptr<Session> session = load();
  const BodyId box = session->world().find("box");
  EXPECT_EQ(session->tuning(box)->friction, 0.5f);
  // A box that slides with 3 m/s goes v²/(2 μ g); without friction it goes on. Both sides count by their mean.
  session->set_tuning(box, {.friction = 0, .restitution = 0, .gravity_scale = 1});
  session->world().set_velocity(box, {3, 0, 0}, {});
  for (int i = 0; i < 60; ++i) session->step();
  EXPECT_NEAR(session->world().state(box)->center_of_mass.x, 3, 0.06f);
  EXPECT_EQ(session->tuning(box)->friction, 0);
  session->set_tuning(box, {.friction = 0, .restitution = 0, .gravity_scale = -1});
  for (int i = 0; i < 60; ++i) session->step();
  EXPECT_NEAR(session->world().state(box)->center_of_mass.y, 0.5f + 0.5f * 9.81f, 0.15f);
  EXPECT_FALSE(session->tuning(BodyId{}));
  session->set_tuning(box, {.friction = -5, .restitution = 7, .gravity_scale = NAN});
  EXPECT_EQ(session->tuning(box)->gravity_scale, -1);
}

TEST_F(SessionTest, ThrowsBallsAndForgetsTheOldest) {
  const std::unique_ptr<Session> session = load();
  session->throw_ball(kAtTheBox, {.radius = 0.2f, .density = 2000, .speed = 20});
  session->step();
  ASSERT_EQ(session->world().bodies().size(), 3u);
  const BodyState ball = *session->world().state(session->world().bodies().back());
  EXPECT_NEAR(ball.velocity.z, -20, 0.01f);
  EXPECT_NEAR(ball.mass, 2000 * 4 / 3.0f * kPi * 0.008f, 0.1f);
  for (int i = 0; i < 60; ++i) session->step();
  EXPECT_LT(session->world().state(session->world().find("box"))->center_of_mass.z, -0.05f);
  for (std::size_t i = 0; i < Session::kMostBalls + 20; ++i) {
    const float x = 3 * static_cast<float>(i) + 10;
    session->throw_ball({{x, 5, 0}, {0, 1, 0}}, {});
  }
  session->step();
  EXPECT_EQ(session->world().bodies().size(), 2 + Session::kMostBalls);
  EXPECT_TRUE(session->world().report().errors.empty());
}

TEST_F(SessionTest, FilesGetFreeNames) {
  EXPECT_EQ(free_file(folder_, "box", ".png"), folder_ / "box-1.png");
  write("box-1.png", "");
  EXPECT_EQ(free_file(folder_, "box", ".png"), folder_ / "box-2.png");
  fs::create_directory(folder_ / "box-2_frames");
  EXPECT_EQ(free_file(folder_, "box", ".mp4"), folder_ / "box-1.mp4");
  EXPECT_EQ(free_file(folder_, "box", ".png"), folder_ / "box-3.png");
}

TEST_F(SessionTest, FilmsHaveTheTimeOfTheSimulation) {
  Film film = Film::start(folder_ / "a.mp4", 64, 48).value();
  const Image image(64, 48);
  int pictures = 0;
  for (int i = 0; i <= 60; ++i) {  // a second at 60 steps per second
    if (film.wants_picture()) {
      ASSERT_TRUE(film.add(image));
      ++pictures;
    }
    EXPECT_FALSE(film.wants_picture());
    film.advance(1.0 / 60);
  }
  EXPECT_EQ(pictures, 31);
  film.advance(0.5);  // one slow step
  ASSERT_TRUE(film.wants_picture());
  ASSERT_TRUE(film.add(image));
  EXPECT_NEAR(film.seconds(), 1.55, 0.05);
  ASSERT_TRUE(film.finish().ok());
  EXPECT_TRUE(fs::exists(film.path()));
}

}  // namespace
}  // namespace pliant
