// ldmatrix, stmatrix and movmatrix against the fragments of wgrun/fragment.hpp and CuTe's copy atoms.
#include <random>

#include "tests/catch.hpp"
#include "tests/unit/isa/bench.hpp"
#include "tests/unit/layout/golden.hpp"
#include "wgrun/fragment.hpp"

using namespace bench;

namespace {

void run(const isa::Step& s, Machine& m) { s.op->run(s, m); }

Form form_of(int num, bool trans, std::string_view space = "shared") {
    return with(Form().set(Field::num, num).set(Field::trans, trans), Field::space, space);
}

/// 32 rows of 16 bytes in shared memory, apart and in no order.
Lanes row_addresses(Machine& m, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<Raw> places(256);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = m.shared.base + 16 * i;
    std::shuffle(places.begin(), places.end(), random);
    Lanes out{};
    std::copy_n(places.begin(), lanes, out.begin());
    return out;
}

std::uint16_t element(Machine& m, const Lanes& rows, int row, int column) {
    std::uint16_t out = 0;
    std::memcpy(&out, m.shared.at(rows[static_cast<std::size_t>(row)] + 2 * static_cast<Raw>(column), 2), 2);
    return out;
}

std::uint16_t half(Machine& m, const std::vector<Reg>& regs, int lane, int value) {
    const Raw word = m.get(regs[static_cast<std::size_t>(value / 2)])[static_cast<std::size_t>(lane)];
    return static_cast<std::uint16_t>(word >> 16 * (value % 2));
}

std::vector<Reg> random_registers(Machine& m, int count, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<Reg> out;
    for (int i = 0; i < count; ++i) {
        Lanes values{};
        for (Raw& value : values) value = random();
        out.push_back(m.put(Type::b32, values));
    }
    return out;
}

void fill_rows(Machine& m, const Lanes& rows, int count, unsigned seed) {
    std::mt19937 random{seed};
    for (int row = 0; row < count; ++row)
        for (Raw i = 0; i < 16; ++i)
            *m.shared.at(rows[static_cast<std::size_t>(row)] + i, 1) = static_cast<std::byte>(random());
}

}  // namespace

TEST_CASE("ldmatrix gives each lane the elements that its fragment says") {
    for (int num : {1, 2, 4})
        for (bool trans : {false, true}) {
            Machine m;
            Lanes rows = row_addresses(m, 3);
            fill_rows(m, rows, 8 * num, 4);
            // Addresses of lanes after the last matrix are not read.
            Lanes given = rows;
            for (std::size_t l = 8 * static_cast<std::size_t>(num); l < lanes; ++l) given[l] = 0xDEAD;
            const Reg address = m.put(Type::u32, given);
            const std::vector<Reg> d = random_registers(m, num, 5);
            run(step("ldmatrix", form_of(num, trans), {Operand::of(d), Operand::address(address, 0)}), m);
            const Fragment fragment = ldmatrix(num, trans);
            for (int lane = 0; lane < lanes; ++lane)
                for (int value = 0; value < fragment.values(); ++value) {
                    const auto [row, column] = fragment.at(lane, value);
                    REQUIRE(half(m, d, lane, value) == element(m, rows, row, column));
                }
        }
}

TEST_CASE("stmatrix puts each lane's elements where its fragment says, and nothing elsewhere") {
    for (int num : {1, 2, 4})
        for (bool trans : {false, true}) {
            Machine m;
            const Lanes rows = row_addresses(m, 6);
            Lanes given = rows;
            for (std::size_t l = 8 * static_cast<std::size_t>(num); l < lanes; ++l) given[l] = 0xDEAD;
            for (Raw& address : given) address -= 48;
            const Reg address = m.put(Type::u32, given);
            const std::vector<Reg> b = random_registers(m, num, 7);
            run(step("stmatrix", form_of(num, trans, "shared::cta"),
                     {Operand::address(address, 48), Operand::of(b)}),
                m);
            const Fragment fragment = ldmatrix(num, trans);
            for (int lane = 0; lane < lanes; ++lane)
                for (int value = 0; value < fragment.values(); ++value) {
                    const auto [row, column] = fragment.at(lane, value);
                    REQUIRE(element(m, rows, row, column) == half(m, b, lane, value));
                    std::memset(
                        m.shared.at(rows[static_cast<std::size_t>(row)] + 2 * static_cast<Raw>(column), 2), 0,
                        2);
                }
            REQUIRE(m.shared.bytes == Memory{}.bytes);
        }
}

TEST_CASE("ldmatrix and stmatrix move what CuTe's copy atoms move") {
    const auto file = golden::load("sm90_tv.json");
    int atoms = 0;
    for (const auto& atom : file["copy_atoms"]) {
        const std::string name = atom["copy"];
        // CuTe names the transposing ones by 16-bit values.
        const bool trans = name.ends_with("_T"), store = name.find("STSM") != std::string::npos;
        const int values = name[name.find('x') + 1] - '0', num = trans ? values / 2 : values;
        INFO(name);
        ++atoms;
        Machine m;
        const Lanes rows = row_addresses(m, 8);
        fill_rows(m, rows, 32, 9);
        const Operand address = Operand::address(m.put(Type::u32, rows), 0);
        const std::vector<Reg> regs = random_registers(m, num, 10);
        if (store)
            run(step("stmatrix", form_of(num, trans), {address, Operand::of(regs)}), m);
        else
            run(step("ldmatrix", form_of(num, trans), {Operand::of(regs), address}), m);
        // Half h of thread t's registers is column c of the row that thread r points at.
        const auto& table = atom["reg16_table"];
        REQUIRE(table.size() == lanes);
        for (int lane = 0; lane < lanes; ++lane) {
            const auto& halves = table[static_cast<std::size_t>(lane)];
            REQUIRE(static_cast<int>(halves.size()) == 2 * num);
            for (int h = 0; h < 2 * num; ++h) {
                const auto& place = halves[static_cast<std::size_t>(h)];
                REQUIRE(half(m, regs, lane, h) == element(m, rows, place[0], place[1]));
            }
        }
    }
    CHECK(atoms == 6);
}

TEST_CASE("movmatrix transposes: twice is nothing, once is what ldmatrix.trans loads") {
    Machine m;
    const Lanes rows = row_addresses(m, 11);
    fill_rows(m, rows, 8, 12);
    const Operand address = Operand::address(m.put(Type::u32, rows), 0);
    const std::vector<Reg> plain = random_registers(m, 1, 1), transposed = random_registers(m, 1, 2);
    const Reg once = m.put(Type::b32, {}), twice = m.put(Type::b32, {});
    run(step("ldmatrix", form_of(1, false), {Operand::of(plain), address}), m);
    run(step("ldmatrix", form_of(1, true), {Operand::of(transposed), address}), m);
    run(step("movmatrix", {}, {Operand::of(once), Operand::of(plain[0])}), m);
    run(step("movmatrix", {}, {Operand::of(twice), Operand::of(once)}), m);
    CHECK(m.get(once) == m.get(transposed[0]));
    CHECK(m.get(twice) == m.get(plain[0]));
    CHECK(m.get(once) != m.get(plain[0]));
}
