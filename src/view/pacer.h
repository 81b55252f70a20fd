// Keeps simulated time beside the clock on the wall: says when a step is due, gives up what cannot be caught up, and
// measures how fast the simulation really runs.
//
// Times are given, never asked for, so that it can be tested.
#pragma once

#include <deque>

namespace pliant {

class Pacer {
 public:
  /// Simulated seconds per second that are aimed at: 1 is real time, 0.1 slow motion.
  void set_speed(double speed);
  double speed() const { return speed_; }

  /// Time begins anew at `now`, without debts: after a start, a pause or a scene that took long to load.
  void restart(double now);
  /// Once per shown frame. `budget`: seconds that this frame's steps may take; at least one step is always made when
  /// it is due.
  void begin_frame(double now, double budget);
  /// Whether another step of `dt` should be made now. After as many as the budget allows it says no, and what is still
  /// due is given up: the simulation runs slower instead of falling behind for ever.
  bool step_is_due(double now, double dt);
  /// A step was made.
  void stepped(double dt);

  /// Simulated seconds per second over the last second or so; 0 before there is anything to tell.
  double rate() const;

 private:
  struct Mark {
    double wall, simulated;
  };
  double speed_ = 1;
  double due_ = 0;  ///< simulated seconds that are owed
  double last_ = 0, frame_begin_ = 0, budget_ = 0;
  int steps_ = 0;  ///< of this frame
  double simulated_ = 0;
  std::deque<Mark> marks_;
};

}  // namespace pliant
