// What takes long, for a host that shows it to a person. Nothing is kept while no host listens.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace wgrun {

/// A piece of work that may last, from its construction to its destruction. Pieces of a thread end in the
/// reverse order of their beginnings. Thread-safe.
class Progress {
  public:
    /// `work`: nothing is printed before it ends, so that a line may be shown meanwhile. `around`: what
    /// contains such work, and scripts that may print.
    enum class Is : std::uint8_t { work, around };

    /// `what` is shown with "DONE of TOTAL UNIT" if `total` is not 0.
    explicit Progress(Is is, std::string what, std::uint64_t total = 0, std::string unit = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void done(std::uint64_t count) { done_.store(count, std::memory_order_relaxed); }

    /// What a host is told.
    struct Part {
        Is is = Is::work;
        std::string what;
        std::string unit;
        std::uint64_t done = 0;
        std::uint64_t total = 0;
        std::chrono::steady_clock::time_point begin;
    };
    /// The outermost first; empty while there is no work.
    static std::vector<Part> parts();

    /// Hears that work has ended: what is shown of it has to go before the call returns, for something else
    /// may be printed next. Called from the thread that did it; must not throw.
    class Listener {
      public:
        virtual ~Listener() = default;
        virtual void ended() noexcept = 0;
    };
    /// One a process, or null. What has begun before is not told.
    static void set_listener(Listener* listener);

  private:
    Part part_;
    std::atomic<std::uint64_t> done_{0};
    bool listed_ = false;
};

}  // namespace wgrun

#pragma GCC visibility pop
