// Graphs of the panel.
#pragma once

#include "view/history.h"

namespace pliant {

/// The time of each stage of the last steps, one on top of the other, with a line at `frame_ms`; and what the colours
/// mean, with mean times.
void draw_stage_graph(const History& history, float frame_ms, float height);
/// One value over the last steps, with its newest written on it.
void draw_series(const char* title, const char* unit, const Series& series, float height);

}  // namespace pliant
