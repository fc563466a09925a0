// Loads, stores, packing, special registers, parameters, barriers and fences on a small machine.
#include <random>
#include <set>

#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"

using namespace bench;

namespace {

void run(const isa::Step& s, Machine& m) { s.op->run(s, m); }

Lanes iota(Raw first, Raw step) {
    Lanes out{};
    for (std::size_t l = 0; l < lanes; ++l) out[l] = first + l * step;
    return out;
}

void fill(Memory& memory) {
    std::mt19937 random{7};
    for (std::byte& byte : memory.bytes) byte = static_cast<std::byte>(random());
}

/// `size` bytes at `address`, little-endian, extended as the type says.
Raw stored(Memory& memory, std::uint64_t address, Type type) {
    Raw raw = 0;
    const int size = isa::bits(type) / 8;
    std::memcpy(&raw, memory.at(address, static_cast<std::size_t>(size)), static_cast<std::size_t>(size));
    if (type == Type::s8 && (raw & 0x80)) raw |= 0xFF00;  // in a register of 16 bits
    return raw;
}

struct Data {
    std::vector<Reg> regs;
    Operand operand;
};
Data data(Machine& m, Type type, int count, std::uint64_t seed) {
    Data out;
    std::mt19937_64 random{seed};
    for (int i = 0; i < count; ++i) {
        Lanes values{};
        for (Raw& raw : values)
            raw = random() & (isa::bits(type) > 32 ? ~Raw{0} : isa::bits(type) == 32 ? 0xFFFFFFFF : 0xFFFF);
        out.regs.push_back(m.put(isa::register_type(type), values));
    }
    out.operand = count > 1 ? Operand::of(out.regs) : Operand::of(out.regs[0]);
    return out;
}

/// The space of a form; without one the addresses are generic.
Space space_of(const Form& form) {
    return static_cast<Space>(form.get(Field::space, static_cast<int>(Space::generic)));
}
/// The memory that a form accesses; generic addresses that are no window's are global.
Memory& memory_of(const Form& form, Machine& m) {
    const Space space = space_of(form);
    return space == Space::local ? m.local : isa::is_shared(space) ? m.shared : m.global;
}

/// Caches change no value; one form with each memory order.
bool only_hints(const Form& form) {
    return form.get(Field::cache, 0) != 0 || form.has(Field::prefetch) ||
           (form.has(Field::sem) && form.has(Field::evict));
}

}  // namespace

TEST_CASE("ld loads every type, in vectors, from both spaces, at positive and negative offsets") {
    for (const Form& form : wgrun::test::forms_of(*isa::find("ld"))) {
        if (only_hints(form) || is_wide(form)) continue;
        const Type type = form.type();
        const int count = form.get(Field::vec), size = isa::bits(type) / 8;
        for (std::int64_t offset : {-64, 0, 48}) {
            INFO(wgrun::test::spelled(form) << " offset " << offset);
            Machine m;
            Memory& memory = memory_of(form, m);
            fill(memory);
            m.mask = 0x7FFF0FFE;
            const Lanes address = iota(memory.base + 256, static_cast<Raw>(size * count));
            const Reg base = m.put(isa::is_shared(space_of(form)) ? Type::u32 : Type::u64, address);
            const Data d = data(m, type, count, 1);
            std::vector<Lanes> before;
            for (Reg reg : d.regs) before.push_back(m.get(reg));
            run(step("ld", form, {d.operand, Operand::address(base, offset)}), m);
            for (std::size_t i = 0; i < d.regs.size(); ++i) {
                const Lanes got = m.get(d.regs[i]);
                for (std::size_t l = 0; l < lanes; ++l)
                    REQUIRE(got[l] == (m.mask >> l & 1U ? stored(memory,
                                                                 address[l] + static_cast<Raw>(offset) +
                                                                     i * static_cast<Raw>(size),
                                                                 type)
                                                        : before[i][l]));
            }
        }
    }
}

