// Images as PNG files, for terminals.
#pragma once

#include <string>

#include "picture/raster.hpp"

namespace wgrun::repl {

/// A PNG file with a palette and one byte per pixel. Rows equal to the one above, and runs, take almost no
/// space; nothing else is compressed.
std::string to_png(const Image& image);

}  // namespace wgrun::repl
