#include "isa/opaque.hpp"

#include "isa/effects.hpp"
#include "isa/machine.hpp"
#include "isa/value.hpp"

namespace wgrun::isa {
namespace {

Instruction record(void (*effects)(const Step&, Effects&)) {
    Instruction op;
    op.name = "opaque";
    op.summary = "an instruction that wgrun does not know";
    op.section = "9.7";
    op.rows = {{{}, {8, 0}}};
    op.operands = {{"out", Access::out, OperandRule::list, nullptr, nullptr, false, {}, {}},
                   {"in", Access::in, OperandRule::list, nullptr, nullptr, false, {}, {}}};
    op.effects = effects;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = [](const Step&, Machine&) { throw Unknown{}; };
    return op;
}

void anything(const Step&, Effects& e) {
    e.unknown();
    e.fence();
    e.proxy_fence(std::nullopt);
    e.await_arrivals();
}

}  // namespace

const Instruction& opaque(Reach reach) {
    static const Instruction computes = record(nullptr);
    static const Instruction accesses = record([](const Step&, Effects& e) { e.unknown(); });
    static const Instruction acts = record(anything);
    switch (reach) {
        case Reach::registers: return computes;
        case Reach::memory: return accesses;
        case Reach::anything: break;
    }
    return acts;
}

bool is_opaque(const Instruction& op) {
    return &op == &opaque(Reach::registers) || &op == &opaque(Reach::memory) ||
           &op == &opaque(Reach::anything);
}

bool may_store(const Instruction& op) {
    return &op == &opaque(Reach::memory) || &op == &opaque(Reach::anything);
}

}  // namespace wgrun::isa
