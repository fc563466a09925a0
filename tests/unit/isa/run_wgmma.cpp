// wgmma.mma_async against three nested loops: every dense type, both majors, every swizzle, both places of A,
// all immediates. Elements are small integers, so that every sum is exact.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/unit/isa/warpgroup.hpp"
#include "wgrun/tile.hpp"

using namespace bench;

namespace {

/// A matrix of small integers, [row][k].
struct Matrix {
    int rows, k;
    std::vector<int> values;
    int& at(int row, int col) { return values[static_cast<std::size_t>(row * k + col)]; }
};

std::mt19937 random_values{42};

Matrix matrix(Dtype dtype, int rows, int k) {
    Matrix out{rows, k, std::vector<int>(static_cast<std::size_t>(rows * k))};
    const bool natural = dtype == Dtype::u8 || dtype == Dtype::b1;
    for (int& value : out.values)
        value = dtype == Dtype::b1   ? static_cast<int>(random_values() % 2)
                : natural            ? static_cast<int>(random_values() % 256)
                : dtype == Dtype::s8 ? static_cast<int>(random_values() % 256) - 128
                                     : static_cast<int>(random_values() % 5) - 2;
    return out;
}

std::uint32_t element_bits(Dtype dtype, int value) {
    const double number = value;
    std::uint32_t bits = 0;
    encode(dtype, std::span(&number, 1),
           std::as_writable_bytes(std::span(&bits, 1))
               .first(static_cast<std::size_t>((wgrun::bits(dtype) + 7) / 8)));
    if (dtype == Dtype::tf32) bits |= random_values() & 0x1FFF;  // these do not count
    return bits;
}

void store(Warpgroup& group, const Tile& tile, std::uint32_t address, Matrix& from) {
    for (int row = 0; row < from.rows; ++row)
        for (int k = 0; k < from.k; ++k) {
            std::byte* to = group.shared.at(address + static_cast<std::uint32_t>(tile.offset(row, k)), 1);
            const std::uint32_t bits = element_bits(tile.dtype(), from.at(row, k));
            if (tile.dtype() == Dtype::b1)
                *to = (*to & ~(std::byte{1} << (k % 8))) | (static_cast<std::byte>(bits) << (k % 8));
            else
                std::memcpy(to, &bits, static_cast<std::size_t>(wgrun::bits(tile.dtype()) / 8));
        }
}

/// One product: what is asked for, and what it is compared with.
struct Case {
    Type d, a, b;
    int n = 16;
    Major a_major = Major::k, b_major = Major::k;
    SwizzleMode a_swizzle = SwizzleMode::b128, b_swizzle = SwizzleMode::b128;
    bool a_in_registers = false;
    int scale_a = 1, scale_b = 1;
    bool satfinite = false;
    int kstep = 0;
    enum class ScaleD { zero, one, predicate_false, predicate_true, negated_true } scale_d = ScaleD::one;
    int first = 0;  ///< what the accumulators hold
};

Dtype dtype(Type type) { return *parse_dtype(isa::to_string(type)); }

int k_of(Type type) { return 256 / std::max(isa::bits(type), 1); }

Form form_of(const Case& c) {
    Form form;
    form.set(Field::n, c.n).set(Field::k, k_of(c.a)).set(Field::d, c.d).set(Field::a, c.a).set(Field::b, c.b);
    form.set(Field::a_in, c.a_in_registers ? 1 : 0);
    if (isa::is_float(c.a)) form.set(Field::scale_a, c.scale_a).set(Field::scale_b, c.scale_b);
    if (c.a == Type::b1) form.set(Field::op, 0);
    if (c.satfinite) form.set(Field::satfinite, 1);
    if (c.a == Type::f16 || c.a == Type::bf16) {
        if (!c.a_in_registers) form.set(Field::trans_a, c.a_major == Major::mn);
        form.set(Field::trans_b, c.b_major == Major::mn);
    }
    return form;
}

/// PTX ISA 9.7.15.5.1, figures of the fragments: where element (row, col) of D, and (row, k) of A, is kept.
struct Place {
    int thread, reg, shift;
};
Place place_in_d(int row, int col, bool half) {
    const int thread = 32 * (row / 16) + 4 * (row % 8) + col % 8 / 2, high = row / 8 % 2;
    if (half) return {thread, 2 * (col / 8) + high, 16 * (col % 2)};
    return {thread, 4 * (col / 8) + 2 * high + col % 2, 0};
}
Place place_in_a(int row, int k, int bits) {
    const int each = 32 / bits, group = k / each;  // elements in a register, and which register along k
    return {32 * (row / 16) + 4 * (row % 8) + group % 4, row / 8 % 2 + 2 * (group / 4), bits * (k % each)};
}

void multiply(const Case& c) {
    INFO("d=" << isa::to_string(c.d) << " a=" << isa::to_string(c.a) << " b=" << isa::to_string(c.b)
              << " n=" << c.n << " A " << to_string(c.a_major) << " " << to_string(c.a_swizzle) << " B "
              << to_string(c.b_major) << " " << to_string(c.b_swizzle) << " registers=" << c.a_in_registers
              << " kstep=" << c.kstep);
    const int k = k_of(c.a), all_k = 4 * k, from = c.kstep * k;
    Matrix a = matrix(dtype(c.a), rows, all_k), b = matrix(dtype(c.b), c.n, all_k);
    const Tile a_tile({dtype(c.a), rows, all_k, c.a_major, c.a_swizzle, AtomOrder::mn});
    const Tile b_tile({dtype(c.b), c.n, all_k, c.b_major, c.b_swizzle, AtomOrder::mn});
    Warpgroup group;
    for (std::byte& byte : group.shared.bytes) byte = static_cast<std::byte>(random_values());
    constexpr std::uint32_t a_address = 2048, b_address = 2048 + 65536;
    store(group, a_tile, a_address, a);
    store(group, b_tile, b_address, b);

    const Form form = isa::resolve(*isa::find("wgmma.mma_async"), form_of(c));
    const bool half = c.d == Type::f16;
    const std::vector<Reg> d = group.put(c.n / (half ? 4 : 2));
    for (Reg reg : d)
        for (int t = 0; t < 128; ++t) {
            const std::uint32_t one = half               ? element_bits(Dtype::f16, c.first) * 0x10001
                                      : c.d == Type::f32 ? element_bits(Dtype::f32, c.first)
                                                         : static_cast<std::uint32_t>(c.first);
            group.word(reg, t) = one;
        }

    Operand a_operand;
    if (c.a_in_registers) {
        const std::vector<Reg> fragment = group.put(4);
        const int bits = isa::bits(c.a);
        for (int row = 0; row < rows; ++row)
            for (int i = 0; i < k; ++i) {
                const Place p = place_in_a(row, i, bits);
                group.word(fragment[static_cast<std::size_t>(p.reg)], p.thread) |=
                    element_bits(dtype(c.a), a.at(row, from + i)) << p.shift;
            }
        a_operand = Operand::of(fragment);
    } else {
        const Reg reg = group.put();
        group.put_wide(reg, a_tile.descriptor(a_address, c.kstep).encode());
        a_operand = Operand::of(reg);
    }
    const Operand b_operand =
        Operand::immediate(static_cast<std::int64_t>(b_tile.descriptor(b_address, c.kstep).encode()));

    using ScaleD = Case::ScaleD;
    Operand scale_d = Operand::immediate(c.scale_d == ScaleD::one);
    if (c.scale_d >= ScaleD::predicate_false) {
        const Reg p = group.put();
        for (int t = 0; t < 128; ++t) group.word(p, t) = c.scale_d == ScaleD::predicate_true;
        scale_d = Operand::of(p);
        scale_d.negated = c.scale_d == ScaleD::negated_true;
    }
    const bool keep = c.scale_d != ScaleD::zero && c.scale_d != ScaleD::predicate_false;

    const isa::Step s = step("wgmma.mma_async", form, {Operand::of(d), a_operand, b_operand, scale_d});
    s.op->run(s, group);

    CHECK(group.ended);
    CHECK(group.opened.rows_b == c.n);
    CHECK(group.opened.k_bytes_b == 32);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < c.n; ++col) {
            std::int64_t want = keep ? c.first : 0;
            for (int i = 0; i < k; ++i)
                want += std::int64_t{c.scale_a} * a.at(row, from + i) * c.scale_b * b.at(col, from + i);
            const Place p = place_in_d(row, col, half);
            const std::uint32_t word = group.word(d[static_cast<std::size_t>(p.reg)], p.thread);
            if (c.d == Type::s32) {
                if (c.satfinite) want = std::clamp<std::int64_t>(want, INT32_MIN, INT32_MAX);
                REQUIRE(static_cast<std::int32_t>(word) == static_cast<std::int32_t>(want));
            } else {
                REQUIRE((half ? from_f16(static_cast<std::uint16_t>(word >> p.shift))
                              : std::bit_cast<float>(word)) == static_cast<float>(want));
            }
        }
}

