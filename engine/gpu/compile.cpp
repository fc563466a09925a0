#include "gpu/compile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace wgrun::gpu {

std::string file_identity(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path real = fs::canonical(path, ignored);
    return fmt::format("{} {} {}", real.string(), fs::file_size(real, ignored),
                       fs::last_write_time(real, ignored).time_since_epoch().count());
}

std::string source_text(std::string_view text, std::string_view what) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw ArgumentError(fmt::format("the {} text is empty", what));
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
        throw ArgumentError(fmt::format("the {} text has a NUL byte at offset {}", what, at));
    return std::string(text);
}

}  // namespace wgrun::gpu
