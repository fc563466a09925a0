// The meaning of a wgmma: operands from registers and, through their descriptors, from shared memory;
// metadata of a sparse A; and the sums. PTX ISA 9.7.15.5 and 9.7.15.6.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>

#include "isa/lanes.hpp"
#include "isa/sparse.hpp"
#include "isa/wgmma.hpp"
#include "number/number.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

/// Of elements, of which instructions and tensors have the same names. Throws ArgumentError for types that
/// are none of elements.
Dtype dtype(Type type) { return dtype_named(to_string(type)); }

/// Memory that begins with a cache line. The loops over rows of B and D use the widest vectors of the host:
/// each load of one that crosses a line costs two, a tenth of a simulation's time.
template <class T>
struct FromLine {
    using value_type = T;
    static constexpr std::align_val_t line{64};
    FromLine() = default;
    template <class U>
    FromLine(const FromLine<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
    void deallocate(T* at, std::size_t) { ::operator delete(at, line); }
    bool operator==(const FromLine&) const = default;
};
template <class T>
using LineAligned = std::vector<T, FromLine<T>>;

/// Scratch space of one host thread: operand matrices for the multiplication.
struct Scratch {
    std::vector<std::uint32_t> units;  // addresses of 16-byte units
    std::vector<std::byte> line;       // one line as stored
    std::vector<float> decoded;        // one line as numbers
    std::vector<float> a;              // [64][stored k]
    LineAligned<float> b;              // [k][n]
    std::vector<int> k_of_a;           // [64][stored k]: the k of a stored element
    std::vector<int> a_exponents, b_exponents;
    LineAligned<float> integers;  // sums of a row of D
    LineAligned<double> sums;
};

/// Reads a matrix of `rows` x `k` elements through its descriptor and calls put(row, k, value) for each
/// element. `warps_of(row)` returns the warps that read that row.
template <class Put, class WarpsOf>
void read_matrix(Machine& m, std::uint64_t descriptor_bits, Major major, Dtype type, int rows, int k,
                 Scratch& scratch, WarpsOf warps_of, Put put) {
    const Descriptor descriptor = Descriptor::decode(descriptor_bits);
    const int along = major == Major::k ? k : rows, lines = major == Major::k ? rows : k;
    const int per_unit = 128 / bits(type), units = (along + per_unit - 1) / per_unit;
    scratch.units.resize(static_cast<std::size_t>(lines) * static_cast<std::size_t>(units));
    walk_units(descriptor, major, lines, units, scratch.units);
    scratch.line.resize(static_cast<std::size_t>(units) * 16);
    scratch.decoded.resize(static_cast<std::size_t>(units * per_unit));
    for (int line = 0; line < lines; ++line) {
        for (int u = 0; u < units; ++u) {
            const int first_row = major == Major::k ? line : u * per_unit;
            const std::uint32_t address = scratch.units[static_cast<std::size_t>(line * units + u)];
            std::memcpy(scratch.line.data() + u * 16, m.async_read_shared(address, 16, warps_of(first_row)),
                        16);
        }
        if (!m.computes_products()) continue;
        decode(type, scratch.line, std::span<float>(scratch.decoded));
        for (int i = 0; i < along; ++i)
            major == Major::k ? put(line, i, scratch.decoded[static_cast<std::size_t>(i)])
                              : put(i, line, scratch.decoded[static_cast<std::size_t>(i)]);
    }
}

/// Returns the value of an operand that all threads of the warpgroup share, or refuses.
template <class T>
T common(Machine& m, const Operand& operand, std::string_view name) {
    if (operand.kind == Operand::Kind::imm) return static_cast<T>(operand.imm);
    std::optional<T> first;
    for (int w = 0; w < warps_of_group; ++w) {
        m.select(w);
        const Lanes<T> values = read<T>(m, operand);
        for (int lane = 0; lane < lanes; ++lane) {
            if (!first) first = values[lane];
            if (values[lane] != *first)
                throw rules::refusal(
                    rules::WG_DESC_05,
                    fmt::format("{} is {:#x} in thread 0 of the warpgroup, but {:#x} in thread {}", name,
                                *first, values[lane], w * lanes + lane),
                    "make it of values that are the same in the whole warpgroup");
        }
    }
    return *first;
}

/// Reads A as it is stored: a sparse A has half of its columns.
void read_a(const Step& s, const AsyncMma& mma, Machine& m, Scratch& scratch) {
    const Type of_a = s.form.type(Field::a);
    const Dtype type = dtype(of_a);
    const int k = mma.k_bytes_a * 8 / bits(type);
    const float scale = static_cast<float>(s.form.get(Field::scale_a, 1));
    if (m.computes_products()) scratch.a.assign(static_cast<std::size_t>(rows_of_a * k), 0);
    const auto put = [&](int row, int col, float value) {
        scratch.a[static_cast<std::size_t>(row * k + col)] = scale * value;
    };
    if (mma.a_descriptor) {
        const auto descriptor = common<std::uint64_t>(m, *mma.a_descriptor, "the descriptor of A");
        if (!m.describe_matrix(mma, 'A', descriptor)) return;
        m.select(0);
        read_matrix(
            m, descriptor, mma.a_mn_major ? Major::mn : Major::k, type, rows_of_a, k, scratch,
            [](int row) { return 1U << (row / 16); }, put);
        return;
    }
    // Fragment: register r of lane l holds E elements of row 16w + l/4 + 8(r%2), columns 4E(r/2) + E(l%4)..
    // (9.7.15.5.1)
    const int per_register = 32 / bits(type);
    std::vector<float> values(static_cast<std::size_t>(per_register));
    for (int w = 0; w < warps_of_group; ++w) {
        m.select(w);
        for (int r = 0; r < 4; ++r) {
            const auto* word = static_cast<const std::uint32_t*>(
                m.async_read((*mma.a_fragment)[static_cast<std::size_t>(r)], ~Mask{0}));
            if (!m.computes_products()) continue;
            for (int l = 0; l < lanes; ++l) {
                decode(type, std::as_bytes(std::span(word + l, 1)), std::span<float>(values));
                for (int j = 0; j < per_register; ++j)
                    put(16 * w + l / 4 + 8 * (r % 2), 4 * per_register * (r / 2) + per_register * (l % 4) + j,
                        values[static_cast<std::size_t>(j)]);
            }
        }
    }
}

void read_b(const Step& s, const AsyncMma& mma, Machine& m, Scratch& scratch) {
    const int k = s.form.get(Field::k), n = s.form.get(Field::n);
    const float scale = static_cast<float>(s.form.get(Field::scale_b, 1));
    if (m.computes_products()) scratch.b.assign(static_cast<std::size_t>(k * n), 0);
    const auto descriptor = common<std::uint64_t>(m, *mma.b_descriptor, "the descriptor of B");
    if (!m.describe_matrix(mma, 'B', descriptor)) return;
    m.select(0);
    read_matrix(
        m, descriptor, mma.b_mn_major ? Major::mn : Major::k, dtype(s.form.type(Field::b)), n, k, scratch,
        [](int) { return 15U; },
        [&](int row, int col, float value) {
            scratch.b[static_cast<std::size_t>(col * n + row)] = scale * value;
        });
}

/// Reads the metadata of a sparse A (9.7.15.6.2): a lane's word has eight codes. 8-bit types: lane q of four
/// has the chunks 8(q/2) .. of row 16w + l/4 + 8(q%2). Wider ones: the lanes 2sel + p have the chunks 4p ..
/// of rows 16w + l/4 (lower half) and 8 below (upper half).
void read_metadata(const Step& s, Reg metadata, int stored, Machine& m, Scratch& scratch) {
    const Type a = s.form.type(Field::a);
    const int selector = s.form.get(Field::sp_sel);
    const bool narrow = bits(a) == 8;
    const Mask pairs = selector == 0 ? 0x33333333 : 0xCCCCCCCC;
    Chunks chunks(a, scratch.k_of_a, rows_of_a, stored);
    for (int w = 0; w < warps_of_group; ++w) {
        m.select(w);
        const auto* words =
            static_cast<const std::uint32_t*>(m.async_read(metadata, narrow ? ~Mask{0} : pairs));
        for (int l = 0; l < lanes; ++l) {
            const int q = l % 4, row = 16 * w + l / 4;
            if (!narrow && q / 2 != selector) continue;
            for (int i = 0; i < 8; ++i) {
                const unsigned code = words[l] >> (4 * i) & 15;
                if (narrow)
                    chunks.put(row + 8 * (q % 2), 8 * (q / 2) + i, code);
                else
                    chunks.put(row + 8 * (i / 4), 4 * (q % 2) + i % 4, code);
            }
        }
    }
}

std::int32_t add_integer(std::int32_t d, float sum, bool saturate) {
    const std::int64_t exact = std::int64_t{d} + static_cast<std::int64_t>(sum);
    return static_cast<std::int32_t>(saturate ? std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX)
                                              : exact);
}

