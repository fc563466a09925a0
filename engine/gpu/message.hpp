// Plain values in sequence: the bodies of messages and answers between a process and its worker,
// which are the same program at both ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "gpu/channel.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

class Packer {
  public:
    Packer() {}  // NOLINT: initialising it would write zeros to all of it
    template <class T>
    Packer& put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        return append(&value, sizeof value);
    }
    /// Truncated if it does not fit.
    Packer& put_text(std::string_view text) {
        text = text.substr(0, std::min(text.size(), bytes_.size() / 4));
        put(text.size());
        return append(text.data(), text.size());
    }
    Packer& append(const void* data, std::size_t size) {
        if (size > bytes_.size() - used_)
            throw ArgumentError("the message to the worker process is too large");
        if (size > 0) std::memcpy(bytes_.data() + used_, data, size);
        used_ += size;
        return *this;
    }
    std::span<const std::byte> bytes() const { return {bytes_.data(), used_}; }

  private:
    std::size_t used_ = 0;
    std::array<std::byte, Channel::largest_message> bytes_;
};

class Unpacker {
  public:
    explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view get_text() {
        const std::span<const std::byte> text = take(get<std::size_t>());
        return {reinterpret_cast<const char*>(text.data()), text.size()};
    }
    std::span<const std::byte> take(std::size_t size) {
        if (size > rest_.size())
            throw EnvironmentError("EIO", "a message of the worker process is too short");
        const std::span<const std::byte> taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }

  private:
    std::span<const std::byte> rest_;
};

}  // namespace wgrun::gpu