struct Types {
    Type d, a, b;
};
const std::vector<Types> all_types = [] {
    std::vector<Types> out{{Type::f16, Type::f16, Type::f16},
                           {Type::f32, Type::f16, Type::f16},
                           {Type::f32, Type::bf16, Type::bf16},
                           {Type::f32, Type::tf32, Type::tf32},
                           {Type::s32, Type::b1, Type::b1}};
    for (Type a : {Type::e4m3, Type::e5m2})
        for (Type b : {Type::e4m3, Type::e5m2})
            for (Type d : {Type::f16, Type::f32}) out.push_back({d, a, b});
    for (Type a : {Type::s8, Type::u8})
        for (Type b : {Type::s8, Type::u8}) out.push_back({Type::s32, a, b});
    return out;
}();

constexpr std::array swizzles{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

}  // namespace

TEST_CASE("wgmma: every type, K-major, every swizzle, A in shared memory and in registers") {
    for (const Types& t : all_types)
        for (SwizzleMode swizzle : swizzles)
            for (bool registers : {false, true}) {
                Case c{t.d, t.a, t.b};
                c.a_swizzle = c.b_swizzle = swizzle;
                c.a_in_registers = registers;
                c.n = t.a == Type::b1 || isa::is_float(t.a) ? 24 : 48;
                c.kstep = static_cast<int>(swizzle) % 4;
                multiply(c);
            }
}

