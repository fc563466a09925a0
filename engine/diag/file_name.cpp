#include "wgrun/file_name.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

namespace wgrun {

struct FileName::Entry {
    explicit Entry(std::string_view name) : text(name) {}
    const std::string text;
    std::atomic<std::size_t> uses{1};
};

namespace {

using Entry = FileName::Entry;

struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
    using std::hash<std::string_view>::operator();
    std::size_t operator()(const Entry* entry) const noexcept {
        return (*this)(std::string_view(entry->text));
    }
};

struct Equal {
    using is_transparent = void;
    static std::string_view view(std::string_view text) noexcept { return text; }
    static std::string_view view(const Entry* entry) noexcept { return entry->text; }
    bool operator()(const auto& a, const auto& b) const noexcept { return view(a) == view(b); }
};

struct Table {
    std::mutex mutex;
    std::unordered_set<Entry*, Hash, Equal> entries;
};

/// Never destroyed: a name may be freed when the process ends.
Table& table() {
    static auto& all = *new Table;
    return all;
}

}  // namespace

FileName::FileName(std::string_view name) {
    name = name.substr(0, longest);
    if (name.empty()) return;
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.entries.find(name); found != all.entries.end()) {
        // One without uses is about to be freed by the thread that gave up the last.
        for (std::size_t uses = (*found)->uses.load(); uses != 0;)
            if ((*found)->uses.compare_exchange_weak(uses, uses + 1)) {
                entry_ = *found;
                return;
            }
        all.entries.erase(found);
    }
    auto entry = std::make_unique<Entry>(name);
    all.entries.insert(entry.get());
    entry_ = entry.release();
}

std::string_view FileName::view() const noexcept {
    return entry_ == nullptr ? std::string_view() : std::string_view(entry_->text);
}

std::string_view FileName::base() const noexcept {
    const std::string_view name = view();
    return name.substr(name.rfind('/') + 1);
}

void FileName::retain() const noexcept {
    if (entry_ != nullptr) entry_->uses.fetch_add(1, std::memory_order_relaxed);
}

void FileName::release() noexcept {
    if (entry_->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    {
        Table& all = table();
        const std::lock_guard lock(all.mutex);
        const auto found = all.entries.find(entry_);
        if (found != all.entries.end() && *found == entry_) all.entries.erase(found);
    }
    delete entry_;
}

std::size_t FileName::in_use() {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    return all.entries.size();
}

}  // namespace wgrun
