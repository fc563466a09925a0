#include "program/quotients.hpp"

#include <fmt/format.h>

#include "isa/divisor.hpp"
#include "isa/registers.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

std::optional<rules::RuleMessage> division_by_zero(const Program& program, const Step& step,
                                                   std::string_view who) {
    const Reg result = step.operands.front().reg;
    bool read = false, only_chosen = true;
    for_each_step(program, [&](const Step& other) {
        isa::for_each_read(other, [&](Reg reg) {
            if (reg.id != result.id) return;
            read = true;
            only_chosen = only_chosen && isa::chooses(other);
        });
    });
    if (read && only_chosen) return {};
    return rules::RuleMessage{
        rules::WG_REG_05, fmt::format("{} divides an integer by zero: the result is unspecified", who),
        "compare the divisor with 0 before, or choose another result with selp where it is 0"};
}

}  // namespace wgrun
