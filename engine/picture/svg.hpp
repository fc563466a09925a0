// Shared by SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace wgrun::svg {

/// The characters that XML gives a meaning as entities.
std::string escaped(std::string_view text);

}  // namespace wgrun::svg
