// The generic and the async proxy (PTX ISA 9.7.13.4, 9.7.15.4): when wgmma and the bulk-copy engine see what
// threads have done, and when they may overwrite it.
//
// It is a matter of what is known about an access of a thread. The simulator knows that of each thread, by
// vector clocks; the dataflow analysis knows it of the threads that have made the access and of all others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "wgrun/form.hpp"

namespace wgrun::machine {

/// A fence.proxy.async. space: as in the instruction; without one it orders accesses to all memory.
class ProxyFence {
  public:
    explicit constexpr ProxyFence(std::optional<isa::Space> space) : space_(space) {}

    constexpr bool orders_global() const { return !space_ || *space_ == isa::Space::global; }
    /// The memory of the CTA that executes it, and with that the inits of its mbarriers.
    constexpr bool orders_shared() const { return !space_ || *space_ != isa::Space::global; }
    /// The shared memory of the other CTAs of the cluster.
    constexpr bool orders_peers() const { return !space_ || *space_ == isa::Space::shared_cluster; }

  private:
    std::optional<isa::Space> space_;
};

/// How an access through the generic proxy stands to what a thread does next.
enum class Visible : std::uint8_t {
    not_yet,     ///< nothing orders the two
    to_generic,  ///< the thread's own accesses come after it, but not those that it has the async proxy make
    to_async     ///< these, too: a fence.proxy.async lies between
};

/// The thread executes a fence.proxy.async that orders the memory of the access.
constexpr Visible fenced(Visible visible) {
    return visible == Visible::not_yet ? Visible::not_yet : Visible::to_async;
}

/// The thread learns from another by a barrier, a phase of an mbarrier, or a release that it acquires.
constexpr Visible handed_over(Visible from, Visible to) { return std::max(from, to); }

/// For drivers that know when each was: whether the access comes before what the thread does next, and
/// whether published() finds a fence between.
template <class Published>
constexpr Visible visible(bool ordered, Published published) {
    if (!ordered) return Visible::not_yet;
    return published() ? Visible::to_async : Visible::to_generic;
}

/// Accesses of threads that run together, where it is not known which thread has made which: the last one of
/// each kind that the async proxy may not follow yet. An Access converts to whether there is one.
template <class Access>
struct Unpublished {
    Access fresh{};    ///< neither a fence nor a barrier has followed
    Access fenced{};   ///< a fence has, but no barrier: of no use for other threads
    Access ordered{};  ///< a barrier has, but no fence

    /// Is there an access that the async proxy may not follow yet?
    bool any() const { return fresh || fenced || ordered; }

    /// All of the threads execute a fence.proxy.async of this memory.
    void fence() {
        follow([](Both before) { return Both{machine::fenced(before.own), machine::fenced(before.others)}; });
    }
    /// They meet at a barrier.
    void barrier() {
        follow([](Both before) { return Both{before.own, handed_over(before.own, before.others)}; });
    }

    /// Those for which no fence makes up, even to the thread that has made them.
    std::array<const Access*, 2> without_fence() const { return {&fresh, &ordered}; }
    /// Those that come too early for other threads.
    std::array<const Access*, 2> without_order() const { return {&fresh, &fenced}; }

    bool operator==(const Unpublished&) const = default;

  private:
    /// What an access is to the thread that has made it, and to the others.
    struct Both {
        Visible own, others;
    };

    /// Where accesses of that kind are kept; null: the async proxy may follow them.
    Access* kept(Both visible) {
        if (visible.others == Visible::to_async) return nullptr;
        if (visible.own == Visible::to_async) return &fenced;
        return visible.others == Visible::to_generic ? &ordered : &fresh;
    }
    template <class Event>
    void follow(Event event) {
        using enum Visible;
        Unpublished before = std::exchange(*this, {});
        const auto keep = [&](Access& access, Both visible) {
            if (Access* to = access ? kept(event(visible)) : nullptr) *to = std::move(access);
        };
        keep(before.fenced, {to_async, not_yet});
        keep(before.ordered, {to_generic, to_generic});
        keep(before.fresh, {to_generic, not_yet});  // the last, which takes the place of one before
    }
};

}  // namespace wgrun::machine
