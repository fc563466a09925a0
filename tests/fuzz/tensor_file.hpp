// Fuzzed bytes as a file of tensors.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fuzz/bodies.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun::fuzz {

/// The bytes as a file, which needs no disk.
class File {
  public:
    explicit File(Bytes bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        if (descriptor_ < 0 ||
            ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
            throw std::runtime_error("no memory for a file");
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

inline void expect(bool holds, const std::string& what) {
    if (!holds) throw Broken(what);
}

/// Runs `f`; a refusal has words, and they begin with the file's name.
template <class F>
bool taken(const std::string& path, F f) {
    try {
        f();
        return true;
    } catch (const Error& error) {
        expect(std::string_view(error.what()).starts_with(path), "a refusal that does not name the file");
        return false;
    }
}

/// Mapped and read, a tensor is the same; its ends can be read and written.
inline void look(Tensor& mapped, Tensor& read) {
    expect(mapped.shape() == read.shape() && mapped.dtype() == read.dtype(), "mapped and read differ");
    if (mapped.size_bytes() > 0)
        expect(std::equal(mapped.bytes().begin(), mapped.bytes().end(), read.bytes().begin()),
               "mapped and read differ");
    for (Tensor* t : {&mapped, &read})
        if (t->items() > 0) {
            t->get(t->items() - 1);
            t->set(0, 1);
            t->set(t->items() - 1, 1);
        }
}

}  // namespace wgrun::fuzz
