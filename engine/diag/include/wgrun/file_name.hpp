// The names of files and chunks that places refer to.
#pragma once

#include <compare>
#include <cstddef>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)

namespace wgrun {

/// A name that all places of one file share, and that is freed with the last of them: a process may load
/// chunks under new names for ever. Equal names are one object. Copies are cheap; thread-safe as
/// std::shared_ptr is.
class FileName {
  public:
    static constexpr std::size_t longest = 4096;

    FileName() noexcept = default;
    /// Cuts the name to `longest` characters.
    explicit FileName(std::string_view name);
    FileName(const FileName& other) noexcept : entry_(other.entry_) { retain(); }
    FileName(FileName&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    FileName& operator=(FileName other) noexcept {
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~FileName() {
        if (entry_ != nullptr) release();
    }

    std::string_view view() const noexcept;
    operator std::string_view() const noexcept { return view(); }
    /// The name without its folders.
    std::string_view base() const noexcept;
    bool empty() const noexcept { return view().empty(); }

    friend bool operator==(const FileName& a, const FileName& b) noexcept { return a.entry_ == b.entry_; }
    friend bool operator==(const FileName& a, std::string_view b) noexcept { return a.view() == b; }
    friend std::strong_ordering operator<=>(const FileName& a, const FileName& b) noexcept {
        return a.view() <=> b.view();
    }

    /// The number of names that are in use in this process.
    static std::size_t in_use();

    struct Entry;

  private:
    void retain() const noexcept;
    void release() noexcept;

    Entry* entry_ = nullptr;  ///< null: the empty name
};

}  // namespace wgrun

#pragma GCC visibility pop
