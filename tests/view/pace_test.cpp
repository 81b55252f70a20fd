// Real time, and the quality that follows from it.
#include <gtest/gtest.h>

#include "view/film.h"
#include "view/history.h"
#include "view/pacer.h"
#include "view/panel.h"
#include "view/quality.h"

namespace pliant {
namespace {

constexpr double kDt = 1.0 / 60;

/// Runs a pacer against a made-up clock: frames of `frame` seconds without steps, steps of `step` seconds.
struct PacedRun {
  Pacer pacer;
  double clock = 100;
  int steps = 0, most_in_frame = 0;

  PacedRun() { pacer.restart(clock); }
  void frames(int count, double frame, double step, double budget) {
    for (int i = 0; i < count; ++i) {
      pacer.begin_frame(clock, budget);
      int made = 0;
      while (pacer.step_is_due(clock, kDt)) pacer.stepped(kDt), clock += step, ++made;
      steps += made;
      most_in_frame = std::max(most_in_frame, made);
      clock += frame;
    }
  }
};

TEST(Pacer, KeepsRealTimeAtAnyRateOfPictures) {
  for (const double frame : {1.0 / 144, 1.0 / 60, 1.0 / 17}) {
    PacedRun run;
    run.frames(static_cast<int>(3 / frame), frame, 1e-4, 0.02);
    const double passed = run.clock - 100;
    EXPECT_NEAR(run.steps * kDt, passed, 2 * kDt + frame) << frame;
    EXPECT_NEAR(run.pacer.rate(), 1, 0.05) << frame;
  }
}

TEST(Pacer, RunsSlowerInsteadOfFallingBehind) {
  PacedRun run;
  run.frames(200, 0.01, 0.05, 0.02);  // a step takes three times as long as it simulates
  EXPECT_EQ(run.most_in_frame, 1);
  EXPECT_NEAR(run.pacer.rate(), kDt / 0.06, 0.03);
  // A machine that becomes fast again does not hurry to catch up.
  run.most_in_frame = 0;
  run.frames(100, kDt, 0, 0.02);
  EXPECT_LE(run.most_in_frame, 5);
  EXPECT_NEAR(run.pacer.rate(), 1, 0.1);
}

TEST(Pacer, SharesAFrameByItsBudget) {
  PacedRun run;
  run.frames(50, 0.1, 0.004, 0.012);  // six steps are due in each frame, and there is time for three
  EXPECT_EQ(run.most_in_frame, 3);
}

TEST(Pacer, SlowMotionIsSlow) {
  PacedRun run;
  run.pacer.set_speed(0.1);
  run.frames(300, kDt, 1e-4, 0.02);
  EXPECT_NEAR(run.steps, 30, 2);
  EXPECT_NEAR(run.pacer.rate(), 0.1, 0.03);
  for (const double bad : {0.0, -1.0, 0.0 / 0.0}) run.pacer.set_speed(bad);
  EXPECT_EQ(run.pacer.speed(), 0.1);
}

TEST(Pacer, OwesNothingAfterAPause) {
  PacedRun run;
  run.frames(10, kDt, 0, 0.02);
  run.clock += 1000;
  run.pacer.restart(run.clock);
  run.most_in_frame = 0;
  run.frames(10, kDt, 0, 0.02);
  EXPECT_LE(run.most_in_frame, 1);
}

TEST(PaceText, SaysHowMuchSlowerItIs) {
  EXPECT_EQ(pace_text(1.0, 1, false), "paused");
  EXPECT_EQ(pace_text(0.99, 1, true), "real time");
  EXPECT_EQ(pace_text(0.25, 1, true), "4 times slower than real time");
  EXPECT_EQ(pace_text(0.1, 0.1f, true), "0.1x speed");
  EXPECT_EQ(pace_text(0.05, 0.1f, true), "2 times slower than 0.1x speed");
}

TEST(Quality, FollowsTheTimePicturesTake) {
  QualityChooser chooser;
  const auto draw = [&](int pictures, double full, double light) {
    for (int i = 0; i < pictures; ++i) {
      const QualityStep& step = chooser.current();
      const double seconds = step.quality == Quality::Full ? full : light;
      chooser.note(seconds * double{step.scale} * double{step.scale});
    }
  };
  draw(200, 0.004, 0.001);  // a GPU
  EXPECT_EQ(chooser.current().quality, Quality::Full);
  draw(200, 0.5, 0.07);  // none
  EXPECT_EQ(chooser.current().quality, Quality::Light);
  EXPECT_LT(chooser.current().scale, 1);
  const QualityStep settled = chooser.current();
  draw(50, 0.5, 0.07);
  EXPECT_EQ(chooser.current().name, settled.name);
}

TEST(Quality, DoesNotHuntBetweenTwoSteps) {
  QualityChooser chooser;
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string_view before = chooser.current().name;
    chooser.note(chooser.current().quality == Quality::Full ? 0.3 : 0.005);  // light is easy, full impossible
    changes += chooser.current().name != before ? 1 : 0;
  }
  EXPECT_LE(changes, 2);
  EXPECT_EQ(chooser.current().quality, Quality::Light);
}

TEST(Quality, ObeysWhoKnowsBetter) {
  QualityChooser chooser;
  chooser.set_mode(QualityChooser::Mode::Full);
  for (int i = 0; i < 100; ++i) chooser.note(2);
  EXPECT_EQ(chooser.current().quality, Quality::Full);
  chooser.set_mode(QualityChooser::Mode::Light);
  for (int i = 0; i < 100; ++i) chooser.note(1e-4);
  EXPECT_EQ(chooser.current().quality, Quality::Light);
}

TEST(Series, KeepsTheNewestInOrder) {
  Series series;
  EXPECT_EQ(series.last(), 0);
  for (int i = 0; i < 1000; ++i) series.add(static_cast<float>(i));
  ASSERT_EQ(series.size(), Series::kLength);
  EXPECT_EQ(series[0], 1000 - static_cast<float>(Series::kLength));
  EXPECT_EQ(series.last(), 999);
  EXPECT_FLOAT_EQ(series.mean(), 999 - 0.5f * static_cast<float>(Series::kLength - 1));
}

}  // namespace
}  // namespace pliant
