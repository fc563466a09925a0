// wgmma: the asynchronous warpgroup matrix multiply, and what orders it. PTX ISA 9.7.15.
#include <algorithm>
#include <bit>
#include <vector>

#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "number/number.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

constexpr int rows_of_a = 64;

// --- the legal forms (9.7.15.5, and what ptxas 13.0 accepts: the ISA's list of integer N stops at 224)
// --------

const Choice n_float{Field::n, {{8, 256, 8}}, {}};
const Choice n_integer{Field::n, {{8, 32, 8}, {48, 256, 16}}, {}};
const Choice m64 = among(Field::m, {64}, 64);

Row form(std::initializer_list<Type> d, std::initializer_list<Type> a, std::initializer_list<Type> b, int k,
         Choice n, std::vector<Choice> tail, PtxVersion version = {8, 0}) {
    Row row{{m64, n, among(Field::k, {k}, k), types(Field::d, d), types(Field::a, a), types(Field::b, b)},
            version};
    row.choices.insert(row.choices.end(), tail.begin(), tail.end());
    return row;
}

const Choice in_shared = spelled_as(Field::a_in, {"shared"}, "shared");
const Choice in_registers = spelled_as(Field::a_in, {"registers"});
const Choice scale_a = among(Field::scale_a, {-1, 1}, 1), scale_b = among(Field::scale_b, {-1, 1}, 1);
const Choice trans_a = among(Field::trans_a, {0, 1}, 0), trans_b = among(Field::trans_b, {0, 1}, 0);

/// Both places of A. Only 16-bit operands have transpose immediates, and only for matrices in shared memory.
void add_float(std::vector<Row>& rows, std::initializer_list<Type> d, std::initializer_list<Type> a,
               std::initializer_list<Type> b, int k, bool transposes) {
    std::vector<Choice> shared{in_shared, scale_a, scale_b}, registers{in_registers, scale_a, scale_b};
    if (transposes) {
        shared.insert(shared.end(), {trans_a, trans_b});
        registers.push_back(trans_b);
    }
    rows.push_back(form(d, a, b, k, n_float, shared));
    rows.push_back(form(d, a, b, k, n_float, registers));
}

void add_integer(std::vector<Row>& rows, Type a, Type b, int k, bool saturates, PtxVersion version) {
    for (const Choice& place : {in_shared, in_registers}) {
        std::vector<Choice> tail{place};
        if (saturates)
            tail.push_back(flag(Field::satfinite));
        else
            tail.push_back(spelled_as(Field::op, {"and.popc"}));
        rows.push_back(form({s32}, {a}, {b}, k, n_integer, tail, version));
    }
}

std::vector<Row> dense_rows() {
    std::vector<Row> rows;
    add_float(rows, {f16, f32}, {f16}, {f16}, 16, true);
    add_float(rows, {f32}, {bf16}, {bf16}, 16, true);
    add_float(rows, {f32}, {tf32}, {tf32}, 8, false);
    add_float(rows, {f16, f32}, {e4m3, e5m2}, {e4m3, e5m2}, 32, false);
    add_integer(rows, s8, s8, 32, true, {8, 0});
    add_integer(rows, u8, u8, 32, true, {8, 0});
    add_integer(rows, s8, u8, 32, true, {8, 4});
    add_integer(rows, u8, s8, 32, true, {8, 4});
    add_integer(rows, b1, b1, 256, false, {8, 0});
    return rows;
}

// --- operands
// --------------------------------------------------------------------------------------------------

Type accumulator_type(const Form& form) { return form.type(Field::d) == f16 ? f16x2 : form.type(Field::d); }
int accumulator_count(const Form& form) { return form.get(Field::n) / (form.type(Field::d) == f16 ? 4 : 2); }
/// A descriptor, or four registers that hold a fragment.
int a_count(const Form& form) { return form.get(Field::a_in) == 0 ? 1 : 4; }
Type a_type(const Form& form) {
    if (form.get(Field::a_in) == 0) return u64;
    return is_float(form.type(Field::a)) ? f16x2 : b32;  // floats are packed bits too, never an f32
}

