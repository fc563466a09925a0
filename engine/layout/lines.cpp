#include "layout/lines.hpp"

#include <fmt/format.h>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

UnitLines unit_lines(const Layout& layout, int element_bits, std::string_view what) {
    const auto refuse = [&](const std::string& why, const std::string& fix) {
        throw ArgumentError(fmt::format("{} of {}: {}", what, layout.to_string(), why), fix);
    };
    if (layout.rank() != 2) refuse("a matrix has two modes", "one mode of rows and one of columns");
    if (element_bits != 1 && element_bits != 8 && element_bits != 16 && element_bits != 32)
        refuse(fmt::format("elements of {}", count_of(element_bits, "bit")), "1, 8, 16 or 32 bits");
    const std::vector<std::int64_t> offsets = layout.offsets();
    const auto rows = static_cast<int>(layout.mode(0).size());
    const auto columns = static_cast<int>(layout.mode(1).size());
    const auto at = [&](int row, int column) {
        return offsets[static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
                       static_cast<std::size_t>(row)];
    };
    const int unit = 128 / element_bits;  // elements
    UnitLines out;
    out.along_rows = columns == 1 || (rows > 1 && at(1, 0) - at(0, 0) == 1);
    const int length = out.along_rows ? rows : columns;
    out.lines = out.along_rows ? columns : rows;
    out.units = length / unit;
    if (length % unit != 0)
        refuse(fmt::format("lines of {}", count_of(length, "element")),
               fmt::format("a multiple of {} (16 bytes)", unit));
    const std::int64_t most = (std::int64_t{1} << 32) / 16 * unit;
    for (int line = 0; line < out.lines; ++line)
        for (int i = 0; i < length; ++i) {
            const std::int64_t offset = out.along_rows ? at(i, line) : at(line, i);
            const std::int64_t first = offset - i % unit;
            if (i % unit == 0 && first >= 0 && first < most && first % unit == 0) {
                out.addresses.push_back(static_cast<std::uint32_t>(first / unit * 16));
            } else if (i % unit == 0 || first / unit * 16 != out.addresses.back() || first % unit != 0) {
                refuse(
                    fmt::format("element {} of line {} is at offset {}: its 16-byte unit is not contiguous "
                                "and aligned",
                                i, line, offset),
                    "a layout that keeps 16-byte units together");
            }
        }
    return out;
}

}  // namespace wgrun
