#include "bindings/cli/input.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace wgrun::cli {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

}  // namespace

Unreadable::Unreadable(const std::string& name)
    : EnvironmentError("ENOENT", "cannot read " + name + ": " + std::strerror(errno)) {}

std::string contents(const std::string& name) {
    errno = 0;
    const std::unique_ptr<std::FILE, CloseFile> file(name == "-" ? stdin : std::fopen(name.c_str(), "rb"));
    std::string text;
    char piece[1 << 16];
    while (file != nullptr && std::ferror(file.get()) == 0) {
        const std::size_t read = std::fread(piece, 1, sizeof piece, file.get());
        text.append(piece, read);
        if (read == 0) break;
    }
    if (file == nullptr || std::ferror(file.get()) != 0) throw Unreadable(name);
    return text;
}

}  // namespace wgrun::cli