/// One accumulator element as it is in its register: f16 D packs two neighbours, the others have one each.
class Accumulator {
  public:
    Accumulator(const Step& s, const AsyncMma& mma, Machine& m, int warp, bool keep)
        : half_(s.form.type(Field::d) == f16), sat_(s.form.get(Field::satfinite, 0) == 1), keep_(keep) {
        m.select(warp);
        for (Reg reg : *mma.accumulators) {
            // Without scale-d the old contents do not matter and may be unwritten.
            if (keep_) m.async_read(reg, ~Mask{0});
            words_.push_back(static_cast<std::uint32_t*>(m.async_write(reg)));
        }
    }
    /// Gets what a row of 16 held, as numbers; zeros without scale-d.
    void get(int row, std::span<double> out) const {
        if (!keep_) {
            std::ranges::fill(out, 0);
            return;
        }
        for_each_word(row, out.size(), [&](std::size_t j, const std::uint32_t& bits) {
            if (half_) {
                out[j] = from_f16(static_cast<std::uint16_t>(bits));
                out[j + 1] = from_f16(static_cast<std::uint16_t>(bits >> 16));
            } else {
                out[j] = std::bit_cast<float>(bits);
            }
        });
    }
    /// What the old contents leave behind: themselves with scale-d, and else zeros.
    void clear() const {
        if (keep_) return;
        for (std::uint32_t* word : words_) std::fill_n(word, lanes, 0U);
    }
    void put(int row, std::span<const double> sums) {
        for_each_word(row, sums.size(), [&](std::size_t j, std::uint32_t& bits) {
            bits = half_ ? to_f16(sums[j]) | std::uint32_t{to_f16(sums[j + 1])} << 16
                         : std::bit_cast<std::uint32_t>(static_cast<float>(sums[j]));
        });
    }
    void add(int row, std::span<const float> sums) {
        for_each_word(row, sums.size(), [&](std::size_t j, std::uint32_t& bits) {
            bits = std::bit_cast<std::uint32_t>(
                add_integer(keep_ ? std::bit_cast<std::int32_t>(bits) : 0, sums[j], sat_));
        });
    }

