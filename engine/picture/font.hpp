// The letters of pictures in pixels: X11's fonts 7x13 and 7x13B ("Public domain font. Share and enjoy."), the
// printable characters of ASCII.
#pragma once

#include <array>
#include <cstdint>

namespace wgrun {

/// Rows from the top; bit 6 is the leftmost pixel. The base line is below row 10.
using Glyph = std::array<std::uint8_t, 13>;
inline constexpr int glyph_width = 7;
inline constexpr int glyph_ascent = 11;

/// Of the characters from ' ' to '~'.
extern const std::array<Glyph, 95> font;
extern const std::array<Glyph, 95> bold_font;

}  // namespace wgrun
