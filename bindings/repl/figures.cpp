#include "bindings/repl/figures.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace wgrun::repl {
namespace {

constexpr int most_rows = 16;  // of a picture

std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        widest = std::max(widest, end);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return widest;
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

std::string figure(const Grid& whole, const View& view) {
    Grid grid = whole;
    grid.frames.clear();  // rules would take the place of rows
    grid.arrows.clear();
    const int rows = std::min(grid.rows, most_rows);
    const auto width = static_cast<std::size_t>(std::max(view.columns, 20));
    // The most columns that fit: widths grow with them.
    int low = 1, high = std::max(1, grid.columns);
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        Grid cut = corner(grid, rows, middle);
        cut.title.clear();  // title and axes may be longer, and do not matter for the columns
        cut.row_axis.clear();
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
