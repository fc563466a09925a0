#include "wgrun/fragment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

/// Types of wgmma's and mma.sync's A and B, without b1's exclusion from sparsity.
void check_operand(Dtype dtype, bool sparse) {
    switch (dtype) {
        case Dtype::b1:
            if (!sparse) return;
            throw ArgumentError("there is no sparse wgmma of b1",
                                "one of f16, bf16, tf32, e4m3, e5m2, s8, u8");
        case Dtype::f16:
        case Dtype::bf16:
        case Dtype::tf32:
        case Dtype::e4m3:
        case Dtype::e5m2:
        case Dtype::s8:
        case Dtype::u8: return;
        default:
            throw ArgumentError(fmt::format("{} is not a type of a tensor core's A or B", to_string(dtype)),
                                "one of f16, bf16, tf32, e4m3, e5m2, s8, u8, b1");
    }
}

/// (e, ...):(s, ...) without the modes of extent 1; a single one stays a leaf.
Layout values(std::initializer_list<Layout::Mode> modes) {
    std::vector<IntTuple> shape;
    std::vector<IntTuple> stride;
    for (const auto& [extent, step] : modes) {
        if (extent == 1) continue;
        shape.emplace_back(extent);
        stride.emplace_back(step);
    }
    if (shape.empty()) return {1, 0};
    if (shape.size() == 1) return {shape[0], stride[0]};
    return {std::move(shape), std::move(stride)};
}

Layout thread_values(const Layout& threads, const Layout& values) {
    return {IntTuple{threads.shape(), values.shape()}, IntTuple{threads.stride(), values.stride()}};
}

/// Rows g and g+8 of 8 x 4 lanes that hold `run` consecutive columns each; `halves` such groups along K.
Fragment operand(std::string name, int rows, int run, int halves, bool two_rows) {
    const int step = rows * run;  // from a lane to the next, along K
    const Layout lanes = rows == 64 ? Layout(IntTuple{4, 8, 4}, IntTuple{step, 1, 16})
                                    : Layout(IntTuple{4, 8}, IntTuple{step, 1});
    const Layout held = values({{run, rows}, {two_rows ? 2 : 1, 8}, {halves, std::int64_t{4} * step}});
    return {std::move(name), thread_values(lanes, held), rows, 4 * run * halves, 1};
}

int mma_halves(Dtype dtype, int k) {
    check_operand(dtype, false);
    const int run = 32 / bits(dtype);
    if (k != 4 * run && k != 8 * run)
        throw ArgumentError(fmt::format("mma.sync m16n8k{} of {}: no such shape", k, to_string(dtype)),
                            fmt::format("k = {} or k = {}", 4 * run, 8 * run));
    return k / (4 * run);
}

/// A mode of a layout without its nesting.
struct Leaf {
    std::int64_t extent, stride;
    std::int64_t step;  ///< of the index of its side
    bool of_thread;     ///< or else of the value
};

/// Returns the thread and the value at which `tv` is `index`, if each of its modes is larger than all smaller
/// ones together: the digits of the index, as in a mixed radix. Modes of stride 0 have digit 0, so that it is
/// the first.
std::optional<Fragment::Owner> digits(const Layout& tv, std::int64_t index) {
    std::vector<Leaf> leaves;
    for (const bool of_thread : {true, false}) {
        const Layout side = tv.mode(of_thread ? 0 : 1);
        const std::vector<std::int64_t> extents = side.shape().leaves(), strides = side.stride().leaves();
        std::int64_t step = 1;
        for (std::size_t i = 0; i < extents.size(); step *= extents[i++])
            if (strides[i] != 0) leaves.push_back({extents[i], strides[i], step, of_thread});
    }
    std::ranges::sort(leaves, {}, &Leaf::stride);
    std::int64_t reach = 0;
    for (const Leaf& leaf : leaves) {
        if (leaf.stride <= reach) return std::nullopt;
        reach += (leaf.extent - 1) * leaf.stride;
    }
    std::int64_t thread = 0, value = 0;
    std::ranges::reverse(leaves);
    for (const Leaf& leaf : leaves) {
        const std::int64_t digit = std::min(index / leaf.stride, leaf.extent - 1);
        index -= digit * leaf.stride;
        (leaf.of_thread ? thread : value) += digit * leaf.step;
    }
    if (index != 0) return std::nullopt;
    return Fragment::Owner{static_cast<int>(thread), static_cast<int>(value)};
}

}  // namespace

Fragment::Place Fragment::at(int thread, int value) const {
    if (thread < 0 || thread >= threads() || value < 0 || value >= values())
        throw ArgumentError(fmt::format("{}: no value {} of thread {}", name, value, thread),
                            fmt::format("threads 0 .. {}, values 0 .. {}", threads() - 1, values() - 1));
    const auto index = static_cast<int>(tv(thread, value));
    return {index % rows, index / rows};
}

Fragment::Owner Fragment::owner(int row, int column) const {
    if (row < 0 || row >= rows || column < 0 || column >= columns)
        throw ArgumentError(fmt::format("{}: no element ({}, {})", name, row, column),
                            fmt::format("rows 0 .. {}, columns 0 .. {}", rows - 1, columns - 1));
    if (const auto found = digits(tv, row + std::int64_t{column} * rows)) return *found;
    for (int thread = 0; thread < threads(); ++thread)
        for (int value = 0; value < values(); ++value)
            if (at(thread, value) == Place{row, column}) return {thread, value};
    throw ArgumentError(fmt::format("{}: no thread holds element ({}, {})", name, row, column));
}

