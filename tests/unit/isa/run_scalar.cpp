// Instructions on registers, in every form, on edge cases and random bits, against
// tests/unit/isa/reference.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <random>
#include <stdexcept>

#include "isa/rounded.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/reference.hpp"

using namespace bench;

namespace {

std::mt19937_64 random_bits{20240229};

/// Bits that a value of `type` may have: limits, neighbours of powers of two, special floats, random ones.
std::vector<Raw> interesting(Type type) {
    if (type == Type::pred) return {0, 1};
    std::vector<Raw> out{0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65};
    const int width = isa::bits(type);
    for (int bit : {7, 8, 15, 16, 31, 32, 63})
        if (bit < width)
            for (Raw around : {Raw{1} << bit, (Raw{1} << bit) - 1, (Raw{1} << bit) + 1, ~(Raw{1} << bit)})
                out.push_back(around);
    out.push_back(~Raw{0});
    out.push_back(~Raw{1});
    if (type == Type::f32 || type == Type::tf32)
        for (float v :
             {1.F,       -1.F,       0.5F,         1.5F,          2.5F,           -2.5F,         0.1F,
              3e38F,     -3e38F,     1e-38F,       1e-40F,        -1e-45F,        65504.F,       65520.F,
              65519.F,   6e-8F,      2147483648.F, -2147483648.F, 4294967296.F,   9.3e18F,       1.9e19F,
              HUGE_VALF, -HUGE_VALF, NAN,          -0.F,          1.00048828125F, 1.0009765625F, 1.00390625F})
            out.push_back(std::bit_cast<std::uint32_t>(v));
    if (type == Type::f64)
        for (double v : {1.,
                         -1.,
                         0.5,
                         1.5,
                         2.5,
                         -2.5,
                         0.1,
                         1e308,
                         -1e308,
                         1e-308,
                         5e-324,
                         2147483647.5,
                         -2147483648.5,
                         4294967295.5,
                         9223372036854775807.,
                         18446744073709551615.,
                         HUGE_VAL,
                         -HUGE_VAL,
                         double{NAN},
                         -0.,
                         1e39,
                         1.0000000596046448})
            out.push_back(std::bit_cast<Raw>(v));
    for (int i = 0; i < 24; ++i) out.push_back(random_bits());
    for (Raw& raw : out)
        if (width < 64) raw &= (Raw{1} << width) - 1;
    return out;
}

Lanes iota(Raw first, Raw step) {
    Lanes out{};
    for (std::size_t l = 0; l < lanes; ++l) out[l] = first + l * step;
    return out;
}

std::string hex(std::span<const Raw> values) {
    std::string out;
    for (Raw value : values) out += fmt::format("{}0x{:x}", out.empty() ? "" : ", ", value);
    return out;
}

/// Runs one form on all combinations of interesting sources (from the third on they are drawn), 32 at a time.
class Sweep {
  public:
    Sweep(const isa::Instruction& op, const Form& form) : op_(op), form_(form) {
        for (std::size_t i = 1; i < op.operands.size(); ++i) types_.push_back(type_of(op, form, i));
        for (Type type : types_) values_.push_back(interesting(type));
    }

    void run() {
        std::vector<std::vector<Raw>> tuples;  // of sources
        for (Raw a : values_[0]) {
            if (types_.size() == 1) tuples.push_back({a});
            for (std::size_t j = 0; types_.size() > 1 && j < values_[1].size(); ++j) {
                tuples.push_back({a, values_[1][j]});
                for (std::size_t i = 2; i < types_.size(); ++i)
                    tuples.back().push_back(values_[i][random_bits() % values_[i].size()]);
            }
        }
        for (std::size_t i = 0; tuples.size() % lanes != 0; ++i) tuples.push_back(tuples[i]);
        for (std::size_t first = 0; first < tuples.size() && !failed_; first += lanes)
            warp({tuples.begin() + static_cast<std::ptrdiff_t>(first),
                  tuples.begin() + static_cast<std::ptrdiff_t>(first + lanes)});
    }