  private:
    /// Calls f(first column, word) for the words of a row of 16: f16 D has two neighbours in one, and of the
    /// others the odd columns are in a register of their own (9.7.15.5.1).
    template <class F>
    void for_each_word(int row, std::size_t columns, F f) const {
        const int first_lane = 4 * (row % 8), half = row / 8;
        for (std::size_t first = 0; first < columns; first += 8) {
            const std::size_t pair = first / 4 + static_cast<std::size_t>(half);
            for (int q = 0; q < 4; ++q) {
                const std::size_t j = first + 2 * static_cast<std::size_t>(q);
                const int lane = first_lane + q;
                if (half_) {
                    f(j, words_[pair][lane]);
                } else {
                    f(j, words_[2 * pair][lane]);
                    f(j + 1, words_[2 * pair + 1][lane]);
                }
            }
        }
    }

    bool half_, sat_, keep_;
    std::vector<std::uint32_t*> words_;
};

}  // namespace

void run_mma(const Step& s, const AsyncMma& mma, Machine& m) {
    thread_local Scratch scratch;
    for (const Field operand : {Field::a, Field::b}) static_cast<void>(dtype(s.form.type(operand)));
    const Type type = s.form.type(Field::a), d = s.form.type(Field::d);
    const auto stored = static_cast<std::size_t>(mma.k_bytes_a * 8 / mma.element_bits_a);
    const auto n = static_cast<std::size_t>(mma.rows_b);
    m.begin_mma(mma);
    read_a(s, mma, m, scratch);
    read_b(s, mma, m, scratch);
    if (mma.metadata) {
        read_metadata(s, mma.metadata->reg, static_cast<int>(stored), m, scratch);
    } else if (m.computes_products()) {
        scratch.k_of_a.resize(rows_of_a * stored);
        for (std::size_t i = 0; i < scratch.k_of_a.size(); ++i)
            scratch.k_of_a[i] = static_cast<int>(i % stored);
    }

    const bool keep = common<std::uint32_t>(m, s.operands.back(), "scale-d") != 0;
    if (!m.computes_products()) {
        // The accumulators are read and written, and hold what they would if A were zero.
        for (int w = 0; w < warps_of_group; ++w) Accumulator(s, mma, m, w, keep).clear();
        return m.end_mma();
    }
    const Numerics numerics = m.numerics();
    const bool aligned = d != s32 && numerics.model != Numerics::Model::exact;
    const Accumulation model =
        numerics.model == Numerics::Model::given ? numerics.given : accumulation_of_h200(type);
    MatrixB b{scratch.b, mma.rows_b};
    if (aligned) {
        scratch.a_exponents.resize(scratch.a.size());
        exponents(type, scratch.a, scratch.a_exponents);
        scratch.b_exponents.resize(scratch.b.size());
        exponents(s.form.type(Field::b), scratch.b, scratch.b_exponents);
        b.exponents = scratch.b_exponents;
    }
    scratch.sums.resize(n);
    for (int w = 0; w < warps_of_group; ++w) {
        Accumulator acc(s, mma, m, w, keep);
        for (int row = 0; row < 16; ++row) {
            const std::size_t first = static_cast<std::size_t>(16 * w + row) * stored;
            const RowOfA a{std::span(scratch.a).subspan(first, stored),
                           std::span(scratch.k_of_a).subspan(first, stored)};
            if (d == s32) {
                scratch.integers.assign(n, 0);
                add_products(a, b, std::span(scratch.integers));
                acc.add(row, scratch.integers);
                continue;
            }
            acc.get(row, scratch.sums);
            if (aligned)
                add_aligned(model, d, a, std::span(scratch.a_exponents).subspan(first, stored), b,
                            scratch.sums);
            else
                add_products(a, b, std::span(scratch.sums));
            acc.put(row, scratch.sums);
        }
    }
    m.end_mma();
}

}  // namespace wgrun::isa
