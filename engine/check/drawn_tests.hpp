// Loops that end since they compare numbers that they draw, from a counter in memory that grows.
#pragma once

#include "check/drawn_numbers.hpp"
#include "check/kept.hpp"
#include "check/tested_loop.hpp"

namespace wgrun::check {

/// Returns whether the test ends the loop, since its counter is a number that each turn draws, and something
/// that stays. Turns of a loop for ever would draw some counter's numbers for ever, and all that threads add
/// to it behind the end of their loops is added once.
bool ends_as_it_draws(const TestedLoop& loop, const TestedLoop::Test& test, const DrawnNumbers& drawn,
                      Kept& kept);

/// Returns whether the loop draws numbers.
bool draws(const TestedLoop& loop, const DrawnNumbers& drawn);

}  // namespace wgrun::check
