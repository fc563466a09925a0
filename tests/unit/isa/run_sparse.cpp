// wgmma.mma_async.sp against three nested loops over the expanded A: every type, both places of A, both
// selectors, every swizzle of B. Elements are small integers, so that every sum is exact.
#include <fmt/format.h>

#include <random>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/unit/isa/warpgroup.hpp"
#include "wgrun/fragment.hpp"
#include "wgrun/tile.hpp"

using namespace bench;

namespace {

struct Case {
    Type d, a, b;
    int selector = 0;
    bool a_in_registers = false;
    SwizzleMode a_swizzle = SwizzleMode::none, b_swizzle = SwizzleMode::b64;
    Major a_major = Major::k, b_major = Major::k;
    int n = 16;
};

Dtype dtype(Type type) { return *parse_dtype(isa::to_string(type)); }
int k_of(Type type) { return 512 / isa::bits(type); }

/// A sparse row-major matrix: its stored half, the k of each stored element, and the whole matrix.
struct Sparse {
    int k;
    std::vector<int> stored, position, all;
    std::vector<unsigned> codes;  // [row][chunk]
};

std::mt19937 draw{7};

int element(Type type) {
    const bool natural = type == Type::u8;
    return static_cast<int>(draw() % 9) - (natural ? 0 : 4);
}

Sparse sparse(Type type) {
    const int k = k_of(type), chunk = type == Type::tf32 ? 2 : 4, kept = chunk / 2;
    Sparse out{k, {}, {}, std::vector<int>(static_cast<std::size_t>(rows * k)), {}};
    for (int row = 0; row < rows; ++row)
        for (int c = 0; c < k / chunk; ++c) {
            // Two different indices in either order, or the two codes of tf32.
            unsigned first = draw() % static_cast<unsigned>(chunk), second = first;
            while (second == first) second = draw() % static_cast<unsigned>(chunk);
            out.codes.push_back(type == Type::tf32 ? (first == 0 ? 0b0100 : 0b1110) : first | second << 2);
            for (unsigned at : {first, second}) {
                if (at == second && kept == 1) break;
                const int value = element(type), position = chunk * c + static_cast<int>(at);
                out.stored.push_back(value);
                out.all[static_cast<std::size_t>(row * k + position)] = value;
            }
        }
    return out;
}

std::uint32_t bits_of(Dtype type, int value) {
    const double number = value;
    std::uint32_t bits = 0;
    encode(
        type, std::span(&number, 1),
        std::as_writable_bytes(std::span(&bits, 1)).first(static_cast<std::size_t>(wgrun::bits(type) / 8)));
    return bits;
}

template <class Value>
void store(Warpgroup& group, const Tile& tile, std::uint32_t address, Value value) {
    for (int row = 0; row < tile.mn(); ++row)
        for (int k = 0; k < tile.k(); ++k) {
            const std::uint32_t bits = bits_of(tile.dtype(), value(row, k));
            std::memcpy(group.shared.at(address + static_cast<std::uint32_t>(tile.offset(row, k)), 4), &bits,
                        static_cast<std::size_t>(wgrun::bits(tile.dtype()) / 8));
        }
}

Form form_of(const Case& c) {
    Form form;
    form.set(Field::n, c.n).set(Field::k, k_of(c.a)).set(Field::d, c.d).set(Field::a, c.a).set(Field::b, c.b);
    form.set(Field::a_in, c.a_in_registers ? 1 : 0).set(Field::sp_sel, c.selector);
    if (isa::bits(c.a) == 16) {
        if (!c.a_in_registers) form.set(Field::trans_a, c.a_major == Major::mn);
        form.set(Field::trans_b, c.b_major == Major::mn);
    }
    return isa::resolve(*isa::find("wgmma.mma_async.sp"), form);
}

/// The words of the metadata register, by the fragment of the ISA's figures; lanes that the selector does
/// not choose hold nonsense.
void put_metadata(Warpgroup& group, Reg reg, const Case& c, const Sparse& a) {
    const Fragment chunks = wgmma_metadata_chunks(dtype(c.a));
    const bool narrow = isa::bits(c.a) == 8;
    for (int thread = 0; thread < 128; ++thread) {
        std::uint32_t& word = group.word(reg, thread);
        word = 0;
        for (int i = 0; i < 8; ++i) {
            const Fragment::Place at = chunks.at(thread, i);
            word |= a.codes[static_cast<std::size_t>(at.row * chunks.columns + at.column)] << (4 * i);
        }
        if (!narrow && thread % 4 / 2 != c.selector) word = 0;
    }
}

void multiply(const Case& c) {
    INFO(isa::to_string(c.d) << " " << isa::to_string(c.a) << " " << isa::to_string(c.b) << " selector "
                             << c.selector << " registers " << c.a_in_registers << " B "
                             << to_string(c.b_swizzle) << " " << to_string(c.b_major));
    const Sparse a = sparse(c.a);
    const int stored = a.k / 2;
    Warpgroup group;
    std::vector<int> b(static_cast<std::size_t>(c.n * a.k));
    for (int& value : b) value = element(c.b);
    const Tile b_tile({dtype(c.b), c.n, a.k, c.b_major, c.b_swizzle, AtomOrder::mn});
    constexpr std::uint32_t a_address = 2048, b_address = 2048 + 65536;
    store(group, b_tile, b_address,
          [&](int row, int k) { return b[static_cast<std::size_t>(row * a.k + k)]; });
    Descriptor of_b{b_address, static_cast<std::uint32_t>(b_tile.lbo()),
                    static_cast<std::uint32_t>(b_tile.sbo()), 0, c.b_swizzle};
    // Two atoms of 32 bytes are LBO apart, which does not happen for a dense B.
    if (c.b_swizzle == SwizzleMode::b32 && c.b_major == Major::k)
        of_b.lbo = static_cast<std::uint32_t>(c.n / 8 * b_tile.atom_bytes());

    Operand a_operand;
    const auto stored_value = [&](int row, int k) {
        return a.stored[static_cast<std::size_t>(row * stored + k)];
    };
    if (c.a_in_registers) {
        const std::vector<Reg> fragment = group.put(4);
        const Fragment layout = wgmma_a(dtype(c.a));
        REQUIRE((layout.rows == rows && layout.columns == stored));
        for (int thread = 0; thread < 128; ++thread)
            for (int v = 0; v < layout.values(); ++v) {
                const Fragment::Place at = layout.at(thread, v);
                group.word(fragment[static_cast<std::size_t>(v / layout.per_register)], thread) |=
                    bits_of(dtype(c.a), stored_value(at.row, at.column))
                    << (isa::bits(c.a) * (v % layout.per_register));
            }
        a_operand = Operand::of(fragment);
    } else {
        const Tile tile({dtype(c.a), rows, stored, c.a_major, c.a_swizzle, AtomOrder::mn});
        store(group, tile, a_address, stored_value);
        a_operand = Operand::immediate(static_cast<std::int64_t>(tile.descriptor(a_address).encode()));
    }
    const Reg metadata = group.put();
    put_metadata(group, metadata, c, a);
    const bool half = c.d == Type::f16;
    const std::vector<Reg> d = group.put(c.n / (half ? 4 : 2));
    const isa::Step s =
        step("wgmma.mma_async.sp", form_of(c),
             {Operand::of(d), a_operand, Operand::immediate(static_cast<std::int64_t>(of_b.encode())),
              Operand::of(metadata), Operand::immediate(0)});
    s.op->run(s, group);

    CHECK((group.opened.k_bytes_a == 32 && group.opened.k_bytes_b == 64));
    CHECK(group.opened.metadata == &s.operands[3]);
    const Fragment layout = wgmma_d(half ? Dtype::f16 : Dtype::f32, c.n);
    for (int thread = 0; thread < 128; ++thread)
        for (int v = 0; v < layout.values(); ++v) {
            const auto [row, col] = layout.at(thread, v);
            int want = 0;
            for (int k = 0; k < a.k; ++k)
                want += a.all[static_cast<std::size_t>(row * a.k + k)] *
                        b[static_cast<std::size_t>(col * a.k + k)];
            const std::uint32_t word =
                group.word(d[static_cast<std::size_t>(v / layout.per_register)], thread);
            const double got = half ? from_f16(static_cast<std::uint16_t>(word >> (16 * (v % 2))))
                               : c.d == Type::f32 ? std::bit_cast<float>(word)
                                                  : static_cast<std::int32_t>(word);
            REQUIRE(got == want);
        }
}

const std::vector<Case> every_type = [] {
    std::vector<Case> out{{Type::f16, Type::f16, Type::f16},
                          {Type::f32, Type::f16, Type::f16},
                          {Type::f32, Type::bf16, Type::bf16},
                          {Type::f32, Type::tf32, Type::tf32}};
    for (Type a : {Type::e4m3, Type::e5m2})
        for (Type b : {Type::e4m3, Type::e5m2})
            for (Type d : {Type::f16, Type::f32}) out.push_back({d, a, b});
    for (Type a : {Type::s8, Type::u8})
        for (Type b : {Type::s8, Type::u8}) out.push_back({Type::s32, a, b});
    return out;
}();

}  // namespace