Layout Fragment::inverse() const {
    if (tv.size() != std::int64_t{rows} * columns)
        throw ArgumentError(fmt::format("{}: {} for {}, so no inverse", name, count_of(tv.size(), "value"),
                                        count_of(std::int64_t{rows} * columns, "element")),
                            "owner(row, column) gives the first thread that holds an element");
    return composition(right_inverse(tv), Layout(IntTuple{rows, columns}));
}

Fragment wgmma_d(Dtype d, int n) {
    if (d != Dtype::f32 && d != Dtype::s32 && d != Dtype::f16)
        throw ArgumentError(fmt::format("wgmma D of {}: no such accumulator", to_string(d)),
                            "one of f32, s32, f16");
    if (n < 8 || n > 256 || n % 8 != 0)
        throw ArgumentError(fmt::format("wgmma D of 64x{}: n must be 8, 16, ... 256", n),
                            "a multiple of 8 up to 256");
    return {fmt::format("wgmma D {} 64x{}", to_string(d), n),
            Layout(IntTuple{IntTuple{4, 8, 4}, IntTuple{2, 2, n / 8}},
                   IntTuple{IntTuple{128, 1, 16}, IntTuple{64, 8, 512}}),
            64, n, d == Dtype::f16 ? 2 : 1};
}

Fragment wgmma_a(Dtype a) {
    check_operand(a, false);
    const int run = 32 / bits(a);
    Fragment out = operand(fmt::format("wgmma A {} 64x{}", to_string(a), 8 * run), 64, run, 2, true);
    out.per_register = run;
    return out;
}

Fragment wgmma_sparse_a(Dtype a) {
    check_operand(a, true);
    const int run = 2 * 32 / bits(a);
    Fragment out =
        operand(fmt::format("sparse wgmma A {} 64x{} (logical)", to_string(a), 8 * run), 64, run, 2, true);
    out.per_register = run;
    return out;
}

Fragment wgmma_metadata(Dtype a) {
    check_operand(a, true);
    const int k = 512 / bits(a);
    const std::string name = fmt::format("sparse wgmma metadata {} 64x{}", to_string(a), k);
    if (bits(a) == 8)
        return {name,
                Layout(IntTuple{IntTuple{2, 2, 8, 4}, IntTuple{32}},
                       IntTuple{IntTuple{8, 64 * 32, 1, 16}, IntTuple{64}}),
                64, k, 32};
    // Lanes q = 0, 1 hold the two halves of K for rows g and g+8; lanes 2, 3 the same for the other selector.
    return {name,
            Layout(IntTuple{IntTuple{2, 2, 8, 4}, IntTuple{k / 2, 2}},
                   IntTuple{IntTuple{64 * k / 2, 0, 1, 16}, IntTuple{64, 8}}),
            64, k, k};
}

Fragment wgmma_metadata_chunks(Dtype a) {
    const Fragment elements = wgmma_metadata(a);
    const int chunk = a == Dtype::tf32 ? 2 : 4;
    const int chunks = elements.columns / chunk;
    const std::string name = fmt::format("sparse wgmma metadata {} 64x{} chunks", to_string(a), chunks);
    if (bits(a) == 8)
        return {name, Layout(IntTuple{IntTuple{2, 2, 8, 4}, 8}, IntTuple{IntTuple{8, 64 * 8, 1, 16}, 64}), 64,
                chunks, 8};
    return {name,
            Layout(IntTuple{IntTuple{2, 2, 8, 4}, IntTuple{4, 2}},
                   IntTuple{IntTuple{64 * 4, 0, 1, 16}, IntTuple{64, 8}}),
            64, chunks, 8};
}

Fragment mma_sync_a(Dtype a, int k) {
    const int halves = mma_halves(a, k);
    const int run = 32 / bits(a);
    Fragment out = operand(fmt::format("mma.sync A {} 16x{}", to_string(a), k), 16, run, halves, true);
    out.per_register = run;
    return out;
}

Fragment mma_sync_b(Dtype b, int k) {
    const int halves = mma_halves(b, k);
    const int run = 32 / bits(b);
    Fragment out = operand(fmt::format("mma.sync B {} 8x{}", to_string(b), k), 8, run, halves, false);
    out.per_register = run;
    return out;
}

Fragment mma_sync_c() { return operand("mma.sync C 16x8", 16, 2, 1, true); }

namespace {

Fragment eight_by_eight(std::string_view instruction, int matrices, bool trans) {
    if (matrices != 1 && matrices != 2 && matrices != 4)
        throw ArgumentError(fmt::format("{} .x{}: no such form", instruction, matrices),
                            "1, 2 or 4 matrices");
    const int rows = 8 * matrices;
    const Layout lanes =
        trans ? Layout(IntTuple{4, 8}, IntTuple{2, rows}) : Layout(IntTuple{4, 8}, IntTuple{2 * rows, 1});
    const Layout held = values({{2, trans ? 1 : rows}, {matrices, 8}});
    return {fmt::format("{} .x{}{}", instruction, matrices, trans ? ".trans" : ""),
            thread_values(lanes, held), rows, 8, 2};
}

}  // namespace

Fragment ldmatrix(int matrices, bool trans) { return eight_by_eight("ldmatrix", matrices, trans); }
Fragment stmatrix(int matrices, bool trans) { return eight_by_eight("stmatrix", matrices, trans); }

}  // namespace wgrun
