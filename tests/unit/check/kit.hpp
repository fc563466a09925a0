// Small kernels for the tests of the checker: every step is on a line of its own, which its call returns.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "check/performance.hpp"
#include "check/sizes.hpp"
#include "tests/catch.hpp"
#include "tests/one_line.hpp"
#include "tests/script.hpp"
#include "wgrun/program.hpp"

namespace kit {

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

/// A finding, as the tests compare it.
struct Found {
    std::string rule;
    int line;
    bool operator==(const Found&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << found.rule << ":" << found.line;
}
using Findings = std::vector<Found>;

inline Tile tile(int mn = 64, int k = 64, Major major = Major::k, Dtype dtype = Dtype::bf16,
                 std::optional<SwizzleMode> swizzle = {}) {
    return Tile(TileSpec{dtype, mn, k, major, swizzle, AtomOrder::mn});
}

class Kernel : private test::Script {
  public:
    explicit Kernel(int threads = 128, Dim3 cluster = {}) : Script(threads, cluster) {
        n_ = Script::builder.param("n", Type::u32, {});
    }

    Builder& builder() { return Script::builder; }
    using Script::line;

    /// Adds one step, on a line of its own. Returns the line.
    int step(std::string_view name, Form form = {}, std::vector<Operand> operands = {}) {
        last_ = &Script::step(*isa::find(name), form, std::move(operands), guard_, guard_negated_);
        return line();
    }
    /// Adds one step. Returns its destination.
    Reg value(std::string_view name, Form form, std::vector<Operand> sources) {
        sources.insert(sources.begin(), Operand{});
        step(name, form, std::move(sources));
        return last_->operands[0].reg;
    }
    void guard(Reg predicate, bool negated = false) {
        guard_ = predicate;
        guard_negated_ = negated;
    }

    // --- values
    static Form type(Type type) { return test::typed(type); }
    static Operand imm(std::int64_t value) { return test::imm(value); }
    Reg constant(std::int64_t number) { return value("mov", type(Type::u32), {imm(number)}); }
    Reg tid() {
        Form form;
        form.set(Field::sreg, *isa::parse_value(Field::sreg, "tid.x"));
        return value("special", form, {});
    }
    Reg n() { return value("ld.param", type(Type::u32), {Operand::param(n_)}); }
    Reg compare(std::string_view cmp, Reg a, Operand b) {
        Form form = type(Type::u32);
        form.set(Field::cmp, *isa::parse_value(Field::cmp, cmp));
        return value("setp", form, {Operand::of(a), b});
    }
    Reg shift_right(Reg a, int by) { return value("shr", type(Type::u32), {Operand::of(a), imm(by)}); }
    Reg shift_left(Reg a, int by) { return value("shl", type(Type::b32), {Operand::of(a), imm(by)}); }
    Reg bit_and(Reg a, std::int64_t mask) {
        return value("and", type(Type::b32), {Operand::of(a), imm(mask)});
    }
    Reg add(Reg a, Operand b) { return value("add", type(Type::u32), {Operand::of(a), b}); }
    int increment(Reg a) { return step("add", type(Type::u32), {Operand::of(a), Operand::of(a), imm(1)}); }
    int set(Reg a, std::int64_t number) {
        return step("mov", type(Type::u32), {Operand::of(a), imm(number)});
    }
    /// `n` is a multiple of a number that only the caller knows: a condition that is the same in all threads.
    Reg uniform() { return compare("gt", n(), imm(3)); }

    // --- shared memory
    int buffer(const Tile& tile, int stages = 1, std::int64_t align = 1024) {
        next_line();
        const std::string name(1, static_cast<char>('A' + buffers_++));
        return builder().shared(name, std::int64_t{tile.bytes()} * stages, align, tile);
    }
    Reg address(int buffer, std::int64_t offset = 0) {
        return value("mov", type(Type::u32), {Operand::shared(buffer, offset)});
    }
    /// base + 4 * tid.x
    Reg of_thread(Reg base) { return add(base, Operand::of(shift_left(tid(), 2))); }
    Reg descriptor_at(Reg address, Descriptor fields) {
        fields.start = 0;
        return value("matrix.descriptor", type(Type::b64),
                     {Operand::of(address), imm(static_cast<std::int64_t>(fields.encode()))});
    }
    Reg descriptor(int buffer, int kstep = 0, int mn_offset = 0) {
        const Descriptor d = builder().shared_buffer(buffer).tile->descriptor(0, kstep, mn_offset);
        return descriptor_at(address(buffer, d.start), d);
    }
    int store(Reg address, std::int64_t offset = 0) {
        Form form = type(Type::b32);
        form.set(Field::space, static_cast<int>(isa::Space::shared));
        return step("st", form, {Operand::address(address, offset), imm(0)});
    }

