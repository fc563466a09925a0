// Programmatic dependent launch: a launch may begin when the threads of the one before it have executed
// griddepcontrol.launch_dependents, and knows its memory after griddepcontrol.wait (PTX ISA 9.7.13.13). The
// simulator runs launches one after the other and compares what they access.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::sim {

/// The global memory, as the host sees it, that a launch has written, or has read after the next one may have
/// begun. Thread-safe.
class Touched {
  public:
    explicit Touched(std::string kernel) : kernel_(std::move(kernel)) {}

    const std::string& kernel() const { return kernel_; }

    void add(bool write, const std::byte* place, std::uint64_t bytes, Where where);

    /// A step of that launch, and whether it writes.
    struct Step {
        bool writes;
        Where where;
    };
    /// Returns a step that touched one of the bytes, and that a write, or with `write` false a read, must not
    /// meet: of several the first by line. Nothing: there is none.
    std::optional<Step> meets(bool write, const std::byte* place, std::uint64_t bytes) const;

  private:
    static constexpr std::uintptr_t page_bytes = 4096;
    /// Which bytes of a page, a bit for each.
    class Bytes {
      public:
        void set(std::uintptr_t first, std::uint64_t count);
        bool any(std::uintptr_t first, std::uint64_t count) const;

      private:
        std::array<std::uint64_t, page_bytes / 64> words_{};
    };
    /// By file, line and write.
    using Page = std::map<std::tuple<FileName, int, bool>, Bytes>;
    template <class F>
    static void for_each_part(const std::byte* place, std::uint64_t bytes, F f);

    std::string kernel_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uintptr_t, Page> pages_;  ///< by number
};

/// What a launch knows of those that it may overlap.
struct Overlap {
    std::vector<std::shared_ptr<const Touched>> before;  ///< launches that may not have ended yet
    std::shared_ptr<Touched> touched;  ///< receives what this one does; null if none can overlap it
    std::atomic<bool> early = false;   ///< becomes true if the next one may begin before this one has waited
};

}  // namespace wgrun::sim
