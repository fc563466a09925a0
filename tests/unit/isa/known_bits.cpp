// What is known of a step's bits holds: every record that says something, with random values of which some
// bits are known.
#include "isa/known_bits.hpp"

#include <random>

#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;
using isa::KnownBits;

namespace {

constexpr Raw all = ~Raw{0};

int width_of(Type type) { return type == Type::pred ? 1 : isa::bits(type); }

/// In the last warp of a CTA of 1024 threads.
class LastWarp final : public Machine {
  public:
    std::uint64_t special(isa::Special which, int lane) override {
        const auto in_warp = static_cast<std::uint64_t>(lane);
        return which == isa::Special::tid_x    ? 992 + in_warp
               : which == isa::Special::laneid ? in_warp
                                               : static_cast<std::uint64_t>(which);
    }
};

class Trial {
  public:
    explicit Trial(unsigned seed) : random_(seed) {}

    void run(const isa::Instruction& op, const Form& form) {
        INFO(op.name << " " << isa::expand(op.ptx, Step(op, form), [](const Operand&, const auto&) {
                 return std::string("r");
             }));
        isa::Step step = Step(op, form);
        LastWarp machine;
        std::vector<KnownBits> known;
        const auto add = [&](Type type, const KnownBits& bits, const Lanes& values) {
            known.push_back(bits);
            return Operand::of(machine.put(type, values));
        };
        const Type out = op.operands[0].type(form);
        step.operands[0] = add(out, {}, {});
        for (std::size_t i = 1; i < op.operands.size(); ++i) {
            const isa::OperandRule& rule = op.operands[i];
            const Type type = rule.type(form);
            const KnownBits bits = some_bits(width_of(type));
            if ((rule.kinds & isa::OperandRule::imm) != 0 && random_() % 4 == 0) {
                step.operands[i] = Operand::immediate(static_cast<std::int64_t>(bits.ones));
                continue;
            }
            Lanes values;
            for (Raw& value : values) value = bits.ones | (random_value() & bits.unknown);
            step.operands[i] = add(type, bits, values);
            if (type == Type::pred && rule.name != "c") step.operands[i].negated = random_() % 2 == 0;
        }
        const KnownBits says = isa::known_bits(step, [&](Reg reg) { return known[reg.id]; });
        op.run(step, machine);
        const Raw mask = width_of(out) == 64 ? all : (Raw{1} << width_of(out)) - 1;
        for (const Raw value : machine.get(step.operands[0].reg)) {
            INFO(value << " where " << says.ones << " is known, but for " << says.unknown);
            REQUIRE(says.has(value & mask));
        }
        known_ += (says.unknown & mask) != mask;
    }
    int known() const { return known_; }

  private:
    static isa::Step Step(const isa::Instruction& op, const Form& form) {
        isa::Step out;
        out.op = &op;
        out.form = form;
        out.operands.resize(op.operands.size());
        return out;
    }
    /// Small numbers, those near the ends of ranges, and any.
    Raw random_value() {
        const Raw any = Raw{random_()} << 32 | random_();
        switch (random_() % 4) {
            case 0: return any & 15;
            case 1: return all - (any & 15);
            default: return any;
        }
    }
    KnownBits some_bits(int width) {
        const Raw value = random_value();
        switch (random_() % 3) {
            case 0: return KnownBits::of(value).cut(width);
            case 1: return KnownBits{0, (Raw{1} << random_() % 64) - 1}.cut(width);
            default: {
                const Raw unknown = random_value() & random_value();
                return KnownBits{value & ~unknown, unknown}.cut(width);
            }
        }
    }

    std::mt19937 random_;
    int known_ = 0;
};

}  // namespace

TEST_CASE("the bits that are said to be known are those of every lane") {
    int records = 0;
    for (const isa::Instruction* op : isa::all()) {
        if (op->known_bits == nullptr) continue;
        ++records;
        Trial trial(static_cast<unsigned>(records));
        for (const isa::Row& row : op->rows)
            for (const Form& form : wgrun::test::mixed_forms_of(row))
                if (!is_wide(form))
                    for (int i = 0; i < 200; ++i) trial.run(*op, form);
        INFO(op->name);
        CHECK(trial.known() > 0);
    }
    CHECK(records > 15);
}

TEST_CASE("sums and products keep what is known of the lower bits") {
    const KnownBits odd{1, ~Raw{1}}, even{0, ~Raw{1}}, two = KnownBits::of(2);
    CHECK(odd + two == odd);
    CHECK(odd - two == odd);
    CHECK(odd + odd == even);
    CHECK((KnownBits{} * two) == even);
    CHECK(isa::possible_relations(Type::u32, odd, KnownBits::of(10)) == (1 | 4));
    CHECK(isa::possible_relations(Type::u32, KnownBits{}, KnownBits::of(0)) == (2 | 4));
    CHECK(isa::possible_relations(Type::s32, KnownBits{}, KnownBits::of(0)) == (1 | 2 | 4));
    CHECK(isa::possible_relations(Type::s32, isa::up_to(7), KnownBits::of(0)) == (2 | 4));
    CHECK(isa::possible_relations(Type::s32, KnownBits{}, KnownBits::of(0x7FFFFFFF)) == (1 | 2));
}

TEST_CASE("a permutation keeps what is known of the bytes that it chooses") {
    isa::Step step;
    step.op = isa::find("prmt");
    step.form = isa::resolve(*step.op, {});
    step.operands = {Operand::of(Reg{0}), Operand::of(Reg{1}), Operand::immediate(0x80),
                     Operand::immediate(0x4C42)};
    const KnownBits says = isa::known_bits(step, [](Reg) { return KnownBits{0x010000, 0xF8F8F8F8}; });
    CHECK(says == KnownBits{0x80FF8001, 0xF8});
}
