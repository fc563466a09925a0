#include "machine/register_pool.hpp"

#include <algorithm>

#include "isa/effects.hpp"
#include "wgrun/program.hpp"

namespace wgrun::machine {
namespace {

struct LargestRequest final : isa::Effects {
    int registers = 0;
    void set_registers(int wanted, bool increase) override {
        if (increase) registers = std::max(registers, wanted);
    }
};

}  // namespace

int registers_at_entry(const Program& program) {
    LargestRequest request;
    for_each_step(program, [&](const Step& step) {
        if (step.op->awaits == isa::Awaits::registers) isa::visit_effects(step, request);
    });
    const int share = sm_90a.registers_at_entry(program.threads());
    return request.registers == 0 ? share : std::min(share, request.registers);
}

}  // namespace wgrun::machine
