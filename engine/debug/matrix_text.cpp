#include "debug/matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "number/number.hpp"

namespace wgrun::debugging {
namespace {

using isa::Reg;

constexpr int rows_shown = 16, columns_shown = 8;

/// The matrix product that a step computes.
struct ProductOf final : isa::Effects {
    explicit ProductOf(const Step& step) { isa::visit_effects(step, *this); }
    void issue_mma(const isa::AsyncMma& mma) override { async = mma; }
    void multiply(const isa::WarpMma& mma) override { warp = mma; }

    std::optional<isa::AsyncMma> async;
    std::optional<isa::WarpMma> warp;
};

std::optional<Dtype> dtype_of(isa::Type type) { return parse_dtype(isa::to_string(type)); }

/// For each list of registers that the step's product reads or writes.
template <class Visit>
void for_each_fragment(const Step& step, Visit visit) {
    const auto typed = [&](isa::Field field) { return dtype_of(step.form.type(field)); };
    const ProductOf product(step);
    if (const std::optional<isa::AsyncMma>& mma = product.async) {
        if (const auto d = typed(isa::Field::d))
            visit(*mma->accumulators, *d, [&] { return wgmma_d(*d, mma->rows_b); });
        if (const auto a = typed(isa::Field::a); a && mma->a_fragment != nullptr)
            visit(*mma->a_fragment, *a, [&] { return wgmma_a(*a); });
        return;
    }
    if (!product.warp) return;
    const auto a = typed(isa::Field::a), b = typed(isa::Field::b), d = typed(isa::Field::d);
    const int k = step.form.get(isa::Field::k);
    for (const std::vector<Reg>* list : {product.warp->d, product.warp->c})
        if (d && *d != Dtype::f16) visit(*list, *d, [&] { return mma_sync_c(); });
    if (a) visit(*product.warp->a, *a, [&] { return mma_sync_a(*a, k); });
    if (b) visit(*product.warp->b, *b, [&] { return mma_sync_b(*b, k); });
}

}  // namespace

std::string element_text(Dtype dtype, const std::byte* byte, int bit) {
    if (dtype == Dtype::b1) return (static_cast<unsigned>(*byte) >> bit & 1U) != 0 ? "1" : "0";
    double value = 0;
    decode(dtype, std::span(byte, static_cast<std::size_t>(bits(dtype) / 8)), std::span(&value, 1));
    return is_float(dtype) ? fmt::format("{:.5g}", value) : fmt::format("{:.0f}", value);
}

namespace {

/// A list in lines; the index of a line's first element stands before the colon.
std::string list_text(const Matrix& matrix) {
    constexpr int across = 16;
    std::vector<std::string> cells;
    std::size_t width = 0;
    for (int c = 0; c < matrix.columns; ++c)
        width = std::max(width, cells.emplace_back(matrix.at(0, c)).size());
    const std::size_t margin = fmt::format("{}", matrix.columns - 1).size();
    std::string out = fmt::format("{}, 1 x {}", matrix.title, matrix.columns);
    for (int c = 0; c < matrix.columns; ++c) {
        if (c % across == 0) out += fmt::format("\n{:>{}}:", c, margin);
        out += fmt::format(" {:>{}}", cells[static_cast<std::size_t>(c)], width);
    }
    return out + '\n';
}

}  // namespace

std::string to_text(const Matrix& matrix, bool whole) {
    if (whole && matrix.rows == 1 && matrix.columns > columns_shown) return list_text(matrix);
    const int rows = whole ? matrix.rows : std::min(matrix.rows, rows_shown);
    const int columns = whole ? matrix.columns : std::min(matrix.columns, columns_shown);
    std::vector<std::string> cells;
    std::size_t width = fmt::format("{}", matrix.columns - 1).size();
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) width = std::max(width, cells.emplace_back(matrix.at(r, c)).size());
    const std::size_t margin = fmt::format("{}", matrix.rows - 1).size();
    std::string out =
        fmt::format("{}, {} x {}\n{:{}}", matrix.title, matrix.rows, matrix.columns, "", margin + 1);
    const auto more = columns < matrix.columns ? " ..." : "";
    for (int c = 0; c < columns; ++c) out += fmt::format(" {:>{}}", c, width);
    out += more;
    for (int r = 0; r < rows; ++r) {
        out += fmt::format("\n{:>{}}:", r, margin);
        for (int c = 0; c < columns; ++c)
            out += fmt::format(" {:>{}}", cells[static_cast<std::size_t>(r * columns + c)], width);
        out += more;
    }
    if (rows < matrix.rows) out += "\n...";
    return out + '\n';
}