    // --- wgmma
    std::vector<Reg> accumulators(int n = 64) { return builder().regs(Type::f32, n / 2); }
    int mma(const std::vector<Reg>& d, Reg a, Reg b, Operand scale_d = imm(0), Form form = {}) {
        return multiply(d, Operand::of(a), b, scale_d, form);
    }
    int mma(const std::vector<Reg>& d, const std::vector<Reg>& a, Reg b, Operand scale_d = imm(0)) {
        return multiply(d, Operand::of(a), b, scale_d, {});
    }
    int fence() { return step("wgmma.fence"); }
    int commit() { return step("wgmma.commit_group"); }
    int wait(int pending) { return step("wgmma.wait_group", {}, {imm(pending)}); }
    int bar() { return step("bar.sync", {}, {imm(0), imm(0)}); }
    int proxy(std::string_view space = "shared::cta") {
        Form form;
        form.set(Field::space, *isa::parse_value(Field::space, space));
        return step("fence.proxy.async", form);
    }
    int read(Reg f32) {
        value("mov", type(Type::f32), {Operand::of(f32)});
        return line();
    }
    int write(Reg f32) { return step("mov", type(Type::f32), {Operand::of(f32), imm(0)}); }
    void zero(const std::vector<Reg>& registers) {
        for (Reg reg : registers) write(reg);
    }
    /// Returns fragment registers that have values.
    std::vector<Reg> fragment() {
        std::vector<Reg> out;
        for (int i = 0; i < 4; ++i) out.push_back(value("mov", type(Type::b32), {imm(0)}));
        return out;
    }

    // --- control flow
    int branch(Reg condition, const std::function<void()>& then_body,
               const std::function<void()>& else_body = {}) {
        const int line = next_line();
        builder().begin_if(condition);
        then_body();
        if (else_body) {
            builder().begin_else();
            else_body();
        }
        builder().end_if();
        return line;
    }
    /// for i = 0, limit: body(i)
    void loop(Operand limit, const std::function<void(Reg)>& body) {
        const Reg i = constant(0);
        next_line();
        builder().begin_loop();
        builder().loop_condition(compare("lt", i, limit));
        body(i);
        increment(i);
        builder().end_loop();
    }
    void loop(const std::function<void(Reg)>& body) { loop(Operand::of(n()), body); }

    /// Returns the findings; the kernel is used up.
    Findings check() {
        const Program program = finish();
        const std::vector<Diagnostic> findings = check::check(program);
        INFO("on one line");
        CHECK(test::rules_of(check::check(test::on_one_line(program))) == test::rules_of(findings));
        return found(findings);
    }
    /// Returns the findings of WG-PERF; the kernel is used up.
    Findings performance() { return found(check::performance(finish())); }
    /// Returns the findings in full, after check() or performance().
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  private:
    Findings found(std::vector<Diagnostic> diagnostics) {
        diagnostics_ = std::move(diagnostics);
        Findings out;
        for (const Diagnostic& finding : diagnostics_) out.push_back({finding.rule, finding.where.line});
        return out;
    }
    int multiply(const std::vector<Reg>& d, Operand a, Reg b, Operand scale_d, Form form) {
        if (!form.has(Field::n)) form.set(Field::n, static_cast<int>(d.size()) * 2);
        if (!form.has(Field::d)) form.set(Field::d, Type::f32);
        if (!form.has(Field::a)) form.set(Field::a, Type::bf16);
        if (!form.has(Field::b)) form.set(Field::b, Type::bf16);
        return step("wgmma.mma_async", form, {Operand::of(d), std::move(a), Operand::of(b), scale_d});
    }

    int n_ = 0;
    int buffers_ = 0;
    const Step* last_ = nullptr;
    Reg guard_;
    bool guard_negated_ = false;
    std::vector<Diagnostic> diagnostics_;
};

/// A kernel whose operands A and B have values that the kernel does not write: for rules of registers and
/// groups.
struct Ready : Kernel {
    explicit Ready(int threads = 128) : Kernel(threads) {
        a = buffer(tile());
        b = buffer(tile());
        da = descriptor(a);
        db = descriptor(b);
        acc = accumulators();
    }
    int go(Operand scale_d = imm(0)) { return mma(acc, da, db, scale_d); }

    int a, b;
    Reg da, db;
    std::vector<Reg> acc;
};

}  // namespace kit