void infer_place_of_a(std::span<const Operand> operands, Form& form) {
    if (!form.has(Field::a_in)) form.set(Field::a_in, operands[1].kind == Operand::Kind::list ? 1 : 0);
}

AsyncMma describe(const Step& s) {
    const Operand& a = s.operands[1];
    const bool fragment = a.kind == Operand::Kind::list;
    const Operand& scale_d = s.operands[3];
    AsyncMma mma{};
    mma.accumulators = &s.operands[0].list;
    mma.a_fragment = fragment ? &a.list : nullptr;
    mma.a_descriptor = fragment ? nullptr : &a;
    mma.b_descriptor = &s.operands[2];
    mma.reads_accumulators = scale_d.kind != Operand::Kind::imm || scale_d.imm != 0;
    mma.rows_a = rows_of_a;
    mma.rows_b = s.form.get(Field::n);
    mma.element_bits_a = bits(s.form.type(Field::a));
    mma.element_bits_b = bits(s.form.type(Field::b));
    mma.k_bytes = s.form.get(Field::k) * mma.element_bits_a / 8;
    mma.a_mn_major = s.form.get(Field::trans_a, 0) == 1;
    mma.b_mn_major = s.form.get(Field::trans_b, 0) == 1;
    mma.same_shape_key = s.form.get(Field::n) * 1024 + s.form.get(Field::k);
    return mma;
}

// --- meaning
// ---------------------------------------------------------------------------------------------------

Dtype dtype(Type type) {
    switch (type) {
        case f16: return Dtype::f16;
        case bf16: return Dtype::bf16;
        case tf32: return Dtype::tf32;
        case e4m3: return Dtype::e4m3;
        case e5m2: return Dtype::e5m2;
        case s8: return Dtype::s8;
        case u8: return Dtype::u8;
        default: return Dtype::b1;
    }
}

/// Scratch of one host thread: operand matrices as they are multiplied.
struct Scratch {
    std::vector<std::uint32_t> units;  // addresses of 16-byte units
    std::vector<std::byte> line;       // one line as stored
    std::vector<float> decoded;        // one line as numbers
    std::vector<float> a, b;           // [64][k], [k][n]
};

/// Reads a matrix of `rows` x `k` elements through its descriptor; put(row, k, value) for each element.
/// `warps_of(row)` tells which warps read that row.
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
        decode(type, scratch.line, std::span<float>(scratch.decoded));
        for (int i = 0; i < along; ++i)
            major == Major::k ? put(line, i, scratch.decoded[static_cast<std::size_t>(i)])
                              : put(i, line, scratch.decoded[static_cast<std::size_t>(i)]);
    }
}

std::uint64_t descriptor_of(Machine& m, const Operand& operand) {
    return operand.kind == Operand::Kind::imm ? static_cast<std::uint64_t>(operand.imm)
                                              : read<std::uint64_t>(m, operand)[0];
}

void read_a(const Step& s, Machine& m, Scratch& scratch) {
    const int k = s.form.get(Field::k);
    const Dtype type = dtype(s.form.type(Field::a));
    const float scale = static_cast<float>(s.form.get(Field::scale_a, 1));
    scratch.a.assign(static_cast<std::size_t>(rows_of_a * k), 0);
    const auto put = [&](int row, int col, float value) {
        scratch.a[static_cast<std::size_t>(row * k + col)] = scale * value;
    };
    const Operand& a = s.operands[1];
    if (a.kind != Operand::Kind::list) {
        const Major major = s.form.get(Field::trans_a, 0) ? Major::mn : Major::k;
        m.select(0);
        read_matrix(
            m, descriptor_of(m, a), major, type, rows_of_a, k, scratch,
            [](int row) { return 1U << (row / 16); }, put);
        return;
    }
    // Fragment: register r of lane l holds E elements of row 16w + l/4 + 8(r%2), columns 4E(r/2) + E(l%4)..
    // (9.7.15.5.1)
    const int per_register = 32 / bits(type);
    std::vector<float> values(static_cast<std::size_t>(per_register));
    for (int w = 0; w < 4; ++w) {
        m.select(w);
        for (int r = 0; r < 4; ++r) {
            const auto* word =
                static_cast<const std::uint32_t*>(m.async_read(a.list[static_cast<std::size_t>(r)]));
            for (int l = 0; l < lanes; ++l) {
                decode(type, std::as_bytes(std::span(word + l, 1)), std::span<float>(values));
                for (int j = 0; j < per_register; ++j)
                    put(16 * w + l / 4 + 8 * (r % 2), 4 * per_register * (r / 2) + per_register * (l % 4) + j,
                        values[static_cast<std::size_t>(j)]);
            }
        }
    }
}