TEST_CASE("sparse wgmma: every type, A in shared memory and in registers, every selector") {
    for (Case c : every_type)
        for (bool registers : {false, true})
            for (int selector = 0; selector < (isa::bits(c.a) == 8 ? 1 : 2); ++selector) {
                c.a_in_registers = registers;
                c.selector = selector;
                multiply(c);
            }
}

TEST_CASE("sparse wgmma: every swizzle of A and B, 16-bit ones in both majors") {
    constexpr std::array modes{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};
    for (Case c : every_type)
        for (SwizzleMode b_swizzle : modes)
            for (Major a_major : {Major::k, Major::mn})
                for (Major b_major : {Major::k, Major::mn}) {
                    if ((a_major == Major::mn || b_major == Major::mn) && isa::bits(c.a) != 16) continue;
                    c.b_swizzle = b_swizzle;
                    c.a_major = a_major, c.b_major = b_major;
                    c.a_swizzle = a_major == Major::mn ? b_swizzle : SwizzleMode::b32;
                    c.n = 64;
                    if (b_major == Major::k && b_swizzle == SwizzleMode::b128)
                        continue;  // 64 bytes of K only
                    multiply(c);
                }
}

TEST_CASE("sparse wgmma: infinities of B that meet no stored element do not count") {
    const float infinity = std::numeric_limits<float>::infinity();
    Warpgroup group;
    const Tile b_tile({Dtype::tf32, 8, 16, Major::k, SwizzleMode::none, AtomOrder::mn});
    for (int k = 1; k < 16; k += 2)
        std::memcpy(group.shared.at(4096 + static_cast<std::uint32_t>(b_tile.offset(0, k)), 4), &infinity, 4);
    const std::vector<Reg> a = group.put(4), d = group.put(4);
    const Reg metadata = group.put();
    for (int t = 0; t < 128; ++t) group.word(metadata, t) = 0x44444444;
    const isa::Step s = step("wgmma.mma_async.sp", form_of({Type::f32, Type::tf32, Type::tf32, 0, true}),
                             {Operand::of(d), Operand::of(a),
                              Operand::immediate(static_cast<std::int64_t>(
                                  Descriptor{4096, static_cast<std::uint32_t>(b_tile.lbo()),
                                             static_cast<std::uint32_t>(b_tile.sbo()), 0, SwizzleMode::none}
                                      .encode())),
                              Operand::of(metadata), Operand::immediate(0)});
    isa::Step narrow = s;
    narrow.form.set(Field::n, 8);
    s.op->run(narrow, group);
    CHECK(std::bit_cast<float>(group.word(d[0], 0)) == 0);
}

