// What a step makes of one register or two, where it only adds.
#pragma once

#include <cstdint>

#include "wgrun/program.hpp"

namespace wgrun::check {

/// `times` * `reg` + `other` + `constant`.
struct RegisterSum {
    Reg reg{};
    std::int64_t times = 0, constant = 0;  ///< 0 times: it is a constant
    Reg other{};                           ///< is added once
};

/// Returns what the step gives to the first register that it writes; 0 times where it is no such sum.
RegisterSum sum_of(const Step& step);

}  // namespace wgrun::check
