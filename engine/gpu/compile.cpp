#include "gpu/compile.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace wgrun::gpu {

std::string file_identity(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(path, ignored);
    struct stat status {};
    if (::stat(real.c_str(), &status) != 0) return real.string() + " is not there";
    // Size and time of the last write can be those of the file before; the time of the last change cannot.
    return fmt::format("{} {} {} {} {}.{} {}.{}", real.string(), status.st_dev, status.st_ino, status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                       status.st_ctim.tv_nsec);
}

std::string kernel_of(std::string_view text, std::string_view mark) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return {};
    for (at += mark.size(); (at = text.find('(', at)) != std::string_view::npos; ++at) {
        const std::size_t before = text.find_last_not_of(letters, at - 1) + 1;
        const std::string_view name = text.substr(before, at - before);
        if (!name.empty() && !name.starts_with("__")) return std::string(name);  // no attribute
    }
    return {};
}

std::string source_text(std::string_view text, std::string_view what) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw ArgumentError(fmt::format("the {} text is empty", what));
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
        throw ArgumentError(fmt::format("the {} text has a NUL byte at offset {}", what, at));
    return std::string(text);
}

}  // namespace wgrun::gpu
