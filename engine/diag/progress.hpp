// Progress of long work, for a host that shows it to a person. Nothing is recorded without a listener.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace wgrun {

/// A piece of work that may take long, from the object's construction to its destruction. Pieces of one
/// thread end in the reverse order in which they begin. Thread-safe.
class Progress {
  public:
    /// `work`: nothing is printed until it ends, so a line may be shown meanwhile. `around`: it contains such
    /// work, and scripts that may print.
    enum class Is : std::uint8_t { work, around };

    /// `what` is shown with "DONE of TOTAL UNIT" if `total` is not 0.
    explicit Progress(Is is, std::string what, std::uint64_t total = 0, std::string unit = {});
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void done(std::uint64_t count) { done_.store(count, std::memory_order_relaxed); }

    /// A piece of work, as a host sees it.
    struct Part {
        Is is = Is::work;
        std::string what;
        std::string unit;
        std::uint64_t done = 0;
        std::uint64_t total = 0;
        std::chrono::steady_clock::time_point begin;
    };
    /// The pieces in flight, the outermost first; empty while there is no work.
    static std::vector<Part> parts();

    /// Notified when work has ended: it must remove what it shows of it before the call returns, since
    /// something else may be printed next. Called from the thread that did the work; must not throw.
    class Listener {
      public:
        virtual ~Listener() = default;
        virtual void ended() noexcept = 0;
    };
    /// Sets the process's only listener, or null. Work that began before is not reported.
    static void set_listener(Listener* listener);

  private:
    Part part_;
    std::atomic<std::uint64_t> done_{0};
    bool listed_ = false;
};

}  // namespace wgrun
