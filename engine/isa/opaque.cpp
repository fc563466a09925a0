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

// --- what opcodes tell -------------------------------------------------------------------------------

struct Opcodes {
    std::string_view begin;
    OpcodeFacts facts;
};

constexpr OpcodeFacts computes{Reach::registers, true}, accesses{Reach::memory, true},
    stores{Reach::memory, false}, acts{Reach::anything, false}, answers{Reach::anything, true},
    // Parameters, local memory and time are nobody else's.
    its_own{Reach::registers, false};

/// By the beginnings of opcodes, in the order of PTX ISA 9.7; the longest that fits counts.
constexpr Opcodes opcodes[]{
    {"ld", accesses},        {"ld.const", computes},   {"ld.local", computes},
    {"ld.param", computes},  {"st.", stores},          {"st.async", acts},
    {"st.bulk", acts},       {"st.local", its_own},    {"st.param", its_own},
    {"multimem.", accesses}, {"multimem.red", stores}, {"multimem.st", stores},
    {"prefetch", its_own},   {"applypriority", acts},  {"discard", acts},
    {"isspacep", computes},  {"cvta", computes},       {"cp.", acts},
    {"tensormap", acts},     {"tex", accesses},        {"tld4", accesses},
    {"suld", accesses},      {"sust", stores},         {"sured", stores},
    {"brx", acts},           {"call", acts},           {"bar", acts},
    {"bar.red", answers},    {"barrier.red", answers}, {"barrier.cta.red", answers},
    {"membar", acts},        {"fence", acts},          {"atom", accesses},
    {"red.", stores},        {"red.async", acts},      {"vote", computes},
    {"match", computes},     {"activemask", computes}, {"redux", computes},
    {"griddep", acts},       {"elect", computes},      {"shfl", computes},
    {"mbarrier", answers},   {"mbarrier.init", acts},  {"mbarrier.inval", acts},
    {"wmma", computes},      {"wmma.load", accesses},  {"wmma.store", stores},
    {"mma", computes},       {"wgmma", acts},          {"stackrestore", acts},
    {"brkpt", acts},         {"nanosleep", its_own},   {"pmevent", its_own},
    {"trap", acts},          {"setmaxnreg", acts},
};

}  // namespace

OpcodeFacts facts_of(std::string_view opcode, bool address) {
    const Opcodes* found = nullptr;
    for (const Opcodes& row : opcodes)
        if (opcode.starts_with(row.begin) && (found == nullptr || row.begin.size() > found->begin.size()))
            found = &row;
    if (found != nullptr) return found->facts;
    return {address ? Reach::anything : Reach::registers, true};
}

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
