// Images as PNG files, for terminals.
#pragma once

#include <string>

#include "layout/raster.hpp"

namespace wgrun::repl {

/// A file with a palette and one byte a pixel. Rows that are as the one above, and runs, take next to
/// nothing; nothing else is compressed.
std::string to_png(const Image& image);

}  // namespace wgrun::repl
