#include "wgrun/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tensor/parallel.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::sparse {
namespace {

constexpr int block_rows = 64, threads = 128;
constexpr unsigned tf32_first = 0b0100, tf32_second = 0b1110;

/// The differences between the types.
struct Pattern {
    int instruction_k;
    int chunk, kept;
    bool narrow;  ///< 8-bit: all four lanes of a group hold different codes
};

Pattern pattern_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::f16:
        case Dtype::bf16: return {32, 4, 2, false};
        case Dtype::tf32: return {16, 2, 1, false};
        case Dtype::e4m3:
        case Dtype::e5m2:
        case Dtype::s8:
        case Dtype::u8: return {64, 4, 2, true};
        default:
            throw ArgumentError(
                fmt::format("sparse: there is no sparse wgmma for {}", to_string(dtype)),
                "one of f16, bf16, tf32, e4m3, e5m2, s8, u8 (t:convert changes the type of a tensor)");
    }
}

void check_matrix(const Tensor& t, std::int64_t row_multiple, std::int64_t k_multiple,
                  std::string_view what) {
    if (t.rank() == 2 && t.shape()[0] % row_multiple == 0 && t.shape()[1] % k_multiple == 0) return;
    throw ArgumentError(fmt::format("sparse.{}: {} is not a matrix {{m, k}}{}", what, to_string(t),
                                    row_multiple > 1 ? fmt::format(" with m a multiple of {} and k one of {}",
                                                                   row_multiple, k_multiple)
                                                     : fmt::format(" with k a multiple of {}", k_multiple)),
                        "pad it with zeros");
}

/// The place of a chunk's code in the words of a block: the thread, and the bits from 4 * code on.
struct Place {
    int thread, code;
};

/// The code of a row 0..63 and a chunk of one instruction, from the first of the two lanes that hold it.
Place place_of(bool narrow, int row, int chunk) {
    const int lane = 32 * (row / 16) + 4 * (row % 8), lower = row / 8 % 2;
    if (narrow) return {lane + 2 * (chunk / 8) + lower, chunk % 8};
    return {lane + chunk / 4, 4 * lower + chunk % 4};
}

/// The magnitude of an element as an integer that orders like it: bits without the sign, for s8 |x|.
template <class Word>
std::uint32_t magnitude(Word bits, Dtype dtype) {
    if constexpr (sizeof(Word) == 1) {
        if (dtype == Dtype::u8) return bits;
        if (dtype == Dtype::s8)
            return static_cast<std::uint32_t>(std::abs(static_cast<int>(static_cast<std::int8_t>(bits))));
    }
    constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    return static_cast<std::uint32_t>(bits & static_cast<Word>(~sign));
}

/// Calls f(Word{}) with the unsigned type as wide as an element.
template <class F>
void with_word(Dtype dtype, F f) {
    switch (bits(dtype)) {
        case 8: return f(std::uint8_t{});
        case 16: return f(std::uint16_t{});
        default: return f(std::uint32_t{});
    }
}

template <class Word>
Word* words(Tensor& t) {
    return reinterpret_cast<Word*>(t.data());
}
template <class Word>
const Word* words(const Tensor& t) {
    return reinterpret_cast<const Word*>(t.data());
}

template <class Word>
void prune_chunk(Word* chunk, const Pattern& pattern, Dtype dtype) {
    std::array<std::uint32_t, 4> size{};
    for (int i = 0; i < pattern.chunk; ++i) size[static_cast<std::size_t>(i)] = magnitude(chunk[i], dtype);
    for (int i = 0; i < pattern.chunk; ++i) {
        int larger = 0;  // the number of elements before element i that are kept
        for (int j = 0; j < pattern.chunk; ++j)
            larger += j < i ? size[static_cast<std::size_t>(j)] >= size[static_cast<std::size_t>(i)]
                            : size[static_cast<std::size_t>(j)] > size[static_cast<std::size_t>(i)];
        if (larger >= pattern.kept) chunk[i] = 0;
    }
}

/// The code of a chunk by which of its elements are not zero, 16 where there are too many. Fewer than are
/// kept: the first ones that are left over fill up.
constexpr std::array<std::uint8_t, 16> codes = [] {
    std::array<std::uint8_t, 16> out{};
    for (unsigned mask = 0; mask < 16; ++mask) {
        unsigned kept = mask;
        for (unsigned bit = 1; std::popcount(kept) < 2; bit <<= 1) kept |= bit;
        const unsigned first = static_cast<unsigned>(std::countr_zero(kept));
        const unsigned second = 3U - static_cast<unsigned>(std::countl_zero(kept << 28));
        out[mask] = static_cast<std::uint8_t>(std::popcount(kept) > 2 ? 16 : first | second << 2);
    }
    return out;
}();

unsigned code_of(const Pattern& pattern, unsigned mask) {
    if (pattern.kept == 2) return codes[mask];
    return mask == 3 ? 16 : mask == 2 ? tf32_second : tf32_first;
}

