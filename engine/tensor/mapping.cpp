#include "tensor/mapping.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

EnvironmentError failure(const std::string& name, int error) {
    return EnvironmentError(error == ENOMEM ? "ENOMEM" : "EIO",
                            fmt::format("{}: {}", name, std::strerror(error)));
}

}  // namespace

std::uint64_t file_size(int descriptor, const std::string& name) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw failure(name, errno);
    return static_cast<std::uint64_t>(status.st_size);
}

std::shared_ptr<std::byte> map_file(int descriptor, std::uint64_t bytes, const std::string& name) {
    // Without NORESERVE the kernel refuses to map more than it could copy if every page were written.
    void* const at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (at == MAP_FAILED) throw failure(name, errno);
    return {static_cast<std::byte*>(at), [bytes](std::byte* start) { ::munmap(start, bytes); }};
}

}  // namespace wgrun
