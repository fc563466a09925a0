// mbarrier objects: 64 bits of shared memory that count arrivals, and bytes from the bulk-copy engine.
#include <utility>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/lanes.hpp"
#include "isa/order.hpp"
#include "isa/token.hpp"
#include "rules/phase_words.hpp"

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

/// Operations that order no memory.
Choice relaxed() { return order({"relaxed.cta", "relaxed.cluster"}); }
constexpr PtxVersion relaxed_version{8, 6};

/// own: the first version that has it for an mbarrier of the CTA itself.
std::vector<Row> arrive_rows(PtxVersion own) {
    constexpr PtxVersion everywhere{8, 0};
    std::vector<Row> out;
    if (own < everywhere) out.push_back({{in_cta()}, own});
    out.push_back({{here()}, everywhere});
    out.push_back({{here(), order({"release.cta", "release.cluster"})}, everywhere});
    out.push_back({{here(), relaxed()}, relaxed_version});
    return out;
}

/// Those of an arrival that returns the state, at an mbarrier of the CTA itself. One that does not complete
/// the phase (.noComplete) releases in its CTA alone.
std::vector<Row> own_rows(bool completes, PtxVersion first) {
    if (!completes) return {{{in_cta()}, first}, {{in_cta(), order({"release.cta"})}, {8, 0}}};
    return {{{in_cta()}, first},
            {{in_cta(), order({"release.cta", "release.cluster"})}, {8, 0}},
            {{in_cta(), relaxed()}, relaxed_version}};
}

OperandRule count(std::string_view name, std::optional<std::int64_t> fallback, Range range) {
    return {name, Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, fallback, range};
}

/// Writes where the phases of these parities are complete, unless the warp sleeps.
void wait_for(const Step& s, Machine& m, const Counts& parity, const Tokens* state = nullptr) {
    const auto complete = m.mbarrier_wait(addresses_of<std::uint32_t>(m, s.operands[1]), parity, state);
    if (!complete) return;
    Lanes<std::uint32_t> d;
    for (int l = 0; l < lanes; ++l) d[static_cast<std::size_t>(l)] = *complete >> l & 1U;
    write_reg(m, s.operands[0].reg, d);
}

void run_wait(const Step& s, Machine& m) { wait_for(s, m, counts_of<std::uint32_t>(m, s.operands[2])); }

void run_wait_for_state(const Step& s, Machine& m) {
    const Tokens state = read_some<std::uint64_t>(m, s.operands[2]);
    Counts parity;
    parity.known = state.known;
    for (std::size_t l = 0; l < lanes; ++l)
        if (const std::optional<State> known = state_of(state[l])) parity[l] = known->parity();
    wait_for(s, m, parity, &state);
}

/// An arrival: `address` is the place of its address among the operands; what follows is the count, or, with
/// `expects`, the bytes. At place 0 stands the state, if the address does not.
template <int address, bool expects, bool drops, bool completes>
void run_arrive(const Step& s, Machine& m) {
    const Counts more = counts_of<std::uint32_t>(m, s.operands[address + 1]);
    const Tokens before =
        m.mbarrier_arrive(addresses_of<std::uint32_t>(m, s.operands[address]), expects ? more : nothing,
                          expects ? one : more, {.drops = drops, .completes = completes});
    if constexpr (address > 0) write_reg<std::uint64_t>(m, s.operands[0].reg, before);
}

template <int address, bool expects>
void effects_arrive(const Step& s, Effects& e) {
    const Operand* more = &s.operands[address + 1];
    e.mbarrier({Kind::arrive, &s.operands[address], expects ? nullptr : more, expects ? more : nullptr});
}

void run_pending_count(const Step& s, Machine& m) {
    const Tokens state = read_some<std::uint64_t>(m, s.operands[1]);
    Lanes<std::uint32_t> d{};
    for_each_lane(m.active(), [&](std::size_t l) {
        const std::optional<State> known = state_of(state[l]);
        if (!known && state.knows(l)) throw ArgumentError(rules::finding(rules::no_state(s.op->name), {}));
        d[l] = known ? known->pending : 0;
    });
    write_reg(m, s.operands[0].reg, d);
}

