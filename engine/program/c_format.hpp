// The text that vprintf of CUDA C++ makes of a format and its values (CUDA C++ Programming Guide, Formatted
// Output).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wgrun {

/// Where vprintf finds what it prints: values lie one after the other, each aligned to its size.
class CValues {
  public:
    virtual ~CValues() = default;
    /// Returns the next value, of 4 or 8 bytes.
    virtual std::uint64_t next(int bytes) = 0;
    /// Returns the characters at an address up to a zero, `most` at most.
    virtual std::string text(std::uint64_t address, std::size_t most) = 0;
};

/// The longest text of a message, or of a string in it: as the device's own buffer has it.
inline constexpr std::size_t most_printed = std::size_t{1} << 20;

struct CPrinted {
    std::string text;
    std::uint32_t values = 0;  ///< that the format took
};

/// A conversion that is none is printed as it is; widths and precisions end at 4096.
CPrinted c_format(std::string_view format, CValues& values);

}  // namespace wgrun