void read_b(const Step& s, Machine& m, Scratch& scratch) {
    const int k = s.form.get(Field::k), n = s.form.get(Field::n);
    const float scale = static_cast<float>(s.form.get(Field::scale_b, 1));
    scratch.b.assign(static_cast<std::size_t>(k * n), 0);
    const Major major = s.form.get(Field::trans_b, 0) ? Major::mn : Major::k;
    m.select(0);
    read_matrix(
        m, descriptor_of(m, s.operands[2]), major, dtype(s.form.type(Field::b)), n, k, scratch,
        [](int) { return 15U; },
        [&](int row, int col, float value) {
            scratch.b[static_cast<std::size_t>(col * n + row)] = scale * value;
        });
}

/// sum[0..n) += A[row][0..k) * B. Products of the 16-bit and smaller formats are exact in binary32; the sums
/// are rounded to binary32 in the order of k. Integer sums stay below 2^24 within one instruction, so floats
/// hold them exactly too.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void multiply_row(const float* a, const float* b, int k, int n, float* sum) {
    for (int i = 0; i < k; ++i) {
        const float factor = a[i];
        const float* line = b + static_cast<std::ptrdiff_t>(i) * n;
        for (int j = 0; j < n; ++j) sum[j] += factor * line[j];
    }
}

std::int32_t add_integer(std::int32_t d, float sum, bool saturate) {
    const std::int64_t exact = std::int64_t{d} + static_cast<std::int64_t>(sum);
    return static_cast<std::int32_t>(saturate ? std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX)
                                              : exact);
}

/// One accumulator element as it lies in its register: f16 D packs two neighbours, the others have one each.
class Accumulator {
  public:
    Accumulator(const Step& s, Machine& m, int warp)
        : half_(s.form.type(Field::d) == f16),
          sat_(s.form.get(Field::satfinite, 0) == 1),
          integer_(s.form.type(Field::d) == s32) {
        m.select(warp);
        for (Reg reg : s.operands[0].list) {
            // Reads come first: with scale-d = 0 the old contents do not matter and may be unwritten.
            words_.push_back(static_cast<std::uint32_t*>(m.async_write(reg)));
        }
    }
    std::uint32_t& word(int col, int high_row, int lane) {
        const int pair = 2 * (col / 8) + high_row;
        return words_[static_cast<std::size_t>(half_ ? pair : 2 * pair + col % 2)][lane];
    }
    float get(int col, int high_row, int lane) {
        const std::uint32_t bits = word(col, high_row, lane);
        return half_ ? from_f16(static_cast<std::uint16_t>(bits >> 16 * (col % 2)))
                     : std::bit_cast<float>(bits);
    }
    void put(int col, int high_row, int lane, float sum, bool keep) {
        std::uint32_t& bits = word(col, high_row, lane);
        if (integer_) {
            bits = std::bit_cast<std::uint32_t>(
                add_integer(keep ? std::bit_cast<std::int32_t>(bits) : 0, sum, sat_));
        } else if (half_) {
            const int shift = 16 * (col % 2);
            bits = (bits & ~(0xFFFFU << shift)) | std::uint32_t{to_f16(sum)} << shift;
        } else {
            bits = std::bit_cast<std::uint32_t>(sum);
        }
    }
    bool is_integer() const { return integer_; }

  private:
    bool half_, sat_, integer_;
    std::vector<std::uint32_t*> words_;
};

