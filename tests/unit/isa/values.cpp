// The abstract values hold: random straight-line programs, executed for the 256 threads of a CTA.
#include <fmt/format.h>

#include <random>

#include "isa/value.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;
using isa::Uniform;
using isa::Value;

namespace {

constexpr int warps = 8;
int claims_affine = 0, claims_uniform = 0;  // of the sorts that are rare

class Warp final : public Machine {
  public:
    explicit Warp(int index) : first_(32 * index) {}
    std::uint64_t special(isa::Special which, int lane) override {
        using enum isa::Special;
        if (which == tid_x) return static_cast<std::uint32_t>(first_ + lane);
        if (which == laneid) return static_cast<std::uint32_t>(lane);
        return which == tid_y || which == tid_z ? 0 : static_cast<std::uint32_t>(which) + 3;
    }

  private:
    int first_;
};

class Cta {
  public:
    Cta() {
        for (int w = 0; w < warps; ++w) warps_.emplace_back(w);
    }

    /// One step for all threads; its destination is a new register.
    void run(const isa::Step& asked, Type destination) {
        isa::Step s = asked;
        for (Warp& warp : warps_) s.operands[0] = Operand::of(warp.put(destination, {}));
        for (Warp& warp : warps_) s.op->run(s, warp);
        values_.push_back(s.op->value ? s.op->value(s, of_) : inherited(s));
        text_ += fmt::format("r{} = {} {}", values_.size() - 1, s.op->name, wgrun::test::spelled(s.form));
        for (std::size_t i = 1; i < s.operands.size(); ++i)
            text_ += s.operands[i].kind == Operand::Kind::reg ? fmt::format(" r{}", s.operands[i].reg.id)
                     : s.operands[i].kind == Operand::Kind::shared
                         ? fmt::format(" buffer+{}", s.operands[i].offset)
                         : fmt::format(" {}", s.operands[i].imm);
        text_ += "\n";
        types_.push_back(destination);
        check(s.operands[0].reg);
    }

    std::size_t count() const { return values_.size(); }
    Type type(std::size_t i) const { return types_[i]; }

  private:
    /// The checker's rule: the result is no better than the worst source.
    Value inherited(const isa::Step& s) const {
        Value out;
        out.uniform = Uniform::grid;
        for (std::size_t i = 1; i < s.operands.size(); ++i)
            out.uniform = std::min(out.uniform, of_(s.operands[i]).uniform);
        return out;
    }

    Value value_of(const Operand& operand) const {
        Value out;
        out.uniform = Uniform::grid;
        if (operand.kind == Operand::Kind::reg) return values_[operand.reg.id];
        if (operand.kind == Operand::Kind::imm) out.constant = operand.imm;
        if (operand.kind == Operand::Kind::shared) out.buffer = operand.index, out.offset = operand.offset;
        return out;
    }

    void check(Reg reg) {
        const Value& claim = values_[reg.id];
        const Type type = types_[reg.id];
        const Raw mask = isa::bits(type) > 32 ? ~Raw{0} : 0xFFFFFFFF;
        std::vector<Raw> got;
        for (const Warp& warp : warps_)
            for (Raw raw : warp.get(reg)) got.push_back(raw);
        const std::size_t group = claim.uniform == Uniform::thread      ? 1
                                  : claim.uniform == Uniform::warp      ? 32
                                  : claim.uniform == Uniform::warpgroup ? 128
                                                                        : got.size();
        claims_affine += claim.constant && claim.thread_shift > 0;
        claims_uniform += claim.uniform == Uniform::warpgroup;
        for (std::size_t t = 0; t < got.size(); ++t) {
            const auto fail = [&](const std::string& what) {
                FAIL(text_ << "thread " << t << " has " << got[t] << ": not " << what);
            };
            if (got[t] != got[t / group * group])
                fail(fmt::format("uniform in the {}", isa::to_string(claim.uniform)));
            if (claim.constant) {
                const Raw base = claim.thread_shift >= 0 ? t >> claim.thread_shift : 0;
                if (got[t] != ((base + static_cast<Raw>(*claim.constant)) & mask))
                    fail(fmt::format("{} plus tid.x >> {}", *claim.constant, claim.thread_shift));
            }
            if (claim.buffer >= 0 && claim.offset && !claim.is_descriptor)
                if (got[t] !=
                    ((warps_[0].shared_address(claim.buffer) + static_cast<Raw>(*claim.offset)) & mask))
                    fail(fmt::format("{} bytes into the buffer", *claim.offset));
        }
    }

