// cp.async: each thread copies some bytes from global to shared memory and does not wait; it waits for its
// copies in groups, or an mbarrier does.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

constexpr int most = 16;  // bytes

int size(const Form& form) { return form.get(Field::bytes); }

void copy(const Step& s, Machine& m, const Counts& from_bytes) {
    m.copy_async(addresses_of<std::uint32_t>(m, s.operands[0]), addresses_of<std::uint64_t>(m, s.operands[1]),
                 size(s.form), from_bytes);
}

void run_copy(const Step& s, Machine& m) {
    Counts bytes = counts_of<std::uint32_t>(m, s.operands[2]);
    if (s.operands[2].kind == Operand::Kind::imm) bytes.fill(size(s.form));
    copy(s, m, bytes);
}

void run_copy_unless(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> ignored = read<std::uint32_t>(m, s.operands[2]);
    Counts bytes{};
    for (std::size_t l = 0; l < lanes; ++l) bytes[l] = (ignored[l] & 1U) != 0 ? 0 : size(s.form);
    copy(s, m, bytes);
}

void effects_copy(const Step& s, Effects& e) {
    e.memory({Space::global, false, &s.operands[1], size(s.form)});
    const bool fills = s.operands[2].kind != Operand::Kind::imm;
    e.copy_async({{Space::shared, true, &s.operands[0], size(s.form)}, &s.operands[1], fills});
}

Choice prefetch() { return optional(spelled_as(Field::prefetch, {"L2::64B", "L2::128B", "L2::256B"})); }

std::vector<Row> copy_rows() {
    return {
        {{spelled_as(Field::cop, {"ca"}), cache_hint(), prefetch(), among(Field::bytes, {4, 8, 16}, most)},
         {7, 8}},
        {{spelled_as(Field::cop, {"cg"}), cache_hint(), prefetch(), among(Field::bytes, {16}, most)},
         {7, 8}}};
}

}  // namespace

std::span<const Instruction> copy_family() {
    static const std::vector<Instruction> list{
        {.name = "cp.async",
         .summary =
             "copies 4, 8 or 16 bytes to shared memory some time later: the first src_size, then zeros",
         .section = "9.7.9.25.3.1",
         .rows = copy_rows(),
         .operands = {shared_address("d"),
                      wide_address("a"),
                      {"src_size", Access::in, Rule::reg, fixed<u32>, nullptr, true, most, {}},
                      cache_policy()},
         .ptx =
             "cp.async{.cop}.shared.global{.cache}{.prefetch} [{%d}], [{%a}], {bytes}{,%src_size}{,%policy}",
         .effects = effects_copy,
         .run = run_copy},
        {.name = "cp.async.ignore_src",
         .summary = "as cp.async; where the predicate is true, it writes zeros and reads nothing",
         .section = "9.7.9.25.3.1",
         .rows = copy_rows(),
         .operands = {shared_address("d"),
                      wide_address("a"),
                      {"ignore_src", Access::in, Rule::reg, fixed<pred>, nullptr, false, {}, {}},
                      cache_policy()},
         .ptx = "cp.async{.cop}.shared.global{.cache}{.prefetch} [{%d}], [{%a}], {bytes}, "
                "{%ignore_src}{,%policy}",
         .effects = effects_copy,
         .run = run_copy_unless},
        {.name = "cp.async.commit_group",
         .summary = "commits the thread's cp.async since the last commit to a new cp.async group",
         .section = "9.7.9.25.3.2",
         .rows = {{{}, {7, 8}}},
         .ptx = "cp.async.commit_group",
         .effects = [](const Step&, Effects& e) { e.commit_copies(); },
         .run = [](const Step&, Machine& m) { m.commit_copies(); }},
        {.name = "cp.async.wait_group",
         .summary = "waits until at most n of the thread's newest cp.async groups are pending",
         .section = "9.7.9.25.3.3",
         .rows = {{{}, {7, 8}}},
         .operands = {{"n", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, INT32_MAX}}},
         .ptx = "cp.async.wait_group {%n}",
         .effects = [](const Step& s, Effects& e) { e.wait_copies(static_cast<int>(s.operands[0].imm)); },
         .run = [](const Step& s, Machine& m) { m.wait_copies(static_cast<int>(s.operands[0].imm)); }},
        {.name = "cp.async.wait_all",
         .summary = "waits for all cp.async of the thread, in groups or not",
         .section = "9.7.9.25.3.3",
         .rows = {{{}, {7, 8}}},
         .ptx = "cp.async.wait_all",
         .effects = [](const Step&, Effects& e) { e.wait_copies(std::nullopt); },
         .run = [](const Step&, Machine& m) { m.wait_copies(std::nullopt); }},
        {.name = "cp.async.mbarrier.arrive",
         .summary =
             "arrives at an mbarrier when the thread's cp.async so far have come; without noinc the phase "
             "expects one arrival more for it",
         .section = "9.7.13.15.15",
         .rows = {{{flag(Field::noinc), spelled_as(Field::space, {"shared", "shared::cta"}, "shared")},
                   {7, 8}}},
         .operands = {shared_address("a")},
         .ptx = "cp.async.mbarrier.arrive{.noinc}{.space}.b64 [{%a}]",
         .effects = [](const Step& s, Effects& e) { e.arrive_copies(s.operands[0]); },
         .run =
             [](const Step& s, Machine& m) {
                 m.arrive_copies(addresses_of<std::uint32_t>(m, s.operands[0]),
                                 s.form.get(Field::noinc) == 0);
             }},
    };
    return list;
}

}  // namespace wgrun::isa
