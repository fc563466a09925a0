// Small kernels for the simulator's tests: one call makes one step, with the line that findings name.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/sim.hpp"
#include "tests/catch.hpp"
#include "tests/one_line.hpp"
#include "tests/script.hpp"
#include "wgrun/program.hpp"

namespace wgrun::sim {

/// A register, an immediate, a braced list, or any other operand.
struct Arg : Operand {
    Arg(Reg reg) : Operand(Operand::of(reg)) {}                            // NOLINT(*-explicit-*)
    Arg(std::vector<Reg> list) : Operand(Operand::of(std::move(list))) {}  // NOLINT(*-explicit-*)
    Arg(std::int64_t bits) : Operand(Operand::immediate(bits)) {}          // NOLINT(*-explicit-*)
    Arg(int bits) : Operand(Operand::immediate(bits)) {}                   // NOLINT(*-explicit-*)
    Arg(Operand operand) : Operand(std::move(operand)) {}                  // NOLINT(*-explicit-*)
};

inline Arg at(Reg base, std::int64_t offset = 0) { return Operand::address(base, offset); }
inline Arg in_buffer(int buffer, std::int64_t offset = 0) { return test::in_buffer(buffer, offset); }

struct Guard {
    Reg reg;
    bool negated = false;
};

class Script : public test::Script {
  public:
    explicit Script(int threads = 128) : test::Script(threads, {}, "k") {}

    static Where line(int number) { return Where::at("k.lua", number); }

    /// Adds one step. A missing first operand is a destination that the step makes.
    const Step& step(int number, std::string_view method, std::vector<Arg> args = {}, Guard guard = {}) {
        const isa::Spelling spelling = isa::parse_method(method);
        REQUIRE(spelling.op != nullptr);
        return add(number, *spelling.op, spelling.form, std::move(args), guard);
    }
    const Step& add(int number, const isa::Instruction& op, const isa::Form& form, std::vector<Arg> args,
                    Guard guard = {}) {
        std::vector<Operand> operands(args.begin(), args.end());
        const auto by_place =
            std::ranges::count_if(op.operands, [](const auto& rule) { return !rule.by_name; });
        if (std::ssize(operands) < by_place && op.operands[0].access == isa::Access::out)
            operands.insert(operands.begin(), Operand());
        builder.at(line(number));
        return builder.add(op, form, std::move(operands), guard.reg, guard.negated);
    }
    /// Adds one step. Returns the register that it makes.
    Reg operator()(int number, std::string_view method, std::vector<Arg> args = {}, Guard guard = {}) {
        const Step& made = step(number, method, std::move(args), guard);
        return made.operands.empty() ? Reg() : made.operands[0].reg;
    }
    std::vector<Reg> list(int number, std::string_view method, std::vector<Arg> args) {
        return step(number, method, std::move(args)).operands[0].list;
    }
    Reg special(std::string_view name) {
        return add(1, *isa::find("special"), test::with({}, isa::Field::sreg, name), {}).operands[0].reg;
    }
    Reg tid() { return special("tid.x"); }
    Reg constant(std::int64_t value) { return (*this)(1, "mov_b32", {value}); }
    /// Returns an address in the shared window: the start of a buffer, plus `scale` times `index`.
    Reg address(int buffer, Reg index, int scale) {
        const Reg start = (*this)(1, "mov_u32", {Operand::shared(buffer, 0)});
        return (*this)(1, "mad_lo_u32", {index, scale, start});
    }
    int buffer(const char* name, std::int64_t bytes) {
        return builder.shared(name, bytes, 1024, std::nullopt);
    }

    void begin_if(int number, Reg condition, bool negated = false) {
        builder.at(line(number));
        builder.begin_if(condition, negated);
    }
    /// for (counter = 0; counter < count; ++counter), all of it on one line; end_loop() closes it.
    Reg begin_loop(int number, Arg count) {
        const Reg counter = builder.reg(isa::Type::u32);
        (*this)(number, "mov_u32", {counter, 0});
        begin_loop(number, counter, std::move(count));
        return counter;
    }
    void end_loop(int number, Reg counter) {
        (*this)(number, "add_u32", {counter, counter, 1});
        builder.end_loop();
    }