TEST_CASE("st stores every type, in vectors, to both spaces") {
    for (const Form& form : wgrun::test::forms_of(*isa::find("st"))) {
        if (only_hints(form) || is_wide(form)) continue;
        INFO(wgrun::test::spelled(form));
        const Type type = form.type();
        const int count = form.get(Field::vec), size = isa::bits(type) / 8;
        Machine m;
        Memory& memory = memory_of(form, m);
        fill(memory);
        const std::vector<std::byte> untouched = memory.bytes;
        m.mask = 0xF0F0F0F1;
        const Lanes address = iota(memory.base + 512, static_cast<Raw>(size * count));
        const Reg base = m.put(isa::is_shared(space_of(form)) ? Type::u32 : Type::u64, address);
        const Data d = data(m, type, count, 2);
        run(step("st", form, {Operand::address(base, 16), d.operand}), m);
        std::vector<std::byte> want = untouched;
        for (std::size_t l = 0; l < lanes; ++l)
            for (std::size_t i = 0; m.mask >> l & 1U && i < d.regs.size(); ++i) {
                const Raw value = m.get(d.regs[i])[l];
                std::memcpy(
                    want.data() + (address[l] - memory.base) + 16 + i * static_cast<std::size_t>(size),
                    &value, static_cast<std::size_t>(size));
            }
        REQUIRE(memory.bytes == want);
    }
}

TEST_CASE("lanes of one generic access may be in different memories") {
    Machine m;
    fill(m.global), fill(m.shared), fill(m.local);
    Lanes within{}, generic{};
    for (std::size_t l = 0; l < lanes; ++l) {
        const Memory& memory = l % 3 == 0 ? m.global : l % 3 == 1 ? m.shared : m.local;
        within[l] = memory.base + 8 * l;
        generic[l] = isa::generic_of(l % 3 == 0   ? Space::global
                                     : l % 3 == 1 ? Space::shared
                                                  : Space::local,
                                     within[l]);
    }
    m.mask = 0x7FFFFFF7;
    const Reg address = m.put(Type::u64, generic), d = m.put(Type::u32, iota(5, 0));
    run(step("ld", typed(Type::u32), {Operand::of(d), Operand::address(address, 4)}), m);
    const auto memory_at = [&](std::size_t l) -> Memory& {
        return l % 3 == 0 ? m.global : l % 3 == 1 ? m.shared : m.local;
    };
    for (std::size_t l = 0; l < lanes; ++l)
        CHECK(m.get(d)[l] == (m.mask >> l & 1U ? stored(memory_at(l), within[l] + 4, Type::u32) : 5));
    CHECK(m.mask == 0x7FFFFFF7);
    run(step("st", typed(Type::u32), {Operand::address(address, 0), Operand::of(d)}), m);
    const Reg one = m.put(Type::u32, iota(1, 0));
    const Form red = with(with(typed(Type::u32), Field::op, "add"), Field::sem, "relaxed.gpu");
    run(step("red", red, {Operand::address(address, 0), Operand::of(one)}), m);
    for (std::size_t l = 0; l < lanes; ++l)
        if (m.mask >> l & 1U)
            CHECK(stored(memory_at(l), within[l], Type::u32) ==
                  ((stored(memory_at(l), within[l] + 4, Type::u32) + 1) & 0xFFFFFFFF));
}

TEST_CASE("cvta and cvta.to are each other's opposite, and isspacep tells spaces apart") {
    for (const char* name : {"shared", "shared::cta", "shared::cluster", "global", "local"}) {
        INFO(name);
        Machine m;
        const Lanes within = iota(1024, 16);
        const Reg a = m.put(Type::u64, within), generic = m.put(Type::u64, {}), back = m.put(Type::u64, {});
        const Form form = with(typed(Type::u64), Field::space, name);
        const bool global = std::string_view(name) == "global";
        run(step("cvta", form, {Operand::of(generic), Operand::of(a)}), m);
        CHECK((m.get(generic) == within) == global);
        run(step(global ? "cvta.to.global" : "cvta.to", global ? typed(Type::u64) : form,
                 {Operand::of(back), Operand::of(generic)}),
            m);
        CHECK(m.get(back) == within);
        for (const char* other : {"shared", "shared::cta", "shared::cluster", "global", "local"}) {
            INFO(other);
            const Reg p = m.put(Type::pred, {});
            run(step("isspacep", with({}, Field::space, other), {Operand::of(p), Operand::of(generic)}), m);
            CHECK(m.get(p)[7] ==
                  (std::string_view(name).substr(0, 6) == std::string_view(other).substr(0, 6)));
        }
    }
}

