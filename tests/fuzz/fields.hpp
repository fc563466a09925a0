// The bytes of an input as numbers.
#pragma once

#include <algorithm>
#include <cstring>

#include "tests/fuzz/bodies.hpp"

namespace wgrun::fuzz {

/// Fields from the input; zeros behind its end.
class Fields {
  public:
    explicit Fields(Bytes bytes) : bytes_(bytes) {}

    template <class T>
    T next() {
        T value{};
        const std::size_t count = std::min(sizeof(T), bytes_.size());
        if (count > 0) std::memcpy(&value, bytes_.data(), count);
        bytes_ = bytes_.subspan(count);
        return value;
    }

    /// Mostly small, sometimes any.
    std::int64_t number() {
        const auto kind = next<std::uint8_t>();
        return kind < 240 ? static_cast<std::int64_t>(kind % 16) - 4 : next<std::int64_t>();
    }

    std::size_t below(std::size_t count) { return next<std::uint8_t>() % count; }

  private:
    Bytes bytes_;
};

}  // namespace wgrun::fuzz
