#include "isa/timestamp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "isa/awaited.hpp"
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/order.hpp"

namespace wgrun::isa::timestamp {
namespace {

using enum Type;
using Rule = OperandRule;

Rule immediate(std::string_view name) {
    return {name, Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, {}};
}
Rule in_register(std::string_view name, Type (*type)(const Form&)) { return in(name, type, Rule::reg); }

/// Returns a record with a single form.
Instruction record(std::string_view name, std::vector<OperandRule> operands, std::string_view ptx,
                   void (*run)(const Step&, Machine&)) {
    Instruction op{};
    op.name = name;
    op.rows = {{{}, {8, 0}}};
    op.operands = std::move(operands);
    op.ptx = ptx;
    op.effects = [](const Step&, Effects& e) { e.unknown(); };
    op.run = run;
    return op;
}

// --- meaning -------------------------------------------------------------------------------------------

/// The block, for a machine that runs on the host.
class Memory {
  public:
    Memory(Machine& m, const Operand& block) : m_(m), block_(lead<std::uint64_t>(m, block)) {}

    template <class T>
    static T lead(Machine& m, const Operand& operand) {
        return read<T>(m, operand)[0];
    }

    std::uint32_t word(std::uint64_t offset) const {
        std::uint32_t out = 0;
        if (const std::byte* from = m_.unshared(block_ + offset, sizeof out))
            std::memcpy(&out, from, sizeof out);
        return out;
    }
    template <class... Words>
    void write(std::uint64_t offset, Words... words) const {
        const std::array<std::uint32_t, sizeof...(words)> row{static_cast<std::uint32_t>(words)...};
        if (std::byte* to = m_.unshared(block_ + offset, sizeof row)) std::memcpy(to, row.data(), sizeof row);
    }
    /// Writes the time, in both units.
    void write_time(std::uint64_t offset) const {
        constexpr int half = 32;
        const std::uint64_t now = m_.clock();
        write(offset, now, now >> half, now, now >> half);
    }

