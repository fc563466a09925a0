// Global memory that has no value since discard.L2 (PTX ISA 9.7.9.17), until it is written again.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "sim/shadow.hpp"

namespace wgrun::sim {

/// The bytes that the clusters of a launch have discarded. Thread-safe.
class Discarded {
  public:
    /// Who has discarded a byte.
    struct By {
        std::uint32_t cluster;
        Epoch step;
    };
    void add(std::uint64_t address, std::uint64_t bytes, By by) {
        const std::lock_guard lock(mutex_);
        for (std::uint64_t at = address; at < address + bytes; ++at) bytes_.insert_or_assign(at, by);
    }
    void written(std::uint64_t address, std::uint64_t bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes_.empty()) return;
        for (std::uint64_t at = address; at < address + bytes; ++at) bytes_.erase(at);
    }
    /// Returns who has discarded the first of these bytes that has no value.
    std::optional<By> find(std::uint64_t address, std::uint64_t bytes) const {
        const std::lock_guard lock(mutex_);
        if (bytes_.empty()) return std::nullopt;
        for (std::uint64_t at = address; at < address + bytes; ++at)
            if (const auto found = bytes_.find(at); found != bytes_.end()) return found->second;
        return std::nullopt;
    }

  private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, By> bytes_;  ///< by address
};

}  // namespace wgrun::sim
