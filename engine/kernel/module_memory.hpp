// The variables of a foreign module on the simulator: all of its kernels, and all of their launches, see
// them.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace wgrun {

/// Functions may be called from several threads; who uses the bytes in several launches at once has the races
/// of his kernels.
class ModuleMemory {
  public:
    /// Makes a variable with these bytes, unless it is there.
    void declare(const std::string& name, const std::vector<std::byte>& bytes) {
        const std::scoped_lock lock(mutex_);
        variables_.try_emplace(name, bytes);
    }
    /// The bytes of a variable that was declared. They stay where they are.
    std::span<std::byte> find(const std::string& name) {
        const std::scoped_lock lock(mutex_);
        return variables_.at(name);
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::vector<std::byte>> variables_;
};

}  // namespace wgrun
