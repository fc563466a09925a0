// Which registers of a program matter to what it does besides computing.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "sass/program_values.hpp"

namespace wgrun::sass {

/// The registers that a step reads which does more than compute and load, or whose result is needed itself,
/// and those that branches read. Stores of the lines `lost` do nothing. A product that adds to its
/// accumulators does not read them. known: registers that always have one value.
std::set<std::uint32_t> needed_registers(const Program& program,
                                         const std::map<std::uint32_t, std::int64_t>& known,
                                         const ProgramValues& values, const std::set<int>& lost);

}  // namespace wgrun::sass