  private:
    Machine& m_;
    std::uint64_t block_;
};

void set_lead(Machine& m, const Operand& to, std::uint32_t value) {
    if ((m.active() & 1U) != 0) static_cast<std::uint32_t*>(m.write(to.reg))[0] = value;
}

std::uint32_t special(Machine& m, Special which) { return static_cast<std::uint32_t>(m.special(which, 0)); }

void run_open(const Step& s, Machine& m) {
    auto* at = static_cast<std::uint32_t*>(m.write(s.operand("at").reg));
    auto* limit = static_cast<std::uint32_t*>(m.write(s.operand("limit").reg));
    for (int lane = 0; lane < lanes; ++lane)
        if ((m.active() >> lane & 1U) != 0) at[lane] = limit[lane] = 0;
    if ((m.active() & 1U) == 0) return;
    const Memory memory(m, s.operand("block"));
    const std::uint32_t cluster = (special(m, Special::clusterid_z) * special(m, Special::nclusterid_y) +
                                   special(m, Special::clusterid_y)) *
                                      special(m, Special::nclusterid_x) +
                                  special(m, Special::clusterid_x);
    // The simulator has an SM for each CTA of a cluster, and runs one cluster after the other.
    const std::uint32_t sm = special(m, Special::cluster_ctarank);
    const std::uint64_t mark = marks_at + std::uint64_t{4} * sm;
    if (cluster < memory.word(8)) memory.write(mark, 1);
    if (memory.word(mark) == 0) return;
    const std::uint32_t number = memory.word(taken_at), bytes = memory.word(4);
    memory.write(taken_at, number + 1);
    if (number >= memory.word(0)) return;
    const std::uint32_t slice = control_bytes + number * bytes;
    constexpr int half = 16;
    memory.write(slice, special(m, Special::ctaid_x),
                 special(m, Special::ctaid_y) | special(m, Special::ctaid_z) << half,
                 special(m, Special::warpid), sm);
    memory.write_time(slice + 16);
    memory.write(slice + 48, 0, 0, Memory::lead<std::uint32_t>(m, s.operand("shared")));
    set_lead(m, s.operand("at"), slice + header_bytes);
    set_lead(m, s.operand("limit"), slice + bytes);
}

void run_clock(const Step& s, Machine& m) {
    auto* d = static_cast<std::uint32_t*>(m.write(s.operands[0].reg));
    for (int lane = 0; lane < lanes; ++lane)
        if ((m.active() >> lane & 1U) != 0) d[lane] = static_cast<std::uint32_t>(m.clock());
}

void run_event(const Step& s, Machine& m) {
    if ((m.active() & 1U) == 0) return;
    const auto at = Memory::lead<std::uint32_t>(m, s.operand("at"));
    if (at < Memory::lead<std::uint32_t>(m, s.operand("limit")))
        Memory(m, s.operand("block"))
            .write(at, s.operand("site").imm, Memory::lead<std::uint32_t>(m, s.operand("value")),
                   Memory::lead<std::uint32_t>(m, s.operand("begin")), m.clock());
    set_lead(m, s.operand("at"), at + timestamp_bytes);
}

void run_close(const Step& s, Machine& m) {
    if ((m.active() & 1U) == 0) return;
    const auto limit = Memory::lead<std::uint32_t>(m, s.operand("limit"));
    if (limit == 0) return;
    const Memory memory(m, s.operand("block"));
    const std::uint32_t slice = limit - memory.word(4);
    memory.write_time(slice + 32);
    memory.write(slice + 48, Memory::lead<std::uint32_t>(m, s.operand("at")), 1);
}

}  // namespace

const Instruction& open() {
    // The destinations come last, because in inline assembly they may share registers with the sources.
    static_assert(control_bytes == 2048 && taken_at == 16 && marks_at == 64 && header_bytes == 64);
    static const Instruction it =
        record("timestamp.open",
               {out("at", fixed<u32>), out("limit", fixed<u32>), in_register("block", fixed<u64>),
                in_register("shared", fixed<u32>)},
               "{{\n"
               "    .reg .pred there, first;\n"
               "    .reg .b32 x, y, z, lane, sm, number, bytes, zero, begin, end;\n"
               "    .reg .b64 place, clock, time;\n"
               "    mov.u32 zero, 0;\n"
               "    mov.u32 begin, 0;\n"
               "    mov.u32 end, 0;\n"
               "    mov.u32 z, %clusterid.z;\n"
               "    mov.u32 y, %nclusterid.y;\n"
               "    mov.u32 x, %clusterid.y;\n"
               "    mad.lo.u32 z, z, y, x;\n"
               "    mov.u32 y, %nclusterid.x;\n"
               "    mov.u32 x, %clusterid.x;\n"
               "    mad.lo.u32 z, z, y, x;\n"
               "    ld.global.b32 x, [{%block}+8];\n"
               "    ld.global.b32 bytes, [{%block}+4];\n"
               "    mov.u32 lane, %laneid;\n"
               "    mov.u32 sm, %smid;\n"
               "    and.b32 number, sm, 255;\n"
               "    mad.wide.u32 place, number, 4, {%block};\n"
               "    mov.u32 number, 1;\n"
               "    setp.eq.u32 there, lane, 0;\n"
               "    setp.lt.and.u32 first, z, x, there;\n"
               "    @first st.volatile.global.b32 [place+64], number;\n"
               "    mov.u32 x, 0;\n"
               "    @there ld.volatile.global.b32 x, [place+64];\n"
               "    setp.ne.u32 there, x, 0;\n"
               "    mov.u32 number, -1;\n"
               "    @there atom.relaxed.gpu.global.add.u32 number, [{%block}+16], 1;\n"
               "    ld.global.b32 x, [{%block}];\n"
               "    setp.lt.u32 there, number, x;\n"
               "    mad.lo.u32 number, number, bytes, 2048;\n"
               "    cvt.u64.u32 place, number;\n"
               "    add.u64 place, place, {%block};\n"
               "    mov.u32 x, %ctaid.y;\n"
               "    mov.u32 y, %ctaid.z;\n"
               "    shl.b32 y, y, 16;\n"
               "    or.b32 y, y, x;\n"
               "    mov.u32 x, %ctaid.x;\n"
               "    mov.u32 z, %tid.z;\n"
               "    mov.u32 lane, %ntid.y;\n"
               "    mul.lo.u32 z, z, lane;\n"
               "    mov.u32 lane, %tid.y;\n"
               "    add.u32 z, z, lane;\n"
               "    mov.u32 lane, %ntid.x;\n"
               "    mul.lo.u32 z, z, lane;\n"
               "    mov.u32 lane, %tid.x;\n"
               "    add.u32 z, z, lane;\n"
               "    shr.u32 z, z, 5;\n"
               "    @there st.global.v4.b32 [place], {{x, y, z, sm}};\n"
               "    @there st.global.v4.b32 [place+48], {{zero, zero, {%shared}, zero}};\n"
               "    @there add.u32 begin, number, 64;\n"
               "    @there add.u32 end, number, bytes;\n"
               "    mov.u64 time, %globaltimer;\n"
               "    mov.u64 clock, %clock64;\n"
               "    @there st.global.v2.b64 [place+16], {{clock, time}};\n"
               "    mov.u32 {%at}, begin;\n"
               "    mov.u32 {%limit}, end;\n"
               "}}",
               run_open);
    return it;
}

const Instruction& clock() {
    static const Instruction it =
        record("timestamp.clock", {out("d", fixed<u32>)}, "mov.u32 {%d}, %clock", run_clock);
    return it;
}

const Instruction& event() {
    static_assert(timestamp_bytes == 16);
    static const Instruction it =
        record("timestamp.event",
               {{"at", Access::inout, Rule::reg, fixed<u32>, nullptr, false, {}, {}},
                in_register("limit", fixed<u32>),
                in_register("block", fixed<u64>),
                immediate("site"),
                in("value", fixed<u32>),
                in_register("begin", fixed<u32>)},
               "{{\n"
               "    .reg .pred there;\n"
               "    .reg .b32 site, value, end;\n"
               "    .reg .b64 place;\n"
               "    mov.u32 end, %clock;\n"
               "    setp.lt.u32 there, {%at}, {%limit};\n"
               "    cvt.u64.u32 place, {%at};\n"
               "    add.u64 place, place, {%block};\n"
               "    mov.u32 site, {%site};\n"
               "    mov.u32 value, {%value};\n"
               "    @there st.global.v4.b32 [place], {{site, value, {%begin}, end}};\n"
               "    add.u32 {%at}, {%at}, 16;\n"
               "}}",
               run_event);
    return it;
}

const Instruction& close() {
    static const Instruction it = record(
        "timestamp.close",
        {in_register("at", fixed<u32>), in_register("limit", fixed<u32>), in_register("block", fixed<u64>)},
        "{{\n"
        "    .reg .pred there;\n"
        "    .reg .b32 slice, one;\n"
        "    .reg .b64 place, clock, time;\n"
        "    mov.u64 clock, %clock64;\n"
        "    mov.u64 time, %globaltimer;\n"
        "    setp.ne.u32 there, {%limit}, 0;\n"
        "    ld.global.b32 slice, [{%block}+4];\n"
        "    sub.u32 slice, {%limit}, slice;\n"
        "    cvt.u64.u32 place, slice;\n"
        "    add.u64 place, place, {%block};\n"
        "    mov.u32 one, 1;\n"
        "    @there st.global.v2.b64 [place+32], {{clock, time}};\n"
        "    @there st.global.v2.b32 [place+48], {{{%at}, one}};\n"
        "}}",
        run_close);
    return it;
}

namespace {

/// Tells what is asynchronous, and what waits for it.
struct Pace final : Effects {
    Moment moment = Moment::nothing;
    void issue_mma(const AsyncMma&) override { moment = Moment::product; }
    void commit_mma() override { moment = Moment::commit; }
    void wait_mma(int) override { moment = Moment::products; }
    void bulk_copy(const BulkAccess& copy) override {
        if (copy.to != nullptr)
            moment = Moment::copy;
        else if (copy.from != nullptr)
            moment = Moment::store;
    }
    void wait_bulk(int, bool) override { moment = Moment::stores; }
    void wait_copies(std::optional<int>) override { moment = Moment::loads; }
};

}  // namespace

Moment moment_of(const Step& step) {
    switch (awaited_by(step)) {
        case Awaits::mbarrier: return awaited(step).parity != nullptr ? Moment::mbarrier : Moment::other;
        case Awaits::memory: return Moment::memory;
        case Awaits::barrier: return Moment::barrier;
        case Awaits::cluster: return Moment::cluster;
        case Awaits::registers:
        case Awaits::grids: return Moment::other;
        case Awaits::lanes:
        case Awaits::nothing: break;
    }
    Pace pace;
    visit_effects(step, pace);
    return pace.moment;
}

}  // namespace wgrun::isa::timestamp
