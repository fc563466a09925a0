// red, atom and atom.cas: lanes access one address, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;

namespace {

constexpr std::size_t places = 5;  // that the 32 lanes share

Raw cut(Type type, Raw raw) { return isa::bits(type) == 64 ? raw : raw & ((Raw{1} << isa::bits(type)) - 1); }

std::int64_t signed_of(Type type, Raw raw) {
    const int unused = 64 - isa::bits(type);
    return static_cast<std::int64_t>(raw << unused) >> unused;
}

/// Numbers that make a difference: small ones, extremes, floats in their own formats.
Raw operand(Type type, std::mt19937_64& random) {
    const double number = static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 8;
    switch (type) {
        case Type::f16: return to_f16(number);
        case Type::bf16: return to_bf16(number);
        case Type::f16x2: return to_f16(number) | Raw{to_f16(-3 * number)} << 16;
        case Type::bf16x2: return to_bf16(number) | Raw{to_bf16(-3 * number)} << 16;
        case Type::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(number));
        case Type::f64: return std::bit_cast<Raw>(number / 3);
        default: return cut(type, random() % 3 == 0 ? random() : random() % 40);
    }
}

Raw added(Type type, Raw a, Raw b) {
    const auto half = [&](Raw x, Raw y) -> Raw {
        const auto p = static_cast<std::uint16_t>(x), q = static_cast<std::uint16_t>(y);
        if (type == Type::f16 || type == Type::f16x2)
            return to_f16(double{from_f16(p)} + double{from_f16(q)});
        return to_bf16(double{from_bf16(p)} + double{from_bf16(q)});
    };
    if (type == Type::f64) return std::bit_cast<Raw>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    if (type == Type::f32)
        return std::bit_cast<std::uint32_t>(std::bit_cast<float>(static_cast<std::uint32_t>(a)) +
                                            std::bit_cast<float>(static_cast<std::uint32_t>(b)));
    if (isa::bits(type) == 16) return half(a, b);
    if (isa::is_float(type)) return half(a, b) | half(a >> 16, b >> 16) << 16;
    return cut(type, a + b);
}

/// The smaller or the greater one of 16-bit floats, or of each pair.
Raw chosen(const std::string& op, Type type, Raw a, Raw b) {
    const auto half = [&](Raw x, Raw y) -> Raw {
        const auto p = static_cast<std::uint16_t>(x), q = static_cast<std::uint16_t>(y);
        const bool brain = type == Type::bf16 || type == Type::bf16x2;
        const bool less = brain ? from_bf16(p) < from_bf16(q) : from_f16(p) < from_f16(q);
        return (op == "min") == less ? p : q;
    };
    return isa::bits(type) == 16 ? half(a, b) : half(a, b) | half(a >> 16, b >> 16) << 16;
}

Raw want(const std::string& op, Type type, Raw old, Raw b) {
    if (op == "add") return added(type, old, b);
    if (op == "and") return old & b;
    if (op == "or") return old | b;
    if (op == "xor") return old ^ b;
    if (op == "exch") return b;
    if (op == "inc") return old >= b ? 0 : old + 1;
    if (op == "dec") return old == 0 || old > b ? b : old - 1;
    if (isa::is_float(type)) return chosen(op, type, old, b);
    const bool less = isa::is_signed(type) ? signed_of(type, old) < signed_of(type, b) : old < b;
    return (op == "min") == less ? old : b;
}

Raw at(Memory& memory, std::uint64_t address, std::size_t size) {
    Raw out = 0;
    std::memcpy(&out, memory.at(address, size), size);
    return out;
}