TEST_CASE("an address is a shared buffer too, and st takes a literal") {
    Machine m;
    Operand buffer = Operand::shared(2, 8);
    buffer.kind = Operand::Kind::address;
    const Form form = with(typed(Type::f32), Field::space, "shared");
    run(step("st", form, {buffer, Operand::immediate(std::bit_cast<std::int32_t>(-2.5F))}), m);
    CHECK(stored(m.shared, 1024 + 2 * 256 + 8, Type::f32) == std::bit_cast<std::uint32_t>(-2.5F));
    const Reg d = m.put(Type::f32, {});
    run(step("ld", form, {Operand::of(d), buffer}), m);
    CHECK(m.get(d)[31] == std::bit_cast<std::uint32_t>(-2.5F));
}

TEST_CASE("mov takes the address of a shared buffer, ld.param a parameter, special a special register") {
    Machine m;
    m.params = {0x123456789ABCDEF0, 7};
    const Reg r = m.put(Type::u32, {}), rd = m.put(Type::u64, {});
    run(step("mov", typed(Type::u32), {Operand::of(r), Operand::shared(1, 36)}), m);
    CHECK(m.get(r)[3] == 1024 + 256 + 36);
    run(step("mov", typed(Type::u64), {Operand::of(rd), Operand::shared(1, 36)}), m);
    CHECK(m.get(rd)[3] == 1024 + 256 + 36);
    run(step("ld.param", typed(Type::u64), {Operand::of(rd), Operand::param(0)}), m);
    CHECK(m.get(rd)[31] == 0x123456789ABCDEF0);
    run(step("ld.param", typed(Type::u32), {Operand::of(r), Operand::param(1)}), m);
    CHECK(m.get(r)[0] == 7);
    for (int sreg = 0; sreg < 13; ++sreg) {
        run(step("special", Form().set(Field::sreg, sreg), {Operand::of(r)}), m);
        CHECK(m.get(r)[4] == static_cast<Raw>(sreg * 100 + 4));
    }
}

TEST_CASE("negated predicates count as their opposite") {
    Machine m;
    Lanes bits{};
    for (std::size_t l = 0; l < lanes; ++l) bits[l] = l % 3 == 0;
    Operand negated = Operand::of(m.put(Type::pred, bits));
    negated.negated = true;
    const Reg a = m.put(Type::u32, iota(100, 1)), b = m.put(Type::u32, iota(200, 1)),
              d = m.put(Type::u32, {});
    run(step("selp", typed(Type::u32), {Operand::of(d), Operand::of(a), Operand::of(b), negated}), m);
    const Reg p = m.put(Type::pred, {}), q = m.put(Type::pred, {});
    run(step("mov", typed(Type::pred), {Operand::of(p), negated}), m);
    run(step("and", typed(Type::pred), {Operand::of(q), negated, Operand::immediate(1)}), m);
    for (std::size_t l = 0; l < lanes; ++l) {
        CHECK(m.get(d)[l] == (bits[l] ? 200 + l : 100 + l));
        CHECK(m.get(p)[l] == 1 - bits[l]);
        CHECK(m.get(q)[l] == 1 - bits[l]);
    }
}

TEST_CASE("pack and unpack: the first of two stands in the lower half") {
    Machine m;
    const Reg lo = m.put(Type::b16, iota(0x1000, 1)), hi = m.put(Type::b16, iota(0xF000, 1));
    const Reg d = m.put(Type::b32, {});
    run(step("pack", {}, {Operand::of(d), Operand::of(std::vector{lo, hi})}), m);
    CHECK(m.get(d)[9] == 0xF0091009);
    const Reg x = m.put(Type::b16, {}), y = m.put(Type::b16, {});
    run(step("unpack", {}, {Operand::of(std::vector{x, y}), Operand::of(d)}), m);
    CHECK(m.get(x)[9] == 0x1009);
    CHECK(m.get(y)[9] == 0xF009);
}