TEST_CASE("sparse wgmma: a code without meaning is an error that names row and chunk") {
    struct Bad {
        Type type;
        unsigned code;
        const char* message;
    };
    for (const Bad& bad : {Bad{Type::f16, 0b0101, "row 9, chunk 6: 0b0101 has no meaning"},
                           Bad{Type::f16, 0b0000, "row 9, chunk 6: 0b0000 has no meaning"},
                           Bad{Type::tf32, 0b1001, "row 9, chunk 6: 0b1001 has no meaning"},
                           Bad{Type::s8, 0b1111, "row 9, chunk 6: 0b1111 has no meaning"}}) {
        Warpgroup group;
        const Case c{bad.type == Type::s8 ? Type::s32 : Type::f32, bad.type, bad.type, 0, true};
        const Reg metadata = group.put();
        const Fragment chunks = wgmma_metadata_chunks(dtype(bad.type));
        for (int thread = 0; thread < 128; ++thread)
            for (int i = 0; i < 8; ++i)
                group.word(metadata, thread) |=
                    (chunks.at(thread, i) == Fragment::Place{9, 6} ? bad.code : 0b0100U) << (4 * i);
        const isa::Step s =
            step("wgmma.mma_async.sp", form_of(c),
                 {Operand::of(group.put(8)), Operand::of(group.put(4)), Operand::immediate(2048 >> 4),
                  Operand::of(metadata), Operand::immediate(0)});
        CHECK_THROWS_WITH(s.op->run(s, group), ContainsSubstring(bad.message));
    }
}
