#include "bindings/repl/figures.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace wgrun::repl {
namespace {

constexpr int most_rows = 16;         // of a picture
constexpr std::int64_t edge = 4;      // rows of a matrix at either end, if not all are shown
constexpr std::int64_t matrices = 3;  // of a tensor with more than two dimensions

Grid corner(const Grid& grid, int rows, int columns) {
    Grid out;
    out.title = grid.title;
    out.heat = grid.heat;
    out.rows = rows;
    out.columns = columns;
    const auto first = [](const auto& list, int count) {
        return std::vector(list.begin(), list.begin() + std::min<std::ptrdiff_t>(count, std::ssize(list)));
    };
    out.row_names = first(grid.row_names, rows);
    out.column_names = first(grid.column_names, columns);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            out.cells.push_back(
                grid.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                           static_cast<std::size_t>(column)]);
    return out;
}

std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        widest = std::max(widest, end);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return widest;
}

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

void count_steps(const Program& program, int& total, std::map<std::string_view, int>& notable) {
    for_each_step(program, [&](const Step& step) {
        ++total;
        if (isa::asynchronous(step)) ++notable[step.op->name];
    });
}

std::string type_of(const Param& param) {
    if (param.box) return "tensor map";
    if (!param.pointee) return std::string(isa::to_string(param.type));
    return fmt::format("{}{}*", param.constant ? "const " : "", to_string(*param.pointee));
}

}  // namespace

std::string figure(const Grid& grid, const View& view) {
    const int rows = std::min(grid.rows, most_rows);
    const auto width = static_cast<std::size_t>(std::max(view.columns, 20));
    // The most columns that fit: widths grow with them.
    int low = 1, high = std::max(1, grid.columns);
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        Grid cut = corner(grid, rows, middle);
        cut.title.clear();  // may be longer, and does not matter for the columns
        if (widest_line(to_text(cut)) <= width)
            low = middle;
        else
            high = middle - 1;
    }
    const int columns = std::min(low, grid.columns);
    std::string out = to_text(corner(grid, rows, columns), view.colour);
    if (columns < grid.columns || rows < grid.rows)
        out += fmt::format("... {} x {} of {} x {}: `:print()` shows all\n", rows, columns, grid.rows,
                           grid.columns);
    return out;
}

std::string matrix(const Tensor& tensor, const View& view) {
    std::string out = to_string(tensor) + '\n';
    if (tensor.items() == 0) return out;
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
        out += lines_of(tensor, i * rows * columns, rows, columns, view.columns);
    }
    if (count > matrices) out += fmt::format("... {} more matrices\n", count - matrices);
    return out;
}

std::string summary(const Program& program) {
    const Dim3 cluster = program.cluster();
    std::string out = fmt::format("kernel {}: {}", program.name(), count_of(program.threads(), "thread"));
    if (cluster.x * cluster.y * cluster.z > 1)
        out += fmt::format(", clusters of {} x {} x {}", cluster.x, cluster.y, cluster.z);
    out += fmt::format(", {} of shared memory\n", count_of(program.shared_bytes(), "byte"));
    std::size_t name = 0;
    for (const Param& param : program.params()) name = std::max(name, param.name.size());
    for (const SharedBuffer& buffer : program.shared()) name = std::max(name, buffer.name.size());
    for (const Param& param : program.params())
        out += fmt::format("  parameter  {:<{}}  {}\n", param.name, name, type_of(param));
    for (const SharedBuffer& buffer : program.shared())
        out += fmt::format("  shared     {:<{}}  {} at {}\n", buffer.name, name,
                           count_of(buffer.bytes, "byte"), buffer.offset);
    int total = 0;
    std::map<std::string_view, int> notable;
    count_steps(program, total, notable);
    out += fmt::format("  {}", count_of(total, "instruction"));
    for (const auto& [op, count] : notable) out += fmt::format(", {} {}", count, op);
    return out + '\n';
}

}  // namespace wgrun::repl