/// The elements that a code keeps; -1 without a meaning.
std::array<int, 2> kept_by(const Pattern& pattern, unsigned code) {
    if (pattern.kept == 1) {
        const int at = code == tf32_first ? 0 : code == tf32_second ? 1 : -1;
        return {at, at};
    }
    const int first = static_cast<int>(code & 3), second = static_cast<int>(code >> 2);
    return first == second ? std::array{-1, -1} : std::array{first, second};
}

/// Puts the code of a chunk into the words of a block of 64 rows, in either order.
struct CodeWriter {
    const Pattern& pattern;
    bool for_gemm;
    std::uint32_t* metadata;  ///< of the block

    void put(std::int64_t row, std::int64_t chunk, unsigned code) const {
        const int per_step = pattern.instruction_k / pattern.chunk;
        Place at =
            place_of(pattern.narrow, static_cast<int>(row % block_rows), static_cast<int>(chunk % per_step));
        std::int64_t step = chunk / per_step;
        if (for_gemm && !pattern.narrow) {
            at.thread += 2 * static_cast<int>(step % 2);
            step /= 2;
        }
        std::uint32_t& word = metadata[step * threads + at.thread];
        word = (word & ~(15U << (4 * at.code))) | code << (4 * at.code);
    }
};

template <class Word>
void compress_block(const Tensor& matrix, const Pattern& pattern, std::int64_t block, bool for_gemm,
                    Compressed& out) {
    const std::int64_t k = matrix.shape()[1], chunks = k / pattern.chunk;
    const std::int64_t words_of_block = out.metadata.shape()[1] * threads;
    const CodeWriter writer{pattern, for_gemm, words<std::uint32_t>(out.metadata) + block * words_of_block};
    const std::int64_t end = std::min((block + 1) * block_rows, matrix.shape()[0]);
    for (std::int64_t row = block * block_rows; row < end; ++row) {
        const Word* from = words<Word>(matrix) + row * k;
        Word* to = words<Word>(out.values) + row * k / 2;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk, from += pattern.chunk) {
            unsigned mask = 0;
            for (int i = 0; i < pattern.chunk; ++i)
                mask |= static_cast<unsigned>(magnitude(from[i], matrix.dtype()) != 0) << i;
            const unsigned code = code_of(pattern, mask);
            if (code > 15)
                throw rules::refusal(
                    rules::WG_SPARSE_03,
                    fmt::format("sparse.compress: row {}, chunk {} (columns {} to {}) has {} that are "
                                "not zero, {} are kept",
                                row, chunk, chunk * pattern.chunk, (chunk + 1) * pattern.chunk - 1,
                                count_of(std::popcount(mask), "element"), pattern.kept),
                    "wg.sparse.prune first");
            const auto [first, second] = kept_by(pattern, code);
            *to++ = from[first];
            if (pattern.kept == 2) *to++ = from[second];
            writer.put(row, chunk, code);
        }
    }
    if (pattern.narrow || for_gemm) return;
    for (std::int64_t thread = 0; thread < words_of_block; thread += 4)
        std::memcpy(writer.metadata + thread + 2, writer.metadata + thread, 2 * sizeof *writer.metadata);
}

/// Splits the work among the machine's cores by whole blocks of 64 rows.
template <class Work>
void for_blocks(std::int64_t blocks, std::int64_t items_of_one, Work work) {
    if (items_of_one == 0) return;
    for_parts(blocks * items_of_one, [&](int, std::int64_t begin, std::int64_t end) {
        // The block belongs to the part in which it begins.
        const auto from = (begin + items_of_one - 1) / items_of_one;
        const auto to = (end + items_of_one - 1) / items_of_one;
        for (std::int64_t block = from; block < to; ++block) work(block);
    });
}

void check_metadata(const Tensor& metadata) {
    if (metadata.dtype() == Dtype::u32 && metadata.rank() == 3 && metadata.shape()[2] == threads) return;
    throw ArgumentError(
        fmt::format("sparse metadata: {} does not have the shape that compress makes", to_string(metadata)),
        "u32 {m / 64, k / k of an instruction, 128}");
}

/// Calls visit(row, chunk along the whole K, code) for a block of 64 rows.
template <class Visit>
void for_codes(const Tensor& metadata, const Pattern& pattern, std::int64_t block, Visit visit) {
    const std::int64_t steps = metadata.shape()[1];
    const int per_step = pattern.instruction_k / pattern.chunk;
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto* step_words = words<std::uint32_t>(metadata) + (block * steps + step) * threads;
        for (int row = 0; row < block_rows; ++row)
            for (int chunk = 0; chunk < per_step; ++chunk) {
                const Place at = place_of(pattern.narrow, row, chunk);
                const auto code_in = [&](int thread) { return step_words[thread] >> (4 * at.code) & 15; };
                const unsigned code = code_in(at.thread);
                const std::int64_t in_matrix = block * block_rows + row, along = step * per_step + chunk;
                if (!pattern.narrow && code_in(at.thread + 2) != code)
                    throw rules::refusal(
                        rules::WG_SPARSE_02,
                        fmt::format("sparse metadata of row {}, chunk {}: 0b{:04b} for selector 0, "
                                    "0b{:04b} for selector 1",
                                    in_matrix, along, code, code_in(at.thread + 2)),
                        "the same words in both pairs of lanes");
                if (kept_by(pattern, code)[0] < 0)
                    throw rules::refusal(
                        rules::WG_SPARSE_01,
                        fmt::format("sparse metadata of row {}, chunk {}: 0b{:04b} has no meaning", in_matrix,
                                    along, code),
                        pattern.kept == 1
                            ? "0b0100 (element 0 is kept) or 0b1110 (element 1)"
                            : "two different indices, the first element's in the lower two bits");
                visit(in_matrix, along, code);
            }
    }
}

