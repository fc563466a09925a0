#include "isa/guard.hpp"

#include <initializer_list>
#include <string>

#include "isa/effects.hpp"
#include "isa/families.hpp"

namespace wgrun::isa::guard {
namespace {

using enum Type;
using Rule = OperandRule;

static_assert(slots == 1 << 14 && slot_bytes == 1 << 6, "as in `slot` below");

/// Sets slot (b64) to the address of the warp's slot, and sets cta_x, cta_yz and warp.
constexpr std::string_view find_slot =
    "    .reg .b32 sm, cta_x, cta_yz, warp;\n"
    "    .reg .b64 slot;\n"
    "    mov.u32 sm, %smid;\n"
    "    mov.u32 warp, %warpid;\n"
    "    shl.b32 sm, sm, 6;\n"
    "    add.u32 sm, sm, warp;\n"
    "    and.b32 sm, sm, 16383;\n"
    "    mul.wide.u32 slot, sm, 64;\n"
    "    add.u64 slot, slot, {%block};\n"
    "    mov.u32 cta_x, %ctaid.x;\n"
    "    mov.u32 cta_yz, %ctaid.z;\n"
    "    shl.b32 cta_yz, cta_yz, 16;\n"
    "    mov.u32 warp, %ctaid.y;\n"
    "    or.b32 cta_yz, cta_yz, warp;\n"
    "    mov.u32 warp, %tid.z;\n"
    "    mov.u32 sm, %ntid.y;\n"
    "    mul.lo.u32 warp, warp, sm;\n"
    "    mov.u32 sm, %tid.y;\n"
    "    add.u32 warp, warp, sm;\n"
    "    mov.u32 sm, %ntid.x;\n"
    "    mul.lo.u32 warp, warp, sm;\n"
    "    mov.u32 sm, %tid.x;\n"
    "    add.u32 warp, warp, sm;\n"
    "    shr.u32 warp, warp, 5;\n";

/// Sets ticks (b32) to the time.
constexpr std::string_view read_clock =
    "    mov.u64 time, %globaltimer;\n"
    "    shr.u64 time, time, 16;\n"
    "    cvt.u32.u64 ticks, time;\n";

Rule immediate(std::string_view name) {
    return {name, Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, {}};
}

/// A record with a single form, without effects and without a meaning on the simulator.
class Record {
  public:
    Record(std::string_view name, std::vector<OperandRule> operands,
           std::initializer_list<std::string_view> lines) {
        text_ = "{{\n";
        for (std::string_view line : lines) text_ += line;
        text_ += "}}";
        op_.name = name;
        op_.rows = {{{}, {8, 0}}};
        op_.operands = std::move(operands);
        op_.ptx = text_;
        op_.effects = [](const Step&, Effects& e) { e.unknown(); };
    }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    const Instruction& op() const { return op_; }

  private:
    std::string text_;
    Instruction op_{};
};

}  // namespace

const Instruction& clock() {
    static const Record it("guard.clock", {out("d", fixed<u32>)},
                           {"    .reg .b64 time;\n"
                            "    .reg .b32 ticks;\n",
                            read_clock, "    mov.u32 {%d}, ticks;\n"});
    return it.op();
}

const Instruction& overdue() {
    static const Record it(
        "guard.overdue",
        {out("p", fixed<pred>), in("since", fixed<u32>, Rule::reg), in("limit", fixed<u32>, Rule::reg)},
        {"    .reg .b64 time;\n"
         "    .reg .b32 ticks;\n",
         read_clock,
         "    sub.u32 ticks, ticks, {%since};\n"
         "    setp.gt.u32 {%p}, ticks, {%limit};\n"});
    return it.op();
}

const Instruction& note() {
    static const Record it("guard.note", {in("block", fixed<u64>, Rule::reg), immediate("site")},
                           {find_slot,
                            "    mov.u32 sm, {%site};\n"
                            "    st.volatile.global.v4.b32 [slot], {{sm, cta_x, cta_yz, warp}};\n"});
    return it.op();
}

const Instruction& settle() {
    // A loop over a clock would be a branch between the wgmma of a warpgroup, so this sleeps. Each sleep
    // takes between nothing and twice its time.
    static const Record it("guard.settle", {},
                           {"    nanosleep.u32 4000;\n", "    nanosleep.u32 4000;\n",
                            "    nanosleep.u32 4000;\n", "    nanosleep.u32 4000;\n"});
    return it.op();
}

const Instruction& mbarrier_word() {
    static const Record it("guard.mbarrier_word",
                           {out("word", fixed<u64>), out("place", fixed<u64>), in("a", fixed<u32>, Rule::reg),
                            in("base", fixed<u32>, Rule::reg)},
                           {"    .reg .b32 offset;\n"
                            "    mbarrier.inval.shared::cta.b64 [{%a}];\n"
                            "    ld.volatile.shared.b64 {%word}, [{%a}];\n"
                            "    sub.u32 offset, {%a}, {%base};\n"
                            "    cvt.u64.u32 {%place}, offset;\n"});
    return it.op();
}

const Instruction& report() {
    static const Record it(
        "guard.report",
        {in("block", fixed<u64>, Rule::reg), immediate("site"), immediate("kind"),
         in("wanted", fixed<u32>, Rule::reg), in("place", fixed<u64>, Rule::reg),
         in("word", fixed<u64>, Rule::reg), in("limit", fixed<u32>, Rule::reg)},
        {find_slot,
         "    .reg .pred first, early;\n"
         "    .reg .b32 lanes, lane, low, ticks, since, kind;\n"
         "    .reg .b64 time;\n"
         "    activemask.b32 lanes;\n"
         "    neg.s32 low, lanes;\n"
         "    and.b32 low, low, lanes;\n"
         "    bfind.u32 low, low;\n"
         "    mov.u32 lane, %laneid;\n"
         "    setp.eq.u32 first, lane, low;\n"
         "    mov.u32 sm, {%site};\n"
         "    mov.u32 kind, {%kind};\n"
         "    @first st.volatile.global.v4.b32 [slot+16], {{sm, kind, lanes, {%wanted} }};\n"
         "    @first st.volatile.global.v2.b64 [slot+32], {{{%place}, {%word} }};\n"
         "    mov.u32 sm, 0;\n"
         "    @first st.volatile.global.v4.b32 [slot+48], {{sm, cta_x, cta_yz, warp}};\n"
         "    fence.sc.sys;\n",
         read_clock,
         // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text of many lines
         "    mov.u32 since, ticks;\n"
         "others_report:\n"
         "    nanosleep.u32 10000;\n",
         read_clock,
         "    sub.u32 ticks, ticks, since;\n"
         "    setp.le.u32 early, ticks, {%limit};\n"
         "    @early bra others_report;\n"
         "    trap;\n"});
    return it.op();
}

}  // namespace wgrun::isa::guard