void effects_wait(const Step& s, Effects& e) {
    e.mbarrier({Kind::wait, &s.operands[1]});
    // A wait acquires by default, and a relaxed one nothing (9.7.13.15.16).
    const MemoryOrder order = order_of(s);
    if (order.acquire || !order.strong) e.await_arrivals();
}

/// Threads that wait for the same phase all pass, but each at its own time.
Value value_wait(const Step&, const ValueOf&) { return {}; }

std::vector<OperandRule> wait_operands() {
    return {{"p", Access::out, Rule::reg, fixed<pred>, nullptr, false, {}, {}},
            shared_address("a"),
            {"parity", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, 1}}};
}
std::vector<Row> wait_rows() {
    return {{{in_cta()}, {7, 8}},
            {{in_cta(), order({"acquire.cta", "acquire.cluster"})}, {8, 0}},
            {{in_cta(), relaxed()}, relaxed_version}};
}
/// The most time that try_wait waits, in nanoseconds.
OperandRule hint() { return {"hint", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, true, 0, {}}; }
std::vector<OperandRule> with_hint(std::vector<OperandRule> operands) {
    operands.push_back(hint());
    return operands;
}
std::vector<OperandRule> state_wait_operands() {
    return {{"p", Access::out, Rule::reg, fixed<pred>, nullptr, false, {}, {}},
            shared_address("a"),
            {"state", Access::in, Rule::reg, fixed<u64>, nullptr, false, {}, {}}};
}

/// Returns an arrival that returns the state of the object before it.
template <bool expects, bool drops, bool completes>
Instruction arriving(std::string_view name, std::string_view summary, std::string_view ptx) {
    constexpr PtxVersion first = expects ? PtxVersion{8, 0} : PtxVersion{7, 8};
    return {.name = name,
            .summary = summary,
            .section = drops ? "9.7.13.15.14" : "9.7.13.15.13",
            .rows = own_rows(completes, first),
            .operands = {out("state", fixed<u64>), shared_address("a"),
                         expects ? count("bytes", {}, {1, most_arrivals})
                                 : count("count", completes ? std::optional<std::int64_t>(1) : std::nullopt,
                                         {1, most_arrivals})},
            .ptx = ptx,
            .effects = effects_arrive<1, expects>,
            .value = value_wait,
            .run = run_arrive<1, expects, drops, completes>};
}

}  // namespace

