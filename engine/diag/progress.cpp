#include "wgrun/progress.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "diag/progress_listener.hpp"

namespace wgrun {
namespace {

std::atomic<ProgressListener*> listener{nullptr};
std::mutex mutex;

// In the order in which they began. Never destroyed: a host may ask while the process ends.
std::vector<const Progress*>& all() {
    static auto& list = *new std::vector<const Progress*>;
    return list;
}

}  // namespace

Progress::Progress(Is is, std::string what, std::uint64_t total, std::string unit) {
    const ProgressWatch* const watch = ProgressWatch::innermost_;
    const bool heard = listener.load() != nullptr;
    if (!heard && watch == nullptr) return;
    part_ = {is, std::move(what), std::move(unit), 0, total, std::chrono::steady_clock::now()};
    if (watch != nullptr) {
        watch->all_->push_back(this);
        watched_ = watch->all_;
    }
    if (!heard) return;
    const std::lock_guard lock(mutex);
    all().push_back(this);
    listed_ = true;
}

Progress::~Progress() {
    if (watched_) std::erase(*watched_, this);
    if (!listed_) return;
    {
        const std::lock_guard lock(mutex);
        std::erase(all(), this);
    }
    ProgressListener* const hears = listener.load();
    if (part_.is == Is::work && hears != nullptr) hears->ended();
}

Progress::Part Progress::now() const {
    Part out = part_;
    out.done = done_.load(std::memory_order_relaxed);
    return out;
}

std::vector<Progress::Part> progress_parts() {
    using Is = Progress::Is;
    const std::lock_guard lock(mutex);
    std::vector<Progress::Part> out;
    for (const Progress* one : all()) out.push_back(one->now());
    if (std::ranges::none_of(out, [](const Progress::Part& part) { return part.is == Is::work; }))
        out.clear();
    return out;
}

void set_progress_listener(ProgressListener* hears) { listener.store(hears); }

thread_local ProgressWatch* ProgressWatch::innermost_ = nullptr;

ProgressWatch::ProgressWatch(Tell tell, std::chrono::milliseconds pause)
    : tell_(std::move(tell)), pause_(pause), asked_([this] {
          look();
          return false;
      }) {
    innermost_ = this;
}

ProgressWatch::~ProgressWatch() { innermost_ = around_; }

void ProgressWatch::look() noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (all_->empty() || now < next_) return;
    next_ = now + pause_;
    try {
        std::vector<Progress::Part> parts;
        for (const Progress* one : *all_) parts.push_back(one->now());
        tell_(parts);
    } catch (const std::bad_alloc&) {  // the work itself may have enough
    }
}

}  // namespace wgrun