    std::vector<Warp> warps_;
    std::vector<Value> values_;
    std::vector<Type> types_;
    std::string text_;
    isa::ValueOf of_ = [this](const Operand& operand) { return value_of(operand); };
};

class Author {
  public:
    explicit Author(unsigned seed) : random_(seed) {}

    void write(int steps) {
        for (int i = 0; i < 3; ++i) first();
        for (int i = 0; i < steps; ++i) next();
    }

  private:
    void first() {
        static constexpr std::array sregs{"tid.x", "laneid", "ctaid.x", "tid.y", "ntid.x"};
        cta_.run(step("special", with({}, Field::sreg, sregs[pick(2) * pick(sregs.size())]), {{}}),
                 Type::u32);
        cta_.run(step("mov", typed(Type::u32), {{}, Operand::immediate(number())}), Type::u32);
        cta_.run(step("mov", typed(Type::u32),
                      {{}, Operand::shared(static_cast<int>(pick(3)), 16 * static_cast<int>(pick(8)))}),
                 Type::u32);
    }

    void next() {
        static constexpr std::array names{"add", "sub",  "mul",  "and", "or",        "xor",      "shl", "min",
                                          "max", "rem",  "div",  "mad", "cvt",       "selp",     "mov", "shr",
                                          "shr", "setp", "setp", "add", "shfl.sync", "vote.sync"};
        for (;;) {
            const std::string_view name = names[pick(names.size())];
            const isa::Instruction& op = *isa::find(name);
            static std::map<std::string_view, std::vector<Form>> known;
            std::vector<Form>& forms = known[name];
            if (forms.empty()) forms = wgrun::test::forms_of(op);
            std::erase_if(forms, is_wide);
            const Form& form = forms[pick(forms.size())];
            std::vector<Operand> operands(1);
            for (std::size_t i = 1; i < op.operands.size(); ++i)
                operands.push_back(op.operands[i].name == "membermask" ? Operand::immediate(-1)
                                                                       : source(op.operands[i], form));
            const Type out = op.operands[0].type(form);
            if (isa::bits(out) == 16 || isa::is_float(form.type())) continue;
            bool complete = true;
            for (std::size_t i = 1; i < operands.size(); ++i)
                complete &= operands[i].kind != Operand::Kind::none || op.operands[i].by_name;
            if (!complete) continue;
            return cta_.run(step(name, form, operands), out);
        }
    }

    /// A register of the type, or a literal; none if there is no such register, or for a second result.
    Operand source(const isa::OperandRule& rule, const Form& form) {
        if (rule.access == isa::Access::out) return {};
        const Type type = rule.type(form);
        if ((rule.kinds & isa::OperandRule::imm) && type != Type::pred && pick(3) == 0)
            return Operand::immediate(number());
        std::vector<std::uint32_t> fitting;
        for (std::size_t i = 0; i < cta_.count(); ++i)
            if (isa::agrees(cta_.type(i), type)) fitting.push_back(static_cast<std::uint32_t>(i));
        if (fitting.empty()) return {};
        // The latest ones are taken often, so that chains arise.
        const std::size_t latest = std::min<std::size_t>(fitting.size(), 3);
        return Operand::of(
            Reg{pick(2) ? fitting[pick(fitting.size())] : fitting[fitting.size() - 1 - pick(latest)]});
    }

    std::int64_t number() {
        static constexpr std::array<std::int64_t, 16> some{
            0, 1, 2, 5, 7, 16, 31, 32, 96, 127, 128, 129, -1, -128, 0x7FFFFFFF, 0xFFFFFFFF};
        return some[pick(some.size())];
    }
    std::size_t pick(std::size_t n) { return random_() % n; }

    std::mt19937 random_;
    Cta cta_;
};

}  // namespace

TEST_CASE("values are as uniform and as constant as the checker is told") {
    for (unsigned seed = 0; seed < 16000; ++seed) Author(seed).write(12);
    CHECK(claims_affine > 100);
    CHECK(claims_uniform > 100);
}