std::span<const Instruction> mbarrier_family() {
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
         .effects = effects_arrive<0, true>,
         .run = run_arrive<0, true, false, true>},
        {.name = "mbarrier.arrive",
         .summary = "arrives at an mbarrier, of this CTA or with shared::cluster of another",
         .section = "9.7.13.15.13",
         .rows = arrive_rows({7, 8}),
         .operands = {shared_address("a"), count("count", 1, {1, most_arrivals})},
         .ptx = "mbarrier.arrive{.sem}{.space}.b64 _, [{%a}]{,%count}",
         .effects = effects_arrive<0, false>,
         .run = run_arrive<0, false, false, true>},
        arriving<false, false, true>("mbarrier.arrive.state",
                                     "arrives at an mbarrier of this CTA, and returns its state before that",
                                     "mbarrier.arrive{.sem}{.space}.b64 {%state}, [{%a}]{,%count}"),
        arriving<true, false, true>(
            "mbarrier.arrive.expect_tx.state",
            "increases the phase's tx-count, arrives once, and returns the state before the arrival",
            "mbarrier.arrive.expect_tx{.sem}{.space}.b64 {%state}, [{%a}], {%bytes}"),
        arriving<false, false, false>(
            "mbarrier.arrive.noComplete", "arrives at an mbarrier, where that does not complete the phase",
            "mbarrier.arrive.noComplete{.sem}{.space}.b64 {%state}, [{%a}], {%count}"),
        {.name = "mbarrier.arrive_drop",
         .summary = "arrives at an mbarrier, whose later phases expect so many arrivals fewer",
         .section = "9.7.13.15.14",
         .rows = arrive_rows({7, 8}),
         .operands = {shared_address("a"), count("count", 1, {1, most_arrivals})},
         .ptx = "mbarrier.arrive_drop{.sem}{.space}.b64 _, [{%a}]{,%count}",
         .effects = effects_arrive<0, false>,
         .run = run_arrive<0, false, true, true>},
        {.name = "mbarrier.arrive_drop.expect_tx",
         .summary = "increases the phase's tx-count, then arrives once; later phases expect one arrival less",
         .section = "9.7.13.15.14",
         .rows = arrive_rows({8, 0}),
         .operands = {shared_address("a"), count("bytes", {}, {1, most_arrivals})},
         .ptx = "mbarrier.arrive_drop.expect_tx{.sem}{.space}.b64 _, [{%a}], {%bytes}",
         .effects = effects_arrive<0, true>,
         .run = run_arrive<0, true, true, true>},
        arriving<false, true, true>(
            "mbarrier.arrive_drop.state",
            "arrives at an mbarrier, whose later phases expect so many arrivals fewer, and returns its state "
            "before that",
            "mbarrier.arrive_drop{.sem}{.space}.b64 {%state}, [{%a}]{,%count}"),
        arriving<true, true, true>(
            "mbarrier.arrive_drop.expect_tx.state",
            "increases the phase's tx-count and arrives once, also for later phases; "
            "returns the state before the arrival",
            "mbarrier.arrive_drop.expect_tx{.sem}{.space}.b64 {%state}, [{%a}], {%bytes}"),
        arriving<false, true, false>(
            "mbarrier.arrive_drop.noComplete",
            "arrives at an mbarrier, also for later phases, where that does not complete the phase",
            "mbarrier.arrive_drop.noComplete{.sem}{.space}.b64 {%state}, [{%a}], {%count}"),
        {.name = "mbarrier.complete_tx",
         .summary = "decreases the phase's tx-count, as a copy of so many bytes does",
         .section = "9.7.13.15.12",
         .rows = {{{spelled_as(Field::sem, {"relaxed.cta", "relaxed.cluster"}, "relaxed.cta"), here()},
                   {8, 0}}},
         .operands = {shared_address("a"), count("bytes", {}, {1, most_arrivals})},
         .ptx = "mbarrier.complete_tx{.sem}{.space}.b64 [{%a}], {%bytes}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.mbarrier({Kind::complete, &s.operands[0], nullptr, &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.mbarrier_complete(addresses_of<std::uint32_t>(m, s.operands[0]),
                                     counts_of<std::uint32_t>(m, s.operands[1]));
             }},
        {.name = "mbarrier.pending_count",
         .summary = "the arrivals that were outstanding in a state",
         .section = "9.7.13.15.17",
         .rows = {{{}, {7, 8}}},
         .operands = {out("d", fixed<u32>),
                      {"state", Access::in, Rule::reg, fixed<u64>, nullptr, false, {}, {}}},
         .ptx = "mbarrier.pending_count.b64 {%d}, {%state}",
         .run = run_pending_count},
        {.name = "mbarrier.try_wait",
         .summary = "waits for a limited time; true if the phase of that state is complete",
         .section = "9.7.13.15.16",
         .rows = wait_rows(),
         .operands = with_hint(state_wait_operands()),
         .ptx = "mbarrier.try_wait{.sem}{.space}.b64 {%p}, [{%a}], {%state}{,%hint}",
         .awaits = Awaits::mbarrier,
         .effects = effects_wait,
         .value = value_wait,
         .run = run_wait_for_state},
        {.name = "mbarrier.test_wait",
         .summary = "tests whether the phase of that state is complete; does not wait",
         .section = "9.7.13.15.16",
         .rows = wait_rows(),
         .operands = state_wait_operands(),
         .ptx = "mbarrier.test_wait{.sem}{.space}.b64 {%p}, [{%a}], {%state}",
         .awaits = Awaits::mbarrier,
         .effects = effects_wait,
         .value = value_wait,
         .run = run_wait_for_state},
        {.name = "mbarrier.try_wait.parity",
         .summary = "waits for a limited time; true if the phase of that parity is complete",
         .section = "9.7.13.15.16",
         .rows = wait_rows(),
         .operands = with_hint(wait_operands()),
         .ptx = "mbarrier.try_wait.parity{.sem}{.space}.b64 {%p}, [{%a}], {%parity}{,%hint}",
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
         .effects = [](const Step&, Effects& e) { e.publish_inits(); },
         .run = [](const Step&, Machine& m) { m.mbarrier_fence_init(); }},
    };
    return list;
}

}  // namespace wgrun::isa
