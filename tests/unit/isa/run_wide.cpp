// 128 bits: ld, st, mov, pack, unpack, exch and cas, in each form.
#include <array>

#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;

namespace {

using Both = std::array<Raw, 2>;  ///< the lower half, and the upper one
using BothLanes = std::array<Both, lanes>;

BothLanes numbers(Raw first) {
    BothLanes out;
    for (std::size_t l = 0; l < lanes; ++l) out[l] = {first + l, ~first - (l << 40)};
    return out;
}
Reg put(Machine& m, const BothLanes& values) {
    const Reg reg = m.put(Type::b128, {});
    std::memcpy(m.write(reg), values.data(), sizeof values);
    return reg;
}
BothLanes get(Machine& m, Reg reg) {
    BothLanes out;
    std::memcpy(out.data(), m.read(reg), sizeof out);
    return out;
}

Memory& memory_of(const Form& form, Machine& m) {
    const auto space = static_cast<Space>(form.get(Field::space, static_cast<int>(Space::generic)));
    return space == Space::local ? m.local : isa::is_shared(space) ? m.shared : m.global;
}
Reg address_of(Machine& m, const Memory& memory, std::uint64_t distance) {
    Lanes out{};
    for (std::size_t l = 0; l < lanes; ++l) out[l] = memory.base + 256 + distance * l;
    return m.put(&memory == &m.shared ? Type::u32 : Type::u64, out);
}
Both at(Memory& memory, std::size_t i) {
    Both out;
    std::memcpy(out.data(), memory.at(memory.base + 256 + 16 * i, 16), 16);
    return out;
}

/// Runs a form on a machine of which only some lanes are active.
template <class F>
void each_form(const char* name, F f) {
    int forms = 0;
    for (const Form& form : wgrun::test::forms_of(*isa::find(name))) {
        if (!is_wide(form)) continue;
        INFO(name << " " << wgrun::test::spelled(form));
        Machine m;
        m.mask = 0x7FFF0FFE;
        f(m, form);
        ++forms;
    }
    CHECK(forms > 0);
}
void run(const char* name, const Form& form, Machine& m, std::vector<Operand> operands) {
    const isa::Step s = step(name, form, std::move(operands));
    s.op->run(s, m);
}
bool on(const Machine& m, std::size_t lane) { return (m.mask >> lane & 1U) != 0; }

}  // namespace

TEST_CASE("ld and st move 128 bits, the lower half first") {
    each_form("st", [](Machine& m, const Form& form) {
        Memory& memory = memory_of(form, m);
        const BothLanes values = numbers(0x1234567890ABCDEF);
        run("st", form, m, {Operand::address(address_of(m, memory, 16), 0), Operand::of(put(m, values))});
        for (std::size_t l = 0; l < lanes; ++l) CHECK(at(memory, l) == (on(m, l) ? values[l] : Both{}));
    });
    each_form("ld", [](Machine& m, const Form& form) {
        Memory& memory = memory_of(form, m);
        for (std::size_t i = 0; i < memory.bytes.size(); ++i) memory.bytes[i] = static_cast<std::byte>(i * 7);
        const BothLanes before = numbers(5);
        const Reg d = put(m, before);
        run("ld", form, m, {Operand::of(d), Operand::address(address_of(m, memory, 16), 0)});
        for (std::size_t l = 0; l < lanes; ++l) CHECK(get(m, d)[l] == (on(m, l) ? at(memory, l) : before[l]));
    });
}

TEST_CASE("mov, pack and unpack of 128 bits") {
    const BothLanes values = numbers(0xFEDCBA9876543210), before = numbers(1);
    each_form("mov", [&](Machine& m, const Form& form) {
        const Reg d = put(m, before), e = put(m, before);
        run("mov", form, m, {Operand::of(d), Operand::of(put(m, values))});
        run("mov", form, m, {Operand::of(e), Operand::immediate(-1)});
        for (std::size_t l = 0; l < lanes; ++l) {
            CHECK(get(m, d)[l] == (on(m, l) ? values[l] : before[l]));
            CHECK(get(m, e)[l] == (on(m, l) ? Both{~Raw{0}, 0} : before[l]));
        }
    });
    for (const bool four : {false, true}) {
        const Type part = four ? Type::b32 : Type::b64;
        const std::size_t parts = four ? 4 : 2;
        const auto part_of = [&](const Both& both, std::size_t i) {
            return four ? both[i / 2] >> 32 * (i % 2) & 0xFFFFFFFF : both[i];
        };
        each_form(four ? "unpack.v4" : "unpack", [&](Machine& m, const Form& form) {
            std::vector<Reg> to;
            for (std::size_t i = 0; i < parts; ++i) to.push_back(m.put(part, {}));
            run(four ? "unpack.v4" : "unpack", form, m, {Operand::of(to), Operand::of(put(m, values))});
            for (std::size_t i = 0; i < parts; ++i)
                for (std::size_t l = 0; l < lanes; ++l)
                    CHECK(m.get(to[i])[l] == (on(m, l) ? part_of(values[l], i) : 0));
        });
        each_form(four ? "pack.v4" : "pack", [&](Machine& m, const Form& form) {
            std::vector<Reg> from;
            for (std::size_t i = 0; i < parts; ++i) {
                Lanes lanes_of{};
                for (std::size_t l = 0; l < lanes; ++l) lanes_of[l] = part_of(values[l], i);
                from.push_back(m.put(part, lanes_of));
            }
            const Reg d = put(m, before);
            run(four ? "pack.v4" : "pack", form, m, {Operand::of(d), Operand::of(from)});
            for (std::size_t l = 0; l < lanes; ++l) CHECK(get(m, d)[l] == (on(m, l) ? values[l] : before[l]));
        });
    }
}

TEST_CASE("exch and cas of 128 bits, lane after lane at one place") {
    each_form("atom", [](Machine& m, const Form& form) {
        Memory& memory = memory_of(form, m);
        const BothLanes fresh = numbers(70);
        const Reg d = put(m, {});
        run("atom", form, m,
            {Operand::of(d), Operand::address(address_of(m, memory, 0), 0), Operand::of(put(m, fresh))});
        Both held{};
        for (std::size_t l = 0; l < lanes; ++l) {
            if (!on(m, l)) continue;
            CHECK(get(m, d)[l] == held);
            held = fresh[l];
        }
        CHECK(at(memory, 0) == held);
    });
    each_form("atom.cas.b128", [](Machine& m, const Form& form) {
        Memory& memory = memory_of(form, m);
        BothLanes expected{};
        expected[1] = {0, 1};  // the upper halves differ
        const BothLanes fresh = numbers(70);
        const Reg d = put(m, {});
        run("atom.cas.b128", form, m,
            {Operand::of(d), Operand::address(address_of(m, memory, 0), 0), Operand::of(put(m, expected)),
             Operand::of(put(m, fresh))});
        CHECK(at(memory, 0) == fresh[2]);
        CHECK(get(m, d)[1] == Both{});
        CHECK(get(m, d)[2] == Both{});
        CHECK(get(m, d)[3] == fresh[2]);
    });
}
