// Progress of long work, for a host that shows it to a person. Nothing is recorded unless somebody watches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wgrun/cancellation.hpp"

#pragma GCC visibility push(default)

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
    Part now() const;

  private:
    friend class ProgressWatch;
    using List = std::vector<const Progress*>;

    Part part_;
    std::atomic<std::uint64_t> done_{0};
    bool listed_ = false;
    std::shared_ptr<List> watched_;  ///< in which it stands
};

/// While it lives, `tell` is called in the thread that made it, with the pieces of work in flight there, the
/// outermost first: at most every `pause`, where long work asks whether it is to end (Cancellation::poll). It
/// must not throw. One within another hears of what begins within it, and the other one does not.
class ProgressWatch {
  public:
    using Tell = std::function<void(const std::vector<Progress::Part>& parts)>;

    explicit ProgressWatch(Tell tell, std::chrono::milliseconds pause = std::chrono::milliseconds(100));
    ~ProgressWatch();
    ProgressWatch(const ProgressWatch&) = delete;
    ProgressWatch& operator=(const ProgressWatch&) = delete;

  private:
    friend class Progress;
    void look() noexcept;

    static thread_local ProgressWatch* innermost_;

    ProgressWatch* const around_ = innermost_;
    const Tell tell_;
    const std::chrono::milliseconds pause_;
    const std::shared_ptr<Progress::List> all_ = std::make_shared<Progress::List>();
    std::chrono::steady_clock::time_point next_{};
    Cancellation asked_;  ///< ends nothing: it is what asks
};

}  // namespace wgrun

#pragma GCC visibility pop
