#include "diag/progress.hpp"

#include <algorithm>
#include <mutex>

namespace wgrun {
namespace {

std::atomic<Progress::Listener*> listener{nullptr};
std::mutex mutex;

// In the order in which they began. Never destroyed: a host may ask while the process ends.
std::vector<const Progress*>& all() {
    static auto& list = *new std::vector<const Progress*>;
    return list;
}

}  // namespace

Progress::Progress(Is is, std::string what, std::uint64_t total, std::string unit) {
    if (listener.load() == nullptr) return;
    part_ = {is, std::move(what), std::move(unit), 0, total, std::chrono::steady_clock::now()};
    const std::lock_guard lock(mutex);
    all().push_back(this);
    listed_ = true;
}

Progress::~Progress() {
    if (!listed_) return;
    {
        const std::lock_guard lock(mutex);
        std::erase(all(), this);
    }
    Listener* const hears = listener.load();
    if (part_.is == Is::work && hears != nullptr) hears->ended();
}

std::vector<Progress::Part> Progress::parts() {
    const std::lock_guard lock(mutex);
    if (std::ranges::none_of(all(), [](const Progress* one) { return one->part_.is == Is::work; })) return {};
    std::vector<Part> out;
    for (const Progress* one : all()) {
        out.push_back(one->part_);
        out.back().done = one->done_.load(std::memory_order_relaxed);
    }
    return out;
}

void Progress::set_listener(Listener* hears) { listener.store(hears); }

}  // namespace wgrun
