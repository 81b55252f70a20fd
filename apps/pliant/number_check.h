// Checks of numbers on the command line. CLI11 reads "nan" and "inf" as numbers, and its own ranges let "nan" pass.
#pragma once

#include <CLI/App.hpp>

namespace pliant::app {

/// A number from `lower` to `upper`, of a unit such as "seconds"; null for none.
CLI::Validator number_between(float lower, float upper, const char* unit = nullptr);
/// A finite number that is more than 0.
CLI::Validator positive_number();
/// Any finite number.
CLI::Validator finite_number();

}  // namespace pliant::app
