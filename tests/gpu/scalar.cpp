// Every form of every instruction of one thread that computes from registers: the chip beside the simulator,
// on random bits and on edges. Bit for bit, but for the .approx forms, whose error PTX only bounds.
#include <bit>
#include <cmath>
#include <iostream>
#include <random>
#include <set>
#include <span>

#include "isa/effects.hpp"
#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Instruction;
using isa::OperandRule;
using isa::Type;

namespace {

constexpr int threads = 128;
constexpr int ctas = 16;
constexpr std::size_t samples = threads * ctas;
constexpr std::size_t cases_of_a_kernel = 32;

struct Case {
    const Instruction* op;
    Form form;
    std::string name;
    std::size_t first_in = 0, ins = 0, first_out = 0, outs = 0;
};

bool computes(const Instruction& op) {
    // Cache policies are opaque, and mapa wants a cluster.
    static const std::set<std::string_view> others{"special",
                                                   "cvta",
                                                   "cvta.to",
                                                   "isspacep",
                                                   "local.address",
                                                   "getctarank",
                                                   "mbarrier.pending_count",
                                                   "ld.param",
                                                   "cvta.param",
                                                   "cvta.param.at",
                                                   "cvta.to.global",
                                                   "matrix.descriptor",
                                                   "createpolicy.fractional",
                                                   "createpolicy.cvt.L2",
                                                   "mapa"};
    if (op.run == nullptr || isa::pinned(op) || others.contains(op.name)) return false;
    return std::ranges::all_of(
               op.operands,
               [](const OperandRule& rule) {
                   return (rule.kinds & (OperandRule::reg | OperandRule::list | OperandRule::imm)) != 0;
               }) &&
           std::ranges::none_of(op.operands, [](const OperandRule& rule) {
               return (rule.kinds & (OperandRule::address | OperandRule::shared)) != 0;
           });
}

/// Half of them random bits, the others values where something happens.
std::uint64_t input(std::mt19937_64& random) {
    static constexpr std::uint64_t edges[] = {0,
                                              1,
                                              2,
                                              31,
                                              32,
                                              33,
                                              63,
                                              64,
                                              0x7F,
                                              0x80,
                                              0xFF,
                                              0x7FFF,
                                              0x8000,
                                              0xFFFF,
                                              0x7FFFFFFF,
                                              0x80000000,
                                              0xFFFFFFFF,
                                              0x7FFFFFFFFFFFFFFF,
                                              0x8000000000000000,
                                              0xFFFFFFFFFFFFFFFF,
                                              0x3F800000,
                                              0xBF800000,
                                              0x7F800000,
                                              0xFF800000,
                                              0x7FC00000,
                                              0x7F7FFFFF,
                                              0x00800000,
                                              0x007FFFFF,
                                              0x00000001,
                                              0x4F000000,
                                              0x4EFFFFFF,
                                              0x5F000000,
                                              0x3F000000,
                                              0x40200000,
                                              0xC0200000,
                                              0x3C003C00,
                                              0x7C007C00,
                                              0x7BFF7BFF,
                                              0x03FF0400,
                                              0x3F803F80,
                                              0x7F807F80,
                                              0x477FF000,
                                              0x47800000,
                                              0x33000000,
                                              0x33000001,
                                              0x43E00000,
                                              0x43E80000,
                                              0x3B000000,
                                              0x3A800000,
                                              0x3FF0000000000000,
                                              0x7FF0000000000000,
                                              0x7FF8000000000000,
                                              0x0010000000000000,
                                              0x000FFFFFFFFFFFFF,
                                              0x41DFFFFFFFC00000,
                                              0x43E0000000000000};
    switch (random() % 6) {
        case 0: return edges[random() % std::size(edges)];
        case 1: return random() % 256;
        case 2: {  // a float of ordinary size, in both halves
            const auto value = std::bit_cast<std::uint32_t>(
                static_cast<float>(std::normal_distribution<float>(0, 300)(random)));
            return std::uint64_t{value} << 32 | value;
        }
        default: return random();
    }
}

/// A program of some cases: inputs are 64-bit words, of which each register takes the low bits.
class Batch {
  public:
    Batch() : builder_("scalar", threads, {}, Where::at("cases", 1)) {
        in_ = load_param("in", Dtype::u64);
        out_ = load_param("out", Dtype::u64);
        const Reg cta = special("ctaid.x"), thread = special("tid.x");
        const Reg at = step("mad", Form().set(Field::half, half("lo")).set(Field::type, type(Type::u32)),
                            {{}, Operand::of(cta), Operand::number(threads), Operand::of(thread)});
        const Reg bytes = step("mul", Form().set(Field::half, half("wide")).set(Field::type, type(Type::u32)),
                               {{}, Operand::of(at), Operand::number(8)});
        in_ = add(in_, bytes);
        out_ = add(out_, bytes);
    }