TEST_CASE("wgmma: 16-bit operands in both majors, each with every swizzle") {
    for (const Types& t : {Types{Type::f32, Type::bf16, Type::bf16}, Types{Type::f16, Type::f16, Type::f16}})
        for (Major a_major : {Major::k, Major::mn})
            for (Major b_major : {Major::k, Major::mn})
                for (SwizzleMode a_swizzle : swizzles)
                    for (SwizzleMode b_swizzle : swizzles) {
                        Case c{t.d, t.a, t.b};
                        c.n = 128;  // two atoms of the widest swizzle along N
                        c.a_major = a_major, c.b_major = b_major;
                        c.a_swizzle = a_swizzle, c.b_swizzle = b_swizzle;
                        c.kstep = (static_cast<int>(a_swizzle) + static_cast<int>(b_swizzle)) % 4;
                        multiply(c);
                    }
}

TEST_CASE("wgmma: every N") {
    for (const Types& t : {Types{Type::f32, Type::e4m3, Type::e5m2}, Types{Type::s32, Type::s8, Type::u8},
                           Types{Type::f16, Type::f16, Type::f16}})
        for (int n :
             isa::find("wgmma.mma_async")->rows[isa::is_float(t.a) ? 0 : 8].find(Field::n)->values()) {
            Case c{t.d, t.a, t.b};
            c.n = n;
            c.a_in_registers = n % 16 == 0;
            multiply(c);
        }
}

TEST_CASE("wgmma: scale-d, the signs of A and B, and what the accumulators held") {
    using ScaleD = Case::ScaleD;
    for (const Types& t : all_types)
        for (ScaleD scale_d : {ScaleD::zero, ScaleD::one, ScaleD::predicate_false, ScaleD::predicate_true,
                               ScaleD::negated_true})
            for (int sign = 0; sign < (isa::is_float(t.a) ? 4 : 1); ++sign) {
                Case c{t.d, t.a, t.b};
                c.scale_d = scale_d;
                c.scale_a = sign & 1 ? -1 : 1, c.scale_b = sign & 2 ? -1 : 1;
                c.first = 100;
                c.a_in_registers = sign == 3;
                multiply(c);
            }
}

