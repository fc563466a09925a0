// mbarrier objects: 64 bits of shared memory that count arrivals, and bytes from the bulk-copy engine.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;
using Kind = MbarrierAccess::Kind;

constexpr int most_arrivals = (1 << 20) - 1;  // 9.7.13.15.2: per phase; the tx-count has as many bits
constexpr Counts nothing{};
constexpr Counts one = [] {
    Counts out{};
    out.fill(1);
    return out;
}();

/// Order and scope are both given, or both omitted.
Choice order(std::initializer_list<std::string_view> list) { return spelled_as(Field::sem, list); }
Choice here() { return spelled_as(Field::space, {"shared::cta", "shared::cluster"}, "shared::cta"); }
Choice in_cta() { return spelled_as(Field::space, {"shared::cta"}, "shared::cta"); }

std::vector<Row> arrive_rows(PtxVersion least) {
    return {{{here()}, least}, {{here(), order({"release.cta", "release.cluster"})}, {8, 0}}};
}

OperandRule count(std::string_view name, std::optional<std::int64_t> fallback, Range range) {
    return {name, Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, fallback, range};
}

void run_wait(const Step& s, Machine& m) {
    const auto complete = m.mbarrier_wait(addresses_of<std::uint32_t>(m, s.operands[1]),
                                          counts_of<std::uint32_t>(m, s.operands[2]));
    if (!complete) return;
    Lanes<std::uint32_t> d;
    for (int l = 0; l < lanes; ++l) d[static_cast<std::size_t>(l)] = *complete >> l & 1U;
    write_reg(m, s.operands[0].reg, d);
}

void effects_wait(const Step& s, Effects& e) {
    e.mbarrier({Kind::wait, &s.operands[1]});
    e.await_arrivals();
}

/// Threads that wait for the same phase all pass, but each at its own time.
Value value_wait(const Step&, const ValueOf&) { return {}; }

std::vector<OperandRule> wait_operands() {
    return {{"p", Access::out, Rule::reg, fixed<pred>, nullptr, false, {}, {}},
            shared_address("a"),
            {"parity", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, 1}}};
}
std::vector<Row> wait_rows() {
    return {{{in_cta()}, {7, 8}}, {{in_cta(), order({"acquire.cta", "acquire.cluster"})}, {8, 0}}};
}

/// Returns the records, which are made at the first call.
const std::vector<Instruction>& records() {
    static const std::vector<Instruction> list{
        {.name = "mbarrier.init",
         .summary = "initialises an mbarrier object of 8 bytes that expects `count` arrivals in each phase",
         .section = "9.7.13.15.9",
         .rows = {{{in_cta()}, {7, 8}}},
         .operands = {shared_address("a"), count("count", {}, {1, most_arrivals})},
         .ptx = "mbarrier.init{.space}.b64 [{%a}], {%count}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::init, &s.operands[0], &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.mbarrier_init(addresses_of<std::uint32_t>(m, s.operands[0]),
                                 counts_of<std::uint32_t>(m, s.operands[1]));
             }},
        {.name = "mbarrier.inval",
         .summary = "invalidates an mbarrier object, so that its memory can be reused",
         .section = "9.7.13.15.10",
         .rows = {{{in_cta()}, {7, 8}}},
         .operands = {shared_address("a")},
         .ptx = "mbarrier.inval{.space}.b64 [{%a}]",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::inval, &s.operands[0]});
             },
         .run = [](const Step& s,
                   Machine& m) { m.mbarrier_inval(addresses_of<std::uint32_t>(m, s.operands[0])); }},
        {.name = "mbarrier.expect_tx",
         .summary = "increases the phase's tx-count (the bytes that it waits for)",
         .section = "9.7.13.15.11",
         .rows = {{{spelled_as(Field::sem, {"relaxed.cta", "relaxed.cluster"}, "relaxed.cta"), here()},
                   {8, 0}}},
         .operands = {shared_address("a"), count("bytes", {}, {1, most_arrivals})},
         .ptx = "mbarrier.expect_tx{.sem}{.space}.b64 [{%a}], {%bytes}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::expect, &s.operands[0], nullptr, &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.mbarrier_arrive(addresses_of<std::uint32_t>(m, s.operands[0]),
                                   counts_of<std::uint32_t>(m, s.operands[1]), nothing);
             }},
        {.name = "mbarrier.arrive.expect_tx",
         .summary = "increases the phase's tx-count (the bytes that it waits for), then arrives once",
         .section = "9.7.13.15.13",
         .rows = arrive_rows({8, 0}),
         .operands = {shared_address("a"), count("bytes", {}, {1, most_arrivals})},
         .ptx = "mbarrier.arrive.expect_tx{.sem}{.space}.b64 _, [{%a}], {%bytes}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::arrive, &s.operands[0], nullptr, &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.mbarrier_arrive(addresses_of<std::uint32_t>(m, s.operands[0]),
                                   counts_of<std::uint32_t>(m, s.operands[1]), one);
             }},
        {.name = "mbarrier.arrive",
         .summary = "arrives at an mbarrier, of this CTA or with shared::cluster of another",
         .section = "9.7.13.15.13",
         .rows = arrive_rows({8, 0}),
         .operands = {shared_address("a"), count("count", 1, {1, most_arrivals})},
         .ptx = "mbarrier.arrive{.sem}{.space}.b64 _, [{%a}]{,%count}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::arrive, &s.operands[0], &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.mbarrier_arrive(addresses_of<std::uint32_t>(m, s.operands[0]), nothing,
                                   counts_of<std::uint32_t>(m, s.operands[1]));
             }},
        {.name = "mbarrier.try_wait.parity",
         .summary = "waits for a limited time; true if the phase of that parity is complete",
         .section = "9.7.13.15.16",
         .rows = wait_rows(),
         .operands = wait_operands(),
         .ptx = "mbarrier.try_wait.parity{.sem}{.space}.b64 {%p}, [{%a}], {%parity}",
         .awaits = Awaits::mbarrier,
         .effects = effects_wait,
         .value = value_wait,
         .run = run_wait},
        {.name = "mbarrier.test_wait.parity",
         .summary = "tests whether the phase of that parity is complete; does not wait",
         .section = "9.7.13.15.16",
         .rows = wait_rows(),
         .operands = wait_operands(),
         .ptx = "mbarrier.test_wait.parity{.sem}{.space}.b64 {%p}, [{%a}], {%parity}",
         .awaits = Awaits::mbarrier,
         .effects = effects_wait,
         .value = value_wait,
         .run = run_wait},
        {.name = "fence.mbarrier_init",
         .summary = "makes this thread's mbarrier.init visible to the cluster and to the async proxy",
         .section = "9.7.13.4",
         .rows = {{{}, {8, 0}}},
         .ptx = "fence.mbarrier_init.release.cluster",
         .effects = [](const Step&, Effects& e) { e.fence(); },
         .run = [](const Step&, Machine& m) { m.mbarrier_fence_init(); }},
    };
    return list;
}

}  // namespace

std::span<const Instruction> mbarrier_family() { return records(); }

}  // namespace wgrun::isa
