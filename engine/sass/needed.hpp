// What of a program matters to what it does besides computing: registers, and products.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "sass/program_values.hpp"

namespace wgrun::sass {

struct Needed {
    /// Those that a step reads which does more than compute and load, or whose result is needed itself, and
    /// those that branches read. A product that adds to its accumulators does not read them.
    std::set<std::uint32_t> registers;
    /// Products whose accumulators get other values on each path before a step reads them that matters.
    std::set<const Step*> unread;
};

/// Stores of the lines `lost` do nothing. known: registers that always have one value.
Needed needed_of(const Program& program, const std::map<std::uint32_t, std::int64_t>& known,
                 const ProgramValues& values, const std::set<int>& lost);

}  // namespace wgrun::sass
