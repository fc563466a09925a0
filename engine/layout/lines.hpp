// A matrix of shared memory as lines of 16-byte units.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wgrun/layout.hpp"

namespace wgrun {

/// Lines run along the contiguous dimension; a unit is 16 bytes of one.
struct UnitLines {
    bool along_rows = false;  ///< mode 0 is the contiguous one
    int lines = 0;
    int units = 0;                         ///< of a line
    std::vector<std::uint32_t> addresses;  ///< bytes: of unit u of line l at [l * units + u]

    std::uint32_t address(int line, int unit) const {
        return addresses[static_cast<std::size_t>(line) * static_cast<std::size_t>(units) +
                         static_cast<std::size_t>(unit)];
    }
};

/// The lines of a layout (row, column) -> element offset; elements have `element_bits` bits (1, 8, 16 or 32).
/// `what` begins the messages: throws ArgumentError where a unit is not contiguous and aligned, with the
/// first place where it breaks.
UnitLines unit_lines(const Layout& layout, int element_bits, std::string_view what);

}  // namespace wgrun