  private:
    void begin_loop(int number, Reg counter, Arg count) {
        builder.at(line(number));
        builder.begin_loop();
        builder.loop_condition((*this)(number, "setp_lt_u32", {counter, std::move(count)}));
    }
};

/// Returns (rule, line) of findings.
using Found = std::set<std::pair<std::string, int>>;

/// Runs the program, and on the same data the one whose steps all stand on one line: it breaks the same
/// rules.
inline Outcome run_both(const Program& program, const SimulatedLaunch& launch) {
    std::vector<std::vector<std::byte>> before;
    for (const GlobalBuffer& buffer : launch.buffers)
        before.emplace_back(buffer.data, buffer.data + buffer.bytes);
    const auto exchange = [&] {
        for (std::size_t i = 0; i < before.size(); ++i)
            std::ranges::swap_ranges(before[i], std::span(launch.buffers[i].data, before[i].size()));
    };
    Outcome outcome = run(program, launch);
    exchange();
    const Outcome joined = run(test::on_one_line(program), launch);
    exchange();
    INFO("on one line");
    CHECK(test::rules_of(joined.findings) == test::rules_of(outcome.findings));
    return outcome;
}

inline Outcome run_with(const Program& program, std::uint64_t seed,
                        std::span<const GlobalBuffer> buffers = {}) {
    std::vector<std::uint64_t> params;
    for (const GlobalBuffer& buffer : buffers) params.push_back(buffer.address);
    SimulatedLaunch launch;
    launch.params = params;
    launch.buffers = buffers;
    launch.seed = seed;
    return run_both(program, launch);
}

inline Found found(const Outcome& outcome) {
    Found out;
    for (const Diagnostic& finding : outcome.findings) out.emplace(finding.rule, finding.where.line);
    return out;
}

/// Expects that every schedule finds `want` and nothing else.
inline void expect(const Program& program, const Found& want) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Outcome outcome = run_with(program, seed);
        std::string text = "seed " + std::to_string(seed) + '\n';
        for (const Diagnostic& finding : outcome.findings) text += to_text(finding) + '\n';
        INFO(text);
        CHECK(found(outcome) == want);
    }
}

/// Expects that every schedule finds `rule` at one of these lines, and nothing else: either side may come
/// last.
inline void expect_either(const Program& program, const std::string& rule, std::set<int> lines) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Outcome outcome = run_with(program, seed);
        std::string text = "seed " + std::to_string(seed) + '\n';
        for (const Diagnostic& finding : outcome.findings) text += to_text(finding) + '\n';
        INFO(text);
        CHECK_FALSE(outcome.findings.empty());
        for (const Diagnostic& finding : outcome.findings) {
            CHECK(finding.rule == rule);
            CHECK(lines.count(finding.where.line) == 1);
        }
    }
}

/// A kernel of one warpgroup with a 64x16 tile A and a 8x16 tile B of bf16, and its usual steps.
class MmaScript : public Script {
  public:
    explicit MmaScript(int threads = 128) : Script(threads) {
        thread = tid();
        a_at = address(a, thread, 16);
        b_at = address(b, thread, 16);
        few = (*this)(1, "setp_lt_u32", {thread, 16});
        ones = constant(0x3F803F80);
        accumulators = builder.regs(isa::Type::f32, 4);
    }
    void fill_a(int number, Guard guard = {}) {
        step(number, "st_shared_v4_b32", {at(a_at), four(ones)}, guard);
    }
    void fill_b(int number) { step(number, "st_shared_v4_b32", {at(b_at), four(ones)}, {few}); }
    void fill(int number) {
        fill_a(number);
        fill_b(number);
    }
    void mma(int number, int scale_d = 0) { mma(number, accumulators, descriptor(a), scale_d); }
    void mma(int number, std::vector<Reg> d, Arg a_operand, int scale_d = 0) {
        isa::Form form;
        using isa::Field, isa::Type;
        form.set(Field::n, static_cast<int>(2 * d.size())).set(Field::d, Type::f32);
        form.set(Field::a, Type::bf16).set(Field::b, Type::bf16);
        add(number, *isa::find("wgmma.mma_async"), form,
            {std::move(d), std::move(a_operand), descriptor(b), scale_d});
    }
    /// fence, mma, commit, wait on four lines from `first`.
    void whole_mma(int first) {
        step(first, "wgmma_fence");
        mma(first + 1);
        step(first + 2, "wgmma_commit_group");
        step(first + 3, "wgmma_wait_group", {0});
    }
    Arg descriptor(int buffer) {
        const Tile tile({Dtype::bf16, buffer == b ? 8 : 64, 16, Major::k, SwizzleMode::none, AtomOrder::mn});
        const std::uint32_t address = 1024 + static_cast<std::uint32_t>(builder.shared_buffer(buffer).offset);
        return static_cast<std::int64_t>(tile.descriptor(address).encode());
    }
    static std::vector<Reg> four(Reg reg) { return std::vector<Reg>(4, reg); }

    const int a = buffer("A", 2048), b = buffer("B", 256);
    Reg thread, a_at, b_at, few, ones;
    std::vector<Reg> accumulators;
};

/// The tiles are written, published and synchronised: the beginning of a correct kernel. Lines 10 to 12.
inline void ready_tiles(MmaScript& k) {
    k.fill(10);
    k.step(11, "fence_proxy_async");
    k.step(12, "bar_sync", {0});
}

}  // namespace wgrun::sim