void compress_blocks(const Tensor& matrix, const Pattern& pattern, bool for_gemm, Compressed& out) {
    with_word(matrix.dtype(), [&](auto word) {
        for_blocks(out.metadata.shape()[0], block_rows * matrix.shape()[1], [&](std::int64_t block) {
            compress_block<decltype(word)>(matrix, pattern, block, for_gemm, out);
        });
    });
}

}  // namespace

int instruction_k(Dtype dtype) { return pattern_of(dtype).instruction_k; }

Tensor prune(const Tensor& matrix) {
    const Pattern pattern = pattern_of(matrix.dtype());
    check_matrix(matrix, 1, pattern.chunk, "prune");
    Tensor out = matrix.copy();
    with_word(matrix.dtype(), [&](auto word) {
        using Word = decltype(word);
        for_parts(out.items(), [&](int, std::int64_t begin, std::int64_t end) {
            for (std::int64_t at = begin; at < end; at += pattern.chunk)
                prune_chunk(words<Word>(out) + at, pattern, matrix.dtype());
        });
    });
    return out;
}

Compressed compress(const Tensor& matrix) {
    const Pattern pattern = pattern_of(matrix.dtype());
    check_matrix(matrix, block_rows, pattern.instruction_k, "compress");
    const std::int64_t m = matrix.shape()[0], k = matrix.shape()[1], blocks = m / block_rows;
    Compressed out{Tensor::zeros(matrix.dtype(), {m, k / 2}),
                   Tensor::zeros(Dtype::u32, {blocks, k / pattern.instruction_k, threads})};
    compress_blocks(matrix, pattern, false, out);
    return out;
}

Compressed compress_for_gemm(const Tensor& matrix) {
    const Pattern pattern = pattern_of(matrix.dtype());
    const std::int64_t bytes = bits(matrix.dtype()) / 8;
    check_matrix(matrix, 1, 32 / bytes, "compress");
    const std::int64_t m = matrix.shape()[0], k = matrix.shape()[1], round = 256 / bytes;
    const std::int64_t word_k = (pattern.narrow ? 1 : 2) * pattern.instruction_k;
    Compressed out{Tensor::zeros(matrix.dtype(), {m, k / 2}),
                   Tensor::zeros(Dtype::u32, {(m + block_rows - 1) / block_rows,
                                              (k + round - 1) / round * (round / word_k), threads})};
    std::fill_n(words<std::uint32_t>(out.metadata), out.metadata.items(), 0x44444444U);
    compress_blocks(matrix, pattern, true, out);
    return out;
}

void validate(const Tensor& metadata, Dtype dtype) {
    const Pattern pattern = pattern_of(dtype);
    check_metadata(metadata);
    for_blocks(metadata.shape()[0], metadata.shape()[1] * threads * 8, [&](std::int64_t block) {
        for_codes(metadata, pattern, block, [](std::int64_t, std::int64_t, unsigned) {});
    });
}

Tensor decompress(const Tensor& values, const Tensor& metadata) {
    const Pattern pattern = pattern_of(values.dtype());
    check_metadata(metadata);
    const std::int64_t m = metadata.shape()[0] * block_rows, k = metadata.shape()[1] * pattern.instruction_k;
    if (values.shape() != TensorShape{m, k / 2})
        throw ArgumentError(
            fmt::format("sparse.decompress: metadata {} belongs to values {{{}, {}}}, not to {}",
                        to_string(metadata), m, k / 2, to_string(values)));
    Tensor out = Tensor::zeros(values.dtype(), {m, k});
    with_word(values.dtype(), [&](auto word) {
        using Word = decltype(word);
        for_blocks(metadata.shape()[0], block_rows * k, [&](std::int64_t block) {
            for_codes(metadata, pattern, block, [&](std::int64_t row, std::int64_t chunk, unsigned code) {
                const Word* from = words<Word>(values) + row * k / 2 + chunk * pattern.kept;
                Word* to = words<Word>(out) + row * k + chunk * pattern.chunk;
                const std::array<int, 2> kept = kept_by(pattern, code);
                for (int i = 0; i < pattern.kept; ++i) to[kept[static_cast<std::size_t>(i)]] = from[i];
            });
        });
    });
    return out;
}

}  // namespace wgrun::sparse