std::vector<FragmentUse> fragments_of(const Program& program, const std::vector<Reg>& regs) {
    // Each fragment is a run of these registers: where it starts, and which fragment it is.
    std::vector<std::optional<FragmentUse>> starts(regs.size());
    for_each_step(program, [&](const Step& step) {
        for_each_fragment(step, [&](const std::vector<Reg>& list, Dtype dtype, const auto& fragment) {
            if (list.empty() || list.size() > regs.size()) return;
            const auto found = std::ranges::find(regs, list.front());
            if (found == regs.end() || static_cast<std::size_t>(regs.end() - found) < list.size() ||
                !std::equal(list.begin(), list.end(), found))
                return;
            auto& start = starts[static_cast<std::size_t>(found - regs.begin())];
            if (!start) start = FragmentUse{fragment(), dtype, list};
        });
    });
    std::vector<FragmentUse> out;
    for (std::size_t i = 0; i < regs.size(); i += out.back().regs.size()) {
        if (!starts[i]) return {};
        out.push_back(*starts[i]);
    }
    return out;
}

std::vector<Matrix> matrices_of(const std::vector<FragmentUse>& uses, int first, const LanesOf& lanes) {
    const auto matrix = [&](const FragmentUse& use) {
        // A copy of the values: what is shown later must not change.
        const Fragment& f = use.fragment;
        std::vector<std::string> texts(static_cast<std::size_t>(f.rows) *
                                       static_cast<std::size_t>(f.columns));
        const int width = 32 / f.per_register;
        for (int thread = 0; thread < f.threads(); ++thread)
            for (int value = 0; value < f.values(); ++value) {
                const Reg reg = use.regs[static_cast<std::size_t>(value / f.per_register)];
                std::uint32_t word = 0;
                std::memcpy(&word, lanes(first + thread / isa::lanes, reg) + thread % isa::lanes * 4,
                            sizeof word);
                word >>= value % f.per_register * width;
                const auto [row, column] = f.at(thread, value);
                texts[static_cast<std::size_t>(row * f.columns + column)] =
                    element_text(use.dtype, reinterpret_cast<const std::byte*>(&word));
            }
        return Matrix{fmt::format("{}, {}", f.name, to_string(use.dtype)), f.rows, f.columns,
                      [texts = std::move(texts), columns = f.columns](int r, int c) {
                          return texts[static_cast<std::size_t>(r * columns + c)];
                      }};
    };
    std::vector<Matrix> out;
    for (const FragmentUse& use : uses) out.push_back(matrix(use));
    return out;
}

Matrix matrix_of(const SharedBuffer& buffer, int stage, std::span<const std::byte> shared) {
    const Tile& tile = *buffer.tile;
    const std::int64_t start = buffer.offset + std::int64_t{stage} * tile.bytes();
    const std::int64_t stages = buffer.bytes / tile.bytes();
    return {fmt::format("`{}`{}, {} {}-major {}", buffer.name, stages > 1 ? fmt::format("[{}]", stage) : "",
                        to_string(tile.dtype()), tile.major() == Major::k ? "K" : "MN",
                        to_string(tile.swizzle())),
            tile.mn(), tile.k(), [&tile, start, shared](int r, int c) {
                const std::int64_t at = start + tile.offset(r, c);
                return element_text(tile.dtype(), shared.data() + at, (tile.major() == Major::k ? c : r) % 8);
            }};
}

Matrix matrix_of(const std::string& name, const Tensor& tensor) {
    const auto& shape = tensor.shape();
    const int columns = shape.empty() ? 1 : static_cast<int>(shape.back());
    const auto rows = static_cast<int>(columns == 0 ? 0 : tensor.items() / columns);
    return {fmt::format("`{}`, {}", name, to_string(tensor.dtype())), rows, columns,
            [&tensor, columns](int r, int c) {
                const std::int64_t bit = (std::int64_t{r} * columns + c) * bits(tensor.dtype());
                return element_text(tensor.dtype(), tensor.data() + bit / 8, static_cast<int>(bit % 8));
            }};
}

}  // namespace wgrun::debugging