TEST_CASE("wgmma: integer sums wrap, or with satfinite stay at the limits") {
    for (const auto& [a, b] : {std::pair{Type::s8, Type::s8}, {Type::u8, Type::s8}, {Type::u8, Type::u8}})
        for (bool satfinite : {false, true})
            for (int first : {INT32_MAX - 5, INT32_MIN + 5}) {
                Case c{Type::s32, a, b};
                c.satfinite = satfinite;
                c.first = first;
                multiply(c);
            }
}

TEST_CASE("wgmma: each row of A is read for its own warp, B for all four") {
    Case c{Type::f32, Type::bf16, Type::bf16};
    const Tile tile({Dtype::bf16, rows, 64, Major::k, SwizzleMode::b128, AtomOrder::mn});
    Warpgroup group;
    const auto descriptor = [&](std::uint32_t address) {
        return Operand::immediate(static_cast<std::int64_t>(tile.descriptor(address).encode()));
    };
    c.n = 64;
    const isa::Step s =
        step("wgmma.mma_async", form_of(c),
             {Operand::of(group.put(32)), descriptor(2048), descriptor(2048 + 8192), Operand::immediate(0)});
    s.op->run(s, group);
    for (int row = 0; row < rows; ++row)
        for (int k = 0; k < 16; ++k) {
            const auto at =
                static_cast<std::size_t>(1024 + tile.offset(row, k));  // shared memory starts at 1024
            REQUIRE(group.readers[at] == 1U << (row / 16));
            REQUIRE(group.readers[at + 8192] == 15U);
        }
    CHECK(std::accumulate(group.readers.begin(), group.readers.end(), 0U,
                          [](unsigned n, unsigned mask) { return n + (mask != 0); }) == 2 * 64 * 32);
}

TEST_CASE("wgmma: types that are none of elements are no other type") {
    const Tile tile({Dtype::s8, rows, 128, Major::k, SwizzleMode::b128, AtomOrder::mn});
    const Operand b = Operand::immediate(static_cast<std::int64_t>(tile.descriptor(2048).encode()));
    Case c{Type::s32, Type::s8, Type::s8};
    c.a_in_registers = true;
    for (const Field operand : {Field::a, Field::b}) {
        Warpgroup group;
        isa::Step s = step("wgmma.mma_async", form_of(c),
                           {Operand::of(group.put(8)), Operand::of(group.put(4)), b, Operand::immediate(0)});
        s.form.set(operand, Type::u4);
        CHECK_THROWS_AS(s.op->run(s, group), wgrun::ArgumentError);
    }
}

TEST_CASE("wgmma: what the checker is told") {
    Warpgroup group;
    Case c{Type::f32, Type::f16, Type::f16};
    c.a_major = Major::mn;
    c.n = 8;
    const std::vector<Reg> d = group.put(4), a = group.put(4);
    struct Told final : isa::Effects {
        isa::AsyncMma mma{};
        int count = 0;
        void issue_mma(const isa::AsyncMma& m) override { mma = m, ++count; }
    } told;
    const isa::Step s =
        step("wgmma.mma_async", form_of(c),
             {Operand::of(d), Operand::immediate(0), Operand::immediate(0), Operand::immediate(0)});
    s.op->effects(s, told);
    CHECK(told.count == 1);
    CHECK(*told.mma.accumulators == d);
    CHECK(told.mma.a_fragment == nullptr);
    CHECK(told.mma.a_descriptor == &s.operands[1]);
    CHECK_FALSE(told.mma.reads_accumulators);
    CHECK((told.mma.rows_a == 64 && told.mma.rows_b == 8 && told.mma.k_bytes_a == 32 &&
           told.mma.element_bits_a == 16));
    CHECK((told.mma.a_mn_major && !told.mma.b_mn_major));

    c.a_in_registers = true;
    c.a_major = Major::k;
    const isa::Step from_registers =
        step("wgmma.mma_async", form_of(c),
             {Operand::of(d), Operand::of(a), Operand::immediate(0), Operand::immediate(1)});
    from_registers.op->effects(from_registers, told);
    CHECK(*told.mma.a_fragment == a);
    CHECK(told.mma.a_descriptor == nullptr);
    CHECK(told.mma.reads_accumulators);
    CHECK_FALSE(told.mma.a_mn_major);
}