TEST_CASE("pack and unpack of 64 bits: two halves, or four quarters") {
    Machine m;
    const Reg lo = m.put(Type::b32, iota(0x80001000, 1)), hi = m.put(Type::b32, iota(0xF0000000, 1));
    const Reg d = m.put(Type::b64, {}), x = m.put(Type::b32, {}), y = m.put(Type::b32, {});
    run(step("pack", typed(Type::b64), {Operand::of(d), Operand::of(std::vector{lo, hi})}), m);
    CHECK(m.get(d)[9] == 0xF000000980001009);
    run(step("unpack", typed(Type::b64), {Operand::of(std::vector{x, y}), Operand::of(d)}), m);
    CHECK(m.get(x) == m.get(lo));
    CHECK(m.get(y) == m.get(hi));
    std::vector<Reg> quarters;
    for (int i = 0; i < 4; ++i) quarters.push_back(m.put(Type::b16, {}));
    run(step("unpack.v4", {}, {Operand::of(quarters), Operand::of(d)}), m);
    CHECK(m.get(quarters[0])[9] == 0x1009);
    CHECK(m.get(quarters[1])[9] == 0x8000);
    CHECK(m.get(quarters[3])[9] == 0xF000);
    const Reg whole = m.put(Type::b64, {});
    run(step("pack.v4", {}, {Operand::of(whole), Operand::of(quarters)}), m);
    CHECK(m.get(whole) == m.get(d));
}

TEST_CASE("elect.sync elects the first lane of the mask, and tells its number") {
    Machine m;
    m.mask = 0x0000FF00;
    const Reg p = m.put(Type::pred, {}), leader = m.put(Type::u32, {});
    run(step("elect.sync", {}, {Operand::of(p), Operand::immediate(0xFF00), Operand::of(leader)}), m);
    for (std::size_t l = 8; l < 16; ++l) {
        CHECK(m.get(p)[l] == (l == 8 ? 1 : 0));
        CHECK(m.get(leader)[l] == 8);
    }
    const Operand too_many = Operand::immediate(0xFFF0);
    CHECK_THROWS_AS(run(step("elect.sync", {}, {Operand::of(p), too_many, Operand::of(leader)}), m),
                    wgrun::ArgumentError);
}

TEST_CASE("matrix.descriptor puts bits 4 to 17 of the address below the constant fields") {
    Machine m;
    const Reg address = m.put(Type::u32, iota(0x0003FFF0, 16)), d = m.put(Type::b64, {});
    const std::int64_t fields = 0x4000004000010000;
    run(step("matrix.descriptor", {}, {Operand::of(d), Operand::of(address), Operand::immediate(fields)}), m);
    CHECK(m.get(d)[0] == (static_cast<Raw>(fields) | 0x3FFF));
    CHECK(m.get(d)[1] == static_cast<Raw>(fields));  // 0x40000 leaves the 18 bits of the shared window
    CHECK(m.get(d)[2] == (static_cast<Raw>(fields) | 1));
}

TEST_CASE("barriers, fences and groups reach the machine with their numbers") {
    Machine m;
    m.mask = 0xFFFF0000;
    Lanes ids{};
    ids.fill(99);  // lanes that are off
    for (std::size_t l = 16; l < lanes; ++l) ids[l] = 5;
    const Reg id = m.put(Type::u32, ids);
    run(step("bar.sync", {}, {Operand::of(id), Operand::immediate(64)}), m);
    run(step("bar.sync", {}, {Operand::immediate(0), Operand::immediate(0)}), m);
    run(step("fence.proxy.async", {}, {}), m);
    run(step("fence.proxy.async", with({}, Field::space, "shared::cta"), {}), m);
    run(step("wgmma.fence", {}, {}), m);
    run(step("wgmma.commit_group", {}, {}), m);
    run(step("wgmma.wait_group", {}, {Operand::immediate(3)}), m);
    CHECK(m.calls == std::vector<std::string>{"barrier 5 64", "barrier 0 0", "proxy_fence all",
                                              "proxy_fence shared::cta", "order_registers", "commit_mma",
                                              "wait_mma 3"});
}

TEST_CASE("a cache policy is one value, which the level chooses") {
    std::set<Raw> seen;
    for (const char* name : {"createpolicy.fractional", "createpolicy.range"})
        for (const Form& form : wgrun::test::forms_of(*isa::find(name))) {
            Machine m;
            const Reg d = m.put(Type::u64, {});
            std::vector<Operand> operands{Operand::of(d), Operand::immediate(0x3F800000)};
            if (isa::find(name)->operands.size() == 4)
                operands = {Operand::of(d), Operand::address(m.put(Type::u64, {}), 0), Operand::immediate(16),
                            Operand::immediate(32)};
            run(step(name, form, operands), m);
            const Lanes got = m.get(d);
            for (Raw lane : got) CHECK(lane == got[0]);
            seen.insert(got[0]);
        }
    CHECK(seen ==
          std::set<Raw>{0x10F0000000000000, 0x12F0000000000000, 0x14F0000000000000, 0x16F0000000000000});
}
