#include "bindings/lua/tensor_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace wgrun::lua {
namespace {

constexpr std::int64_t edge = 4;      // rows of a matrix at either end, if not all are shown
constexpr std::int64_t matrices = 3;  // of a tensor with more than two dimensions

std::string cell_text(const Tensor& tensor, std::int64_t position) {
    const double value = tensor.get(position);
    return is_float(tensor.dtype()) ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

// The indices shown of an extent: all of them, or `count` at either end with -1 between.
std::vector<std::int64_t> shown(std::int64_t extent, std::int64_t count) {
    std::vector<std::int64_t> out;
    const bool all = extent <= 2 * count + 1;
    for (std::int64_t i = 0; i < (all ? extent : count); ++i) out.push_back(i);
    if (all) return out;
    out.push_back(-1);
    for (std::int64_t i = extent - count; i < extent; ++i) out.push_back(i);
    return out;
}

// The matrix of rows x columns whose first element is at `start`.
std::string lines_of(const Tensor& tensor, std::int64_t start, std::int64_t rows, std::int64_t columns,
                     int width) {
    const std::vector<std::int64_t> row_list = shown(rows, edge);
    // As many columns as fit; their width is that of the widest possible element.
    constexpr std::int64_t most = 16;
    std::vector<std::int64_t> column_list = shown(columns, most / 2);
    std::vector<std::vector<std::string>> cells;
    std::size_t cell = 1;
    for (const std::int64_t row : row_list) {
        cells.emplace_back();
        for (const std::int64_t column : column_list) {
            const bool there = row >= 0 && column >= 0;
            cells.back().push_back(there ? cell_text(tensor, start + row * columns + column) : "...");
            cell = std::max(cell, cells.back().back().size());
        }
    }
    const auto fit = std::max<std::size_t>(1, (static_cast<std::size_t>(width) - 2) / (cell + 1));
    const std::size_t have = column_list.size();
    // Columns go from the middle outwards; one of the dots stays.
    const std::size_t left = have <= fit ? have : (fit - 1) - (fit - 1) / 2;
    const std::size_t right = have <= fit ? have : have - (fit - 1) / 2;
    std::string out;
    for (std::size_t row = 0; row < cells.size(); ++row) {
        out += ' ';
        for (std::size_t i = 0; i < have; ++i) {
            if (i >= left && i < right) {
                if (i == left) out += fmt::format(" {:>{}}", "...", cell);
                continue;
            }
            out += fmt::format(" {:>{}}", cells[row][i], cell);
        }
        out += '\n';
    }
    return out;
}

}  // namespace

std::string text_of_tensor(const Tensor& tensor, int width) {
    std::string out = to_string(tensor) + '\n';
    if (tensor.items() == 0) return to_string(tensor);
    const TensorShape& shape = tensor.shape();
    const std::int64_t columns = shape.empty() ? 1 : shape.back();
    const std::int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    const std::int64_t count = tensor.items() / (rows * columns);
    for (std::int64_t i = 0; i < std::min(count, matrices); ++i) {
        if (shape.size() > 2) {
            std::string place;
            std::int64_t rest = i;
            for (std::size_t d = shape.size() - 2; d-- > 0; rest /= shape[d])
                place = fmt::format("{}, ", rest % shape[d]) + place;
            out += fmt::format("[{}:, :]\n", place);
        }
        out += lines_of(tensor, i * rows * columns, rows, columns, width);
    }
    if (count > matrices) out += fmt::format("... {} more matrices\n", count - matrices);
    out.pop_back();  // the last newline
    return out;
}

}  // namespace wgrun::lua
