// Which canonical layout of wgmma a layout is. PTX ISA 9.7.15.5.1.2.1.3. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "wgrun/tile.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The result of identify: the canonical layout, or the nearest one and where it differs.
struct Identity {
    struct Difference {
        int row = 0;
        int k = 0;
        std::int64_t given = 0;     ///< byte offset at which the layout puts the element
        std::int64_t expected = 0;  ///< byte offset at which wgmma reads it
    };
    bool canonical = false;  ///< one descriptor per K step describes every element
    bool operand = false;    ///< canonical, and wgmma takes this type in this major-ness
    Major major = Major::k;
    SwizzleMode swizzle = SwizzleMode::none;
    int lbo = 0;  ///< bytes; 16 if it is not used
    int sbo = 0;  ///< bytes
    std::int64_t mismatches = 0;
    std::optional<Difference> difference;  ///< the first difference, if there is one
    std::string text;                      ///< the whole result in words
};

/// Identifies a layout (mn, k) -> element offset for elements of `dtype`. The swizzle may be written on
/// elements (Swizzle<3,3,3> for 16 bits) or, as the PTX ISA does, on bytes (Swizzle<3,4,3>). Throws
/// ArgumentError unless the layout has two modes, at most 2^21 elements and whole bytes.
Identity identify(const Layout& layout, Dtype dtype);

/// The canonical layout as the PTX ISA writes it: "Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))".
std::string canonical_form(Major major, SwizzleMode swizzle);

}  // namespace wgrun

#pragma GCC visibility pop