  private:
    void warp(std::vector<std::vector<Raw>> tuples) {
        Machine m;
        const isa::OperandRule& last = op_.operands.back();
        const bool literal =
            (last.kinds & isa::OperandRule::reg) == 0;  // the same in all lanes, and in its range
        if (literal)
            for (std::vector<Raw>& tuple : tuples) tuple.back() = tuples[0].back() & 0xFF;
        // Every other time some lanes are off, and the destination is one of the sources where the type
        // allows.
        m.mask = ++count_ % 2 ? ~isa::Mask{0} : static_cast<isa::Mask>(random_bits());
        std::vector<Operand> operands(1);
        for (std::size_t i = 0; i < types_.size(); ++i) {
            if (literal && i + 1 == types_.size()) {
                operands.push_back(Operand::immediate(static_cast<std::int64_t>(tuples[0].back())));
                break;
            }
            Lanes lanes_of{};
            for (std::size_t l = 0; l < lanes; ++l) lanes_of[l] = tuples[l][i];
            operands.push_back(Operand::of(m.put(types_[i], lanes_of)));
        }
        const Type out = type_of(op_, form_, 0);
        Lanes before{};
        before.fill(0x5A5A5A5A5A5A5A5A & (isa::bits(out) > 32 ? ~Raw{0} : 0xFFFFFFFF));
        const bool alias = count_ % 3 == 0 && isa::bits(out) == isa::bits(types_[0]) && isa::bits(out) >= 32;
        if (alias) before = m.get(operands[1].reg);
        operands[0] = Operand::of(alias ? operands[1].reg : m.put(out, before));
        check(m, operands, before, tuples);
        immediate(m, operands, before, tuples);
    }

    /// The same with the last source as a literal, where there can be one: lane 0's value, in all lanes.
    void immediate(Machine& m, std::vector<Operand> operands, const Lanes& before,
                   std::span<const std::vector<Raw>> tuples) {
        const Type type = types_.back();
        if (op_.operands.back().kinds != (isa::OperandRule::imm | isa::OperandRule::reg) ||
            operands[0].reg == operands[1].reg)
            return;
        std::vector<std::vector<Raw>> same_last(tuples.begin(), tuples.end());
        for (std::vector<Raw>& tuple : same_last) tuple.back() = tuples[0].back();
        // The literals are as the builder makes them: those of less than 64 bits may be sign-extended or not.
        const Raw bits = tuples[0].back();
        const int unused = 64 - std::max(isa::bits(type), 1);
        const auto extended = static_cast<std::int64_t>(bits << unused) >> unused;
        operands.back() =
            Operand::immediate(count_ % 2 || type == Type::pred ? static_cast<std::int64_t>(bits) : extended);
        m.set(operands[0].reg, before);
        check(m, operands, before, same_last);
    }

    void check(Machine& m, const std::vector<Operand>& operands, const Lanes& before,
               std::span<const std::vector<Raw>> tuples) {
        op_.run(step(op_.name, form_, operands), m);
        const Type out = type_of(op_, form_, 0);
        const Lanes got = m.get(operands[0].reg);
        for (std::size_t l = 0; l < lanes && !failed_; ++l) {
            const bool on = m.mask >> l & 1U;
            const Raw want = on ? reference(op_.name, form_, tuples[l]) : before[l];
            if (on ? same(out, got[l], want, form_.get(Field::approx, 0) == 1) : got[l] == want) continue;
            failed_ = true;
            FAIL_CHECK(fmt::format("{} {}: of {} came {:#x}, expected {:#x}{}", op_.name,
                                   wgrun::test::spelled(form_), hex(tuples[l]), got[l], want,
                                   on ? "" : " (the lane is off)"));
        }
    }

    const isa::Instruction& op_;
    const Form& form_;
    std::vector<Type> types_;
    std::vector<std::vector<Raw>> values_;
    int count_ = 0;
    bool failed_ = false;
};

}  // namespace

TEST_CASE("instructions on registers compute what the reference computes") {
    int records = 0;
    for (const isa::Instruction* op : isa::all()) {
        if (!has_reference(op->name)) continue;
        ++records;
        for (const Form& form : wgrun::test::forms_of(*op))
            if (!is_wide(form)) Sweep(*op, form).run();
    }
    CHECK(records == 70);
}

TEST_CASE("setp's second destination is the opposite, combined with the same predicate") {
    for (const char* combine : {"", "and", "or", "xor"}) {
        Machine m;
        const Lanes a = iota(0, 7), b = iota(100, 1);
        Lanes c{};
        for (std::size_t l = 0; l < lanes; ++l) c[l] = l / 2 % 2;
        const Reg p = m.put(Type::pred, {}), q = m.put(Type::pred, {});
        Form form = with(typed(Type::u32), Field::cmp, "lt");
        std::vector<Operand> operands{Operand::of(p), Operand::of(q), Operand::of(m.put(Type::u32, a)),
                                      Operand::of(m.put(Type::u32, b))};
        if (*combine != 0) {
            form = with(form, Field::combine, combine);
            operands.push_back(Operand::of(m.put(Type::pred, c)));
        }
        const isa::Step s = step(*combine != 0 ? "setp.bool.both" : "setp.both", form, operands);
        s.op->run(s, m);
        const std::string_view how = combine;
        for (std::size_t l = 0; l < lanes; ++l) {
            const auto combined = [&](Raw holds) {
                return how.empty()    ? holds
                       : how == "and" ? holds & c[l]
                       : how == "or"  ? holds | c[l]
                                      : holds ^ c[l];
            };
            CHECK(m.get(p)[l] == combined(a[l] < b[l] ? 1 : 0));
            CHECK(m.get(q)[l] == combined(a[l] < b[l] ? 0 : 1));
        }
    }
}

