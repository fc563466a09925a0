// The colours of pictures, for light surroundings and for dark ones; those of cells also on terminals.
#pragma once

#include <array>
#include <cstdint>

namespace wgrun {

/// 0xRRGGBB, and the nearest of a terminal's 256 colours to `light`.
struct Shade {
    std::uint32_t light;  ///< behind black text
    std::uint32_t dark;   ///< behind white text
    int indexed;
};

inline constexpr std::array<Shade, 8> palette{{{0xa8d5ff, 0x1c4f80, 153},
                                               {0xffd6a8, 0x7d4710, 223},
                                               {0xb8f0b8, 0x1f612b, 157},
                                               {0xffb8c8, 0x86294a, 217},
                                               {0xd8c8ff, 0x503a8c, 183},
                                               {0xfff0a0, 0x66590a, 229},
                                               {0xa8ece8, 0x0e5f66, 159},
                                               {0xe0e0e0, 0x4c525a, 253}}};
inline constexpr std::array<Shade, 8> heat_palette{{{0xc8f0c8, 0x1f612b, 157},
                                                    {0xfff0a0, 0x5c5a0a, 229},
                                                    {0xffe080, 0x6b5208, 222},
                                                    {0xffc870, 0x7a4a08, 215},
                                                    {0xffa860, 0x86400c, 209},
                                                    {0xff8858, 0x923414, 203},
                                                    {0xff7860, 0x9c281c, 203},
                                                    {0xff6868, 0xa61c24, 203}}};

/// What is no cell, in the order of ink_palette.
enum class Ink : std::uint8_t { text, edge, paper, faint, frame, heavy_frame, arrow, arrow_text };
/// `edge` is the line around a cell, `faint` the names of rows and columns.
struct InkShade {
    std::uint32_t light;
    std::uint32_t dark;
};
inline constexpr std::array<InkShade, 8> ink_palette{{{0x111111, 0xf2f5f8},
                                                      {0x8a8a8a, 0x6b737d},
                                                      {0xffffff, 0x15191f},
                                                      {0x555555, 0xaeb7c2},
                                                      {0x222222, 0xc9d1da},
                                                      {0x000000, 0xffffff},
                                                      {0xc0142c, 0xff8a9a},
                                                      {0xa00c22, 0xffa3b0}}};

inline constexpr const Shade& shade_of(bool heat, int colour) {
    return (heat ? heat_palette : palette)[static_cast<std::size_t>(colour % 8)];
}

}  // namespace wgrun