void run_mma(const Step& s, Machine& m) {
    thread_local Scratch scratch;
    const int k = s.form.get(Field::k), n = s.form.get(Field::n);
    const AsyncMma mma = describe(s);
    m.begin_mma(mma);
    read_a(s, m, scratch);
    read_b(s, m, scratch);
    std::vector<float> sum(static_cast<std::size_t>(n));
    for (int w = 0; w < 4; ++w) {
        m.select(w);
        const Operand& scale_d = s.operands[3];
        const bool keep =
            scale_d.kind == Operand::Kind::imm ? scale_d.imm != 0 : read<std::uint32_t>(m, scale_d)[0] != 0;
        Accumulator acc(s, m, w);
        for (int row = 0; row < 16; ++row) {
            const int high = row / 8;
            for (int j = 0; j < n; ++j)
                sum[static_cast<std::size_t>(j)] =
                    keep && !acc.is_integer() ? acc.get(j, high, 4 * (row % 8) + j % 8 / 2) : 0;
            multiply_row(scratch.a.data() + static_cast<std::ptrdiff_t>((16 * w + row) * k), scratch.b.data(),
                         k, n, sum.data());
            for (int j = 0; j < n; ++j)
                acc.put(j, high, 4 * (row % 8) + j % 8 / 2, sum[static_cast<std::size_t>(j)], keep);
        }
    }
    m.end_mma();
}

const std::vector<Instruction> records{
    {.name = "wgmma.fence",
     .summary = "orders earlier register accesses of the warpgroup before its later wgmma",
     .section = "9.7.15.7.1",
     .rows = {{{}, {8, 0}}},
     .operands = {},
     .ptx = "wgmma.fence.sync.aligned",
     .taken_by = Participants::warpgroup,
     .writes_memory = true,
     .effects = [](const Step&, Effects& e) { e.order_registers(); },
     .run = [](const Step&, Machine& m) { m.order_registers(); }},
    {.name = "wgmma.mma_async",
     .summary =
         "D = A * B + D of a warpgroup, asynchronously: D and maybe A in registers, B in shared memory",
     .section = "9.7.15.5.2",
     .rows = dense_rows(),
     .operands = {{"d", Access::inout, Rule::list, accumulator_type, accumulator_count, false, {}, {}},
                  {"a", Access::in, Rule::reg | Rule::imm | Rule::list, a_type, a_count, false, {}, {}},
                  {"b", Access::in, Rule::reg | Rule::imm, fixed<u64>, nullptr, false, {}, {}},
                  {"scale_d", Access::in, Rule::reg | Rule::imm, fixed<pred>, nullptr, true, 1, Range{0, 1}}},
     .ptx =
         "wgmma.mma_async.sync.aligned.m{m}n{n}k{k}{.satfinite}{.d}{.a}{.b}{.op} {%d}, {%a}, {%b}, {%scale_d}"
         "{,scale_a}{,scale_b}{,trans_a}{,trans_b}",
     .taken_by = Participants::warpgroup,
     .collective = true,
     .writes_memory = true,
     .infer = infer_place_of_a,
     .effects = [](const Step& s, Effects& e) { e.issue_mma(describe(s)); },
     .run = run_mma},
    {.name = "wgmma.commit_group",
     .summary = "puts all uncommitted wgmma of the warp into a new wgmma-group",
     .section = "9.7.15.7.2",
     .rows = {{{}, {8, 0}}},
     .operands = {},
     .ptx = "wgmma.commit_group.sync.aligned",
     .taken_by = Participants::warpgroup,
     .writes_memory = true,
     .effects = [](const Step&, Effects& e) { e.commit_mma(); },
     .run = [](const Step&, Machine& m) { m.commit_mma(); }},
    {.name = "wgmma.wait_group",
     .summary = "waits until at most N of the most recent wgmma-groups are pending",
     .section = "9.7.15.7.3",
     .rows = {{{}, {8, 0}}},
     .operands = {{"n", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, INT32_MAX}}},
     .ptx = "wgmma.wait_group.sync.aligned {%n}",
     .taken_by = Participants::warpgroup,
     .writes_memory = true,
     .effects = [](const Step& s, Effects& e) { e.wait_mma(static_cast<int>(s.operands[0].imm)); },
     .run = [](const Step& s, Machine& m) { m.wait_mma(static_cast<int>(s.operands[0].imm)); }},
};

}  // namespace

std::span<const Instruction> wgmma_family() { return records; }

}  // namespace wgrun::isa