TEST_CASE("setp of a pair compares each half as setp of a half does") {
    for (const auto& [pair, half] : {std::pair{Type::f16x2, Type::f16}, {Type::bf16x2, Type::bf16}})
        for (const Form& form : wgrun::test::forms_of(*isa::find("setp.pair"))) {
            if (form.type() != pair) continue;
            Machine m;
            Lanes a{}, b{};
            for (std::size_t l = 0; l < lanes; ++l) {
                a[l] = random_bits() & 0xFFFFFFFF;
                b[l] = l % 3 == 0 ? (a[l] & 0xFFFF) << 16 | a[l] >> 16 : random_bits() & 0xFFFFFFFF;
                if (l % 5 == 0) b[l] = a[l];
            }
            const Reg p = m.put(Type::pred, {}), q = m.put(Type::pred, {});
            const isa::Step s = step("setp.pair", form,
                                     {Operand::of(p), Operand::of(q), Operand::of(m.put(Type::b32, a)),
                                      Operand::of(m.put(Type::b32, b))});
            s.op->run(s, m);
            const Form single = Form(form).set(Field::type, half);
            for (std::size_t l = 0; l < lanes; ++l) {
                CHECK(m.get(p)[l] == reference("setp", single, std::array{a[l] & 0xFFFF, b[l] & 0xFFFF}));
                CHECK(m.get(q)[l] == reference("setp", single, std::array{a[l] >> 16, b[l] >> 16}));
            }
        }
}

TEST_CASE("set of a pair compares each half as set of a half does") {
    for (const auto& [pair, half] : {std::pair{Type::f16x2, Type::f16}, {Type::bf16x2, Type::bf16}})
        for (const Form& form : wgrun::test::forms_of(*isa::find("set.pair"))) {
            if (form.type() != pair) continue;
            Machine m;
            Lanes a{}, b{};
            for (std::size_t l = 0; l < lanes; ++l) {
                a[l] = random_bits() & 0xFFFFFFFF;
                b[l] = l % 5 == 0 ? a[l] : l % 3 == 0 ? a[l] ^ 0x10 : random_bits() & 0xFFFFFFFF;
            }
            const Reg d = m.put(Type::b32, {});
            const isa::Step s =
                step("set.pair", form,
                     {Operand::of(d), Operand::of(m.put(Type::b32, a)), Operand::of(m.put(Type::b32, b))});
            s.op->run(s, m);
            const Form single = Form(form).set(Field::type, half).set(Field::from, half);
            for (std::size_t l = 0; l < lanes; ++l) {
                const Raw low = reference("set", single, std::array{a[l] & 0xFFFF, b[l] & 0xFFFF}),
                          high = reference("set", single, std::array{a[l] >> 16, b[l] >> 16});
                CHECK(m.get(d)[l] == (low | high << 16));
            }
        }
}

TEST_CASE("the host rounds to nearest again, also after an exception") {
    Form upwards;
    upwards.set(Field::round, *isa::parse_value(Field::round, "rp"));
    int inside = FE_TONEAREST;
    const auto fails = [&] {
        inside = std::fegetround();
        throw std::runtime_error("a register that is not known");
    };
    CHECK_THROWS(isa::with_rounding(upwards, fails));
    CHECK(inside == FE_UPWARD);
    CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("the least integer by -1 wraps") {
    const auto one = [](std::string_view name, Type type, Raw a, Raw b) {
        Machine m;
        Lanes x{}, y{};
        x.fill(a), y.fill(b);
        const Reg d = m.put(type, {});
        const isa::Step s = step(name, typed(type),
                                 {Operand::of(d), Operand::of(m.put(type, x)), Operand::of(m.put(type, y))});
        s.op->run(s, m);
        return m.get(d)[5];
    };
    CHECK(one("div", Type::s32, 0x80000000, 0xFFFFFFFF) == 0x80000000);
    CHECK(one("rem", Type::s32, 0x80000000, 0xFFFFFFFF) == 0);
    CHECK(one("div", Type::s64, Raw{1} << 63, ~Raw{0}) == Raw{1} << 63);
    CHECK(one("rem", Type::s64, Raw{1} << 63, ~Raw{0}) == 0);
    CHECK(one("div", Type::s16, 0x8000, 0xFFFF) == 0x8000);
    CHECK(one("div", Type::u32, 7, 0) == 0xFFFFFFFF);
    CHECK(one("rem", Type::u32, 7, 0) == 7);
}