void run_form(const std::string& name, const Form& form) {
    std::mt19937_64 random{5};
    const bool returns = name == "atom";
    const Type type = form.type();
    const auto count = static_cast<std::size_t>(form.get(Field::vec, 1)),
               size = static_cast<std::size_t>(isa::bits(type)) / 8;
    const bool global = !form.has(Field::space) || form.get(Field::space) == static_cast<int>(Space::global);
    Machine m;
    m.mask = 0x7FFFFF7E;
    Memory& memory = global ? m.global : m.shared;
    Lanes address{};
    for (std::size_t l = 0; l < lanes; ++l) address[l] = memory.base + 64 + l * 7 % places * 16;
    for (std::size_t i = 0; i < places; ++i)
        for (std::size_t j = 0; j < count; ++j) {
            const Raw value = operand(type, random);
            std::memcpy(memory.at(memory.base + 64 + 16 * i + size * j, size), &value, size);
        }
    Memory expected = memory;
    std::vector<Reg> b, d;
    for (std::size_t j = 0; j < count; ++j) {
        Lanes values{};
        for (Raw& value : values) value = operand(type, random);
        b.push_back(m.put(isa::register_type(type), values));
        d.push_back(m.put(isa::register_type(type), {}));
    }
    const auto data = [&](const std::vector<Reg>& regs) {
        return count > 1 ? Operand::of(regs) : Operand::of(regs[0]);
    };
    std::vector<Operand> operands{Operand::address(m.put(global ? Type::u64 : Type::u32, address), 0),
                                  data(b)};
    if (returns) operands.insert(operands.begin(), data(d));
    const isa::Step s = step(name, form, operands);
    s.op->run(s, m);
    for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t j = 0; m.mask >> l & 1U && j < count; ++j) {
            const Raw old = at(expected, address[l] + size * j, size);
            if (returns) REQUIRE(m.get(d[j])[l] == old);
            const Raw now = want(isa::spelled(Field::op, form.get(Field::op)), type, old, m.get(b[j])[l]);
            std::memcpy(expected.at(address[l] + size * j, size), &now, size);
        }
    REQUIRE(memory.bytes == expected.bytes);
}

}  // namespace

TEST_CASE("red and atom combine lane after lane: every form") {
    for (const char* name : {"red", "atom"})
        for (const Form& form : wgrun::test::forms_of(*isa::find(name))) {
            // Orders and caches change no value.
            if (form.get(Field::cache, 0) != 0 || is_wide(form)) continue;
            if (form.has(Field::sem) && !isa::spelled(Field::sem, form.get(Field::sem)).ends_with("d.gpu"))
                continue;
            INFO(name << " " << wgrun::test::spelled(form));
            run_form(name, form);
        }
}

TEST_CASE("atom.cas: one lane of those that expect the same takes the place") {
    for (const Form& form : wgrun::test::forms_of(*isa::find("atom.cas"))) {
        const bool global =
            !form.has(Field::space) || form.get(Field::space) == static_cast<int>(Space::global);
        const Type type = form.type();
        Machine m;
        m.mask = 0xFFFFFF00;
        Memory& memory = global ? m.global : m.shared;
        Lanes address{}, expected{}, fresh{};
        address.fill(memory.base + 8);
        for (std::size_t l = 0; l < lanes; ++l) fresh[l] = 100 + l;
        const Reg d = m.put(type, {});
        const isa::Step s =
            step("atom.cas", form,
                 {Operand::of(d), Operand::address(m.put(global ? Type::u64 : Type::u32, address), 0),
                  Operand::of(m.put(type, expected)), Operand::of(m.put(type, fresh))});
        s.op->run(s, m);
        CHECK(at(memory, memory.base + 8, 2) == 108);
        CHECK(m.get(d)[8] == 0);
        for (std::size_t l = 9; l < lanes; ++l) CHECK(m.get(d)[l] == 108);
    }
}

TEST_CASE("f32 sums have no subnormals in global memory, and have them in shared memory") {
    for (const bool global : {true, false}) {
        Machine m;
        m.mask = 1;
        Memory& memory = global ? m.global : m.shared;
        const Reg a = m.put(global ? Type::u64 : Type::u32, {memory.base});
        const isa::Step s = step(
            "red", with(with(typed(Type::f32), Field::op, "add"), Field::space, global ? "global" : "shared"),
            {Operand::address(a, 0), Operand::immediate(0x00000003)});
        s.op->run(s, m);
        s.op->run(s, m);
        CHECK(at(memory, memory.base, 4) == (global ? 0 : 6));
    }
}

TEST_CASE("the forms of red and atom that are not there") {
    const auto refused = [](const char* name, const Form& form) {
        try {
            isa::resolve(*isa::find(name), form);
        } catch (const ArgumentError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const Form add = with({}, Field::op, "add"), min = with({}, Field::op, "min");
    CHECK_THAT(refused("red", with(Form(min).set(Field::type, Type::f32), Field::space, "global")),
               ContainsSubstring("red: op=min is not legal for type=f32, space=global (legal: add)"));
    CHECK_THAT(refused("atom", with(Form(add).set(Field::type, Type::s64), Field::space, "global")),
               ContainsSubstring("op=add is not legal for type=s64, space=global (legal: min, max)"));
    CHECK_THAT(refused("red", with(Form(add).set(Field::type, Type::f32).set(Field::vec, 2), Field::space,
                                   "shared")),
               ContainsSubstring("vec=v2 is not legal for type=f32, space=shared (legal: 1)"));
}
