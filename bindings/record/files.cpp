#include "bindings/record/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

namespace wgrun::record {

namespace {

/// A file's name has at most 255 bytes; mangled names have thousands.
constexpr std::size_t most_name = 200;

void write(const std::filesystem::path& path, std::initializer_list<std::span<const char>> parts) {
    std::ofstream out(path, std::ios::binary);
    for (const std::span<const char> part : parts)
        out.write(part.data(), static_cast<std::streamsize>(part.size()));
    if (!out.flush()) throw std::runtime_error(path.string() + " cannot be written");
}

/// Whether the file did not exist, and is made. Other processes of the program choose names, too.
bool made(const std::filesystem::path& path) {
    constexpr unsigned everybody = 0666;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everybody);
    if (file >= 0) return ::close(file) == 0;
    if (errno != EEXIST) throw std::system_error(errno, std::generic_category(), path.string());
    return false;
}

}  // namespace

Files::Files(const std::filesystem::path& folder, std::string_view kernel) {
    const std::string name(kernel.substr(0, most_name));
    launch_ = folder / (name + ".json");
    for (int i = 2; !made(launch_); ++i) launch_ = folder / (name + "." + std::to_string(i) + ".json");
}

std::filesystem::path Files::beside(std::string_view ending) const {
    std::filesystem::path out = launch_;
    return out.replace_extension() += ending;
}

void Files::write_launch(std::string_view json) const { write(launch_, {json}); }

void Files::write_text(std::string_view ptx) const { write(beside(".ptx"), {ptx}); }

std::string Files::write_array(std::string_view name, std::span<const char> bytes) const {
    // numpy's format 1.0: the data begin on a multiple of 64.
    constexpr std::size_t unit = 64;
    constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
    std::string header =
        "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(bytes.size()) + ",)}";
    const std::size_t before = magic.size() + 2;
    header.resize((before + header.size() + unit) / unit * unit - before, ' ');
    header.back() = '\n';
    const char length[] = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    const std::filesystem::path path = beside("." + std::string(name) + ".npy");
    write(path, {magic, length, header, bytes});
    return path.filename().string();
}

}  // namespace wgrun::record