    void add(Case& c) {
        builder_.at(Where::at("cases", static_cast<int>(++count_) + 1));
        c.first_in = ins_;
        c.first_out = outs_;
        std::vector<Operand> operands;
        for (const OperandRule& rule : c.op->operands) operands.push_back(operand(rule, c.form));
        const isa::Step done = builder_.add(*c.op, c.form, std::move(operands));
        for (std::size_t i = 0; i < c.op->operands.size(); ++i) {
            if (c.op->operands[i].access == isa::Access::in) continue;
            const Operand& o = done.operands[i];
            if (o.kind == Operand::Kind::reg) store(o.reg);
            for (const Reg reg : o.list) store(reg);
        }
        c.ins = ins_ - c.first_in;
        c.outs = outs_ - c.first_out;
    }

    std::size_t ins() const { return ins_; }
    std::size_t outs() const { return outs_; }
    Program finish() { return builder_.finish(); }

  private:
    static int type(Type t) { return static_cast<int>(t); }
    static int half(std::string_view name) { return named(Field::half, name); }
    static int named(Field field, std::string_view name) {
        for (int value = 0; value < 64; ++value)
            if (isa::spelled(field, value) == name) return value;
        FAIL("no " << name);
        return 0;
    }

    Reg step(std::string_view name, Form form, std::vector<Operand> operands) {
        return builder_.add(*isa::find(name), form, std::move(operands)).operands[0].reg;
    }
    Reg load_param(const char* name, Dtype dtype) {
        const int index = builder_.param(name, Type::u64, dtype);
        const Reg generic =
            step("ld.param", Form().set(Field::type, type(Type::u64)), {{}, Operand::param(index)});
        return step("cvta.to.global", Form().set(Field::type, type(Type::u64)), {{}, Operand::of(generic)});
    }
    Reg special(std::string_view name) {
        return step("special", Form().set(Field::sreg, named(Field::sreg, name)), {{}});
    }
    Reg add(Reg a, Reg b) {
        return step("add", Form().set(Field::type, type(Type::u64)), {{}, Operand::of(a), Operand::of(b)});
    }

    Operand operand(const OperandRule& rule, const Form& form) {
        if (rule.access == isa::Access::out && rule.by_name)
            return Operand::of(builder_.reg(isa::register_type(rule.type(form))));
        if (rule.access != isa::Access::in && rule.access != isa::Access::inout) return {};
        if (rule.kinds == OperandRule::imm) return Operand::number(static_cast<double>(0xE4 ^ count_ % 7));
        const Type wanted = isa::register_type(rule.type ? rule.type(form) : Type::u32);
        const int count = rule.count ? rule.count(form) : 1;
        if (!(rule.kinds & OperandRule::reg) || count > 1) {
            std::vector<Reg> list;
            for (int i = 0; i < count; ++i) list.push_back(load(wanted));
            return Operand::of(std::move(list));
        }
        return Operand::of(load(wanted));
    }

    Reg load(Type wanted) {
        const auto offset = static_cast<std::int64_t>(8 * samples * ins_++);
        const bool predicate = wanted == Type::pred;
        const Reg value = step("ld",
                               Form()
                                   .set(Field::space, named(Field::space, "global"))
                                   .set(Field::type, type(predicate ? Type::u32 : wanted)),
                               {{}, Operand::address(in_, offset)});
        if (!predicate) return value;
        const Reg odd = step("and", Form().set(Field::type, type(Type::b32)),
                             {{}, Operand::of(value), Operand::number(1)});
        return step("setp", Form().set(Field::cmp, named(Field::cmp, "ne")).set(Field::type, type(Type::u32)),
                    {{}, Operand::of(odd), Operand::number(0)});
    }

