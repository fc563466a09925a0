#include "sim/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wgrun::sim {
namespace {

constexpr int columns_at_a_time = 16;

}  // namespace

Clocks::Clocks(int warps, int warps_per_cta)
    : warps_(warps),
      warps_per_cta_(warps_per_cta),
      actors_(warps),
      capacity_(warps),
      stride_(static_cast<std::size_t>(warps) + threads() + static_cast<std::size_t>(warps)),
      groups_(static_cast<std::size_t>(warps + 3) / 4),
      versions_(static_cast<std::size_t>(warps)) {
    reset();
}

void Clocks::reset() {
    actors_ = warps_;
    generic_.clear();
    rows_.assign(static_cast<std::size_t>(warps_) * stride_, 0U);
    converged_.assign(static_cast<std::size_t>(warps_), 0U);
    released_ = met_ = converged_;
    for (int w = 0; w < warps_; ++w) {
        row(w)[w] = 1;
        changed(w);
    }
}

int Clocks::add_actor() {
    if (actors_ == max_actors)
        throw ArgumentError(
            fmt::format("the simulator follows at most {} warps, mbarriers and threads with bulk stores of a "
                        "cluster",
                        max_actors));
    if (actors_ == capacity_) widen();
    return actors_++;
}

int Clocks::add_generic_actor(int cta) {
    const int actor = add_actor();
    add_actor();
    generic_.push_back({actor, cta});
    return actor;
}

int Clocks::add_place() {
    rows_.resize(rows_.size() + stride_);
    return static_cast<int>(rows_.size() / stride_) - 1;
}

// Room for more actors in every row.
void Clocks::widen() {
    const std::size_t rows = rows_.size() / stride_, wider = stride_ + columns_at_a_time;
    std::vector<std::uint32_t> out(rows * wider);
    for (std::size_t r = 0; r < rows; ++r) {
        const std::uint32_t* from = rows_.data() + r * stride_;
        std::uint32_t* to = out.data() + r * wider;
        std::copy(from, from + capacity_, to);
        std::copy(from + capacity_, from + stride_, to + capacity_ + columns_at_a_time);
    }
    capacity_ += columns_at_a_time;
    stride_ = wider;
    rows_ = std::move(out);
    for (GroupRow& group : groups_) group.version = UINT64_MAX;
}

Clocks::Group Clocks::group(int first) {
    // Warpgroups begin four or more warps apart, also where the CTAs of a cluster have an odd number of them.
    GroupRow& group = groups_[static_cast<std::size_t>(first / 4)];
    std::uint64_t version = 0;
    for (int w = first; w < first + 4; ++w) version += versions_[static_cast<std::size_t>(w)];
    if (version != group.version) {
        group.version = version;
        group.row.assign(row(first), row(first) + stride_);
        for (int w = first + 1; w < first + 4; ++w) {
            const std::uint32_t* other = row(w);
            for (std::size_t i = 0; i < stride_; ++i) group.row[i] = std::min(group.row[i], other[i]);
        }
    }
    return {group.row.data(), group.row.data() + published_at()};
}

void Clocks::proxy_fence(int warp, isa::Mask lanes, bool whole_warp, bool own_memory) {
    std::uint32_t* const own = row(warp) + published_at();
    std::uint32_t* const others = own + warps_ * isa::lanes;  // where there are several CTAs
    const std::uint32_t* known = seen(warp);
    for (int u = 0; u < warps_; ++u) {
        const bool here = u / warps_per_cta_ == warp / warps_per_cta_;
        for (int l = 0; l < isa::lanes; ++l) {
            const bool by_itself = u != warp || whole_warp || (lanes >> l & 1U) != 0;
            const std::uint32_t clock = by_itself ? known[u] : converged(warp);
            const int thread = u * isa::lanes + l;
            if (here || !own_memory) own[thread] = std::max(own[thread], clock);
            if (warps_ != warps_per_cta_ && (!here || !own_memory))
                others[thread] = std::max(others[thread], clock);
        }
    }
    for (const Generic& generic : generic_)
        if (!own_memory || generic.cta == warp / warps_per_cta_)
            learn(warp, generic.actor + 1, known[generic.actor]);
    tick(warp);
}

void Clocks::converge(int warp) {
    meet(warp);
    converged_[static_cast<std::size_t>(warp)] = met(warp);
}

void Clocks::meet(int warp) {
    met_[static_cast<std::size_t>(warp)] = row(warp)[warp]++;
    changed(warp);
}

void Clocks::raise(int to, int from) {
    std::uint32_t* out = row(to);
    const std::uint32_t* other = row(from);
    for (std::size_t i = 0; i < stride_; ++i) out[i] = std::max(out[i], other[i]);
    changed(to);
}

void Clocks::release(int warp, int place, bool whole_warp) {
    raise(place, warp);
    std::uint32_t& now = row(warp)[warp];
    if (whole_warp) released_[static_cast<std::size_t>(warp)] = now;
    ++now;
    changed(warp);
}

void Clocks::acquire(int warp, int place) {
    raise(warp, place);
    const auto w = static_cast<std::size_t>(warp);
    met_[w] = std::max(met_[w], row(place)[warp]);
    if (row(place)[warp] >= released_[w]) converged_[w] = std::max(converged_[w], released_[w]);
}

void Clocks::drain(int from, int place) {
    raise(place, from);
    clear(from);
}

void Clocks::release_actors(int warp, int place) {
    std::uint32_t* out = row(place);
    const std::uint32_t* known = row(warp);
    for (int a = warps_; a < actors_; ++a) out[a] = std::max(out[a], known[a]);
}

void Clocks::clear(int place) { std::fill_n(row(place), stride_, 0U); }

void Clocks::learn(int row, int actor, std::uint32_t clock) {
    std::uint32_t& known = this->row(row)[actor];
    known = std::max(known, clock);
    changed(row);
}

void Clocks::finish(int warp, int first, std::uint32_t serial) {
    std::uint32_t* of_warps = row(warp) + published_at() + threads();
    for (int w = first; w < first + 4; ++w) of_warps[w] = std::max(of_warps[w], serial);
    changed(warp);
}

}  // namespace wgrun::sim