    void store(Reg value) {
        const Type have = builder_.type_of(value);
        Reg stored = value;
        if (have == Type::pred)
            stored = step("selp", Form().set(Field::type, type(Type::u32)),
                          {{}, Operand::number(1), Operand::number(0), Operand::of(value)});
        const auto offset = static_cast<std::int64_t>(8 * samples * outs_++);
        builder_.add(*isa::find("st"),
                     Form()
                         .set(Field::space, named(Field::space, "global"))
                         .set(Field::type, type(have == Type::pred ? Type::u32 : have)),
                     {Operand::address(out_, offset), Operand::of(stored)});
    }

    Builder builder_;
    Reg in_, out_;
    std::size_t ins_ = 0, outs_ = 0, count_ = 0;
};

/// Division by zero has no result, and neither has what overflows: odd positive divisors.
bool divides(const Case& c) {
    return (c.op->name == "div" || c.op->name == "rem") &&
           !isa::is_float(static_cast<Type>(c.form.get(Field::type)));
}

/// Which NaN comes out is not said by the PTX ISA but for f32, where there is one.
bool both_nan(const Case& c, std::uint64_t a, std::uint64_t b) {
    const auto type = static_cast<Type>(c.form.get(Field::type));
    if (type == Type::f64)
        return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
    const auto single = [](std::uint64_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    };
    return c.op->name == "cvt" && std::isnan(single(a)) && std::isnan(single(b));
}

/// What the PTX ISA lets a form differ from the true value by, of 1 or of the value where that is more; 0:
/// nothing.
float tolerance(const Case& c) {
    const bool approximate = c.form.get(Field::approx, 0) == 1;
    if (c.op->name == "div.full" || c.op->name == "div.approx") return 3e-7F;
    if (!approximate) return 0;
    switch (static_cast<Type>(c.form.get(Field::type))) {
        case Type::f64: return 0x1p-19F;
        case Type::f16:
        case Type::f16x2: return 0x1p-9F;
        case Type::bf16:
        case Type::bf16x2: return 0x1p-6F;
        default: return c.op->name == "tanh" ? 0x1p-10F : 1e-6F;
    }
}

bool close(Type type, std::uint64_t a, std::uint64_t b, float part) {
    if (type == Type::f16x2 || type == Type::bf16x2) {
        const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
        return close(half, a & 0xFFFF, b & 0xFFFF, part) && close(half, a >> 16, b >> 16, part);
    }
    if (type == Type::f64) {
        const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
        if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
        return x == y || std::abs(x - y) <= part * std::abs(y);
    }
    const auto number = [&](std::uint64_t bits) {
        if (type == Type::f16) return from_f16(static_cast<std::uint16_t>(bits));
        if (type == Type::bf16) return from_bf16(static_cast<std::uint16_t>(bits));
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    };
    const float x = number(a), y = number(b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y || std::abs(x - y) <= part * std::max(std::abs(y), 1.0F);
}

/// Inputs for which the PTX ISA says what comes out: sines of -2 pi to 2 pi, quotients by numbers that are
/// neither huge nor tiny.
void restrict_inputs(const Case& c, std::span<std::uint64_t> words) {
    const auto for_each = [&](std::size_t source, auto f) {
        for (std::size_t t = 0; t < samples; ++t) f(words[(c.first_in + source) * samples + t]);
    };
    if (c.op->name == "sin" || c.op->name == "cos")
        for_each(0, [](std::uint64_t& word) {
            const auto part = static_cast<float>(static_cast<std::int32_t>(word)) / 0x1p31F;
            word = std::bit_cast<std::uint32_t>(part * 6.28F);
        });
    if (c.op->name == "fns") for_each(1, [](std::uint64_t& word) { word &= 31; });
    if (c.op->name == "div.approx" || c.op->name == "div.full")
        for (const std::size_t source : {0, 1})
            for_each(source, [](std::uint64_t& word) {
                word = (word & 0x807FFFFF) | (64 + (word >> 24 & 0x7F)) << 23;
            });
}

struct Score {
    std::size_t forms = 0, equal = 0, near = 0;
    std::vector<std::string> different;
};

void run(std::vector<Case>& cases, std::span<const Backend> backends, Score& score) {
    Batch batch;
    for (Case& c : cases) batch.add(c);
    std::mt19937_64 random(score.forms + 1);
    std::vector<std::uint64_t> words(samples * std::max<std::size_t>(batch.ins(), 1));
    for (std::uint64_t& word : words) word = input(random);
    for (const Case& c : cases)
        if (divides(c))
            for (std::size_t t = 0; t < samples; ++t) {
                std::uint64_t& word = words[(c.first_in + 1) * samples + t];
                word = (word | 1) & 0x7FFFFFFF7FFF7FFF;
            }
    for (const Case& c : cases) restrict_inputs(c, words);
    Tensor in = Tensor::zeros(Dtype::u64, {static_cast<std::int64_t>(words.size())});
    std::memcpy(in.data(), words.data(), words.size() * 8);
    Kernel kernel(batch.finish());
    std::vector<std::vector<std::uint64_t>> results;
    for (const Backend backend : backends) {
        Tensor out = Tensor::zeros(Dtype::u64, {static_cast<std::int64_t>(samples * batch.outs())});
        RunOptions options;
        options.grid = {ctas, 1, 1};
        options.args = {&in, &out};
        options.backend = backend;
        kernel.run(options);
        auto& got = results.emplace_back(samples * batch.outs());
        std::memcpy(got.data(), out.data(), got.size() * 8);
    }
    for (const Case& c : cases) {
        ++score.forms;
        std::size_t unequal = 0, far = 0;
        std::string example;
        for (std::size_t o = c.first_out; o < c.first_out + c.outs; ++o)
            for (std::size_t t = 0; t < samples; ++t) {
                const std::uint64_t chip = results.front()[o * samples + t],
                                    sim = results.back()[o * samples + t];
                if (chip == sim) continue;
                ++unequal;
                if (tolerance(c) > 0 &&
                    close(static_cast<Type>(c.form.get(Field::type)), chip, sim, tolerance(c)))
                    continue;
                if (both_nan(c, chip, sim)) continue;
                if (++far > 1) continue;
                for (std::size_t i = 0; i < c.ins; ++i)
                    example += fmt::format(" {:#x}", words[(c.first_in + i) * samples + t]);
                example += fmt::format(": the chip gives {:#x}, the simulator {:#x}", chip, sim);
            }
        if (unequal == 0)
            ++score.equal;
        else if (far == 0)
            ++score.near;
        else
            score.different.push_back(
                fmt::format("{}: {} of {}, for{}", c.name, far, c.outs * samples, example));
    }
}

}  // namespace

TEST_CASE("every form of the scalar instructions gives what the simulator gives") {
    const auto why = gpu::Device::unavailable();
    const std::vector<Backend> backends =
        why ? std::vector{Backend::sim} : std::vector{Backend::gpu, Backend::sim};
    Score score;
    std::vector<Case> cases;
    for (const Instruction* op : isa::all()) {
        if (!computes(*op)) continue;
        for (const Form& form : test::forms_of(*op)) {
            if (form.type() == Type::b128) continue;  // lua/atomic.lua
            cases.push_back({op, form, fmt::format("{} {}", op->name, test::spelled(form))});
            if (cases.size() < cases_of_a_kernel) continue;
            run(cases, backends, score);
            cases.clear();
        }
    }
    if (!cases.empty()) run(cases, backends, score);
    CHECK(score.forms > 300);
    if (why) {
        std::cout << "skipped: no device (" << *why << "): only the simulator has run them\n";
        return;
    }
    std::cout << fmt::format(
        "{} forms, {} samples each: {} equal bit for bit, {} near (.approx, or which NaN), {} different\n",
        score.forms, samples, score.equal, score.near, score.different.size());
    for (const std::string& line : score.different) UNSCOPED_INFO(line);
    CHECK(score.different.empty());
}
