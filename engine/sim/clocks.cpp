#include "sim/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace wgrun::sim {
namespace {

constexpr int mates = isa::warps_of_group;

}  // namespace

Clocks::Clocks(int warps, int warps_per_cta)
    : warps_(warps),
      warps_per_cta_(warps_per_cta),
      actors_(warps),
      capacity_(warps),
      stride_(static_cast<std::size_t>(warps) + threads() + static_cast<std::size_t>(warps)),
      rows_(bytes_of(2 * static_cast<std::size_t>(warps))),
      groups_(static_cast<std::size_t>((warps + mates - 1) / mates)),
      versions_(static_cast<std::size_t>(warps)) {
    reset();
}

void Clocks::reset() {
    const auto warps = static_cast<std::size_t>(warps_);
    actors_ = warps_;
    snapshot_ = -1;
    generic_.clear();
    std::fill_n(rows_.data(), bytes_of(rows()), std::byte{});
    parts_.assign(warps * warps, {});
    some_parts_.assign(warps, 0);
    met_.assign(warps, 0U);
    warp_of_.assign(warps, -1);
    fronts_.assign(warps, {});
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

int Clocks::add_place() { return new_row(); }

int Clocks::new_row() {
    if (const std::size_t needed = bytes_of(rows() + 1); needed > rows_.bytes())
        rows_.grow(std::max(needed, 2 * rows_.bytes()));
    parts_.resize(parts_.size() + static_cast<std::size_t>(warps_));
    some_parts_.push_back(0);
    met_.push_back(0);
    warp_of_.push_back(-1);
    return static_cast<int>(some_parts_.size()) - 1;
}

KnownClocks Clocks::known(int row) const {
    const std::uint32_t* columns = this->row(row);
    const std::uint32_t* published = columns + published_at();
    return {columns, published, published + threads(),
            some_parts_[static_cast<std::size_t>(row)] != 0 ? parts(row) : nullptr,
            met_[static_cast<std::size_t>(row)]};
}

// Makes room for more actors in every row.
void Clocks::widen() {
    // Rows are copied as a whole, and compared so: few times, and with few columns that are not used.
    const int more = std::max(16, static_cast<int>(threads() / 32));
    const std::size_t wider = stride_ + static_cast<std::size_t>(more);
    memory::Pages out(std::max(rows_.bytes(), rows() * wider * sizeof(std::uint32_t)));
    for (std::size_t r = 0; r < rows(); ++r) {
        const std::uint32_t* from = row(static_cast<int>(r));
        std::uint32_t* to = reinterpret_cast<std::uint32_t*>(out.data()) + r * wider;
        std::copy(from, from + capacity_, to);
        std::copy(from + capacity_, from + stride_, to + capacity_ + more);
    }
    capacity_ += more;
    stride_ = wider;
    rows_ = std::move(out);
    for (GroupRow& group : groups_) group.version = UINT64_MAX;
}

Clocks::Group Clocks::group(int first) {
    // Warpgroups begin at least four warps apart, even where the CTAs of a cluster have an odd number of
    // them.
    GroupRow& group = groups_[static_cast<std::size_t>(first / mates)];
    std::uint64_t version = 0;
    for (int w = first; w < first + mates; ++w) version += versions_[static_cast<std::size_t>(w)];
    if (version != group.version) {
        group.version = version;
        for (int w = first; w < first + mates; ++w) merged(w, ~isa::Mask{0});
        const std::uint32_t* leader = row(row_of(first, UINT32_MAX));
        group.row.assign(leader, leader + stride_);
        for (int w = first + 1; w < first + mates; ++w) {
            const std::uint32_t* other = row(row_of(w, UINT32_MAX));
            for (std::size_t i = 0; i < stride_; ++i) group.row[i] = std::min(group.row[i], other[i]);
        }
    }
    return {group.row.data(), group.row.data() + published_at()};
}

void Clocks::tick(int warp) {
    const std::uint32_t now = ++row(warp)[warp];
    for (const Front& front : fronts_[static_cast<std::size_t>(warp)])
        if (front.lanes != 0) row(front.row)[warp] = now;
    changed(warp);
}

// What a row knows about all lanes of a warp needs no part.
void Clocks::settle(int row, int warp, std::uint32_t known) {
    if (SomeLanes& part = this->part(row, warp); part.clock <= known) part = {};
}

// --- lanes that know more ------------------------------------------------------------------------------

int Clocks::merged(int warp, isa::Mask lanes) {
    Front* into = nullptr;
    return merged(warp, lanes, into);
}

int Clocks::merged(int warp, isa::Mask lanes, Front*& into) {
    for (Front& front : fronts_[static_cast<std::size_t>(warp)]) {
        if ((front.lanes & lanes) == 0) continue;
        if (into == nullptr) {
            into = &front;
            continue;
        }
        raise(into->row, front.row);
        std::uint32_t& met = met_[static_cast<std::size_t>(into->row)];
        met = std::max(met, met_[static_cast<std::size_t>(front.row)]);
        into->lanes |= std::exchange(front.lanes, 0);
        into->changed = std::max(into->changed, front.changed);
        changed(warp);
    }
    return into == nullptr ? warp : into->row;
}

// Returns the row of these lanes, which are about to learn something. It is also that of lanes that share a
// front with one of them; with_all: of all that are ahead.
int Clocks::go_ahead(int warp, Lanes lanes, bool with_all) {
    Front* front = nullptr;
    merged(warp, with_all ? ~isa::Mask{0} : lanes.some, front);
    if (front == nullptr && (front = unused_front(warp)) == nullptr) return go_ahead(warp, lanes, true);
    if (front->lanes == 0) copy_row(warp, front->row);
    front->lanes |= lanes.some;
    front->changed = now(warp);
    changed(warp);
    return front->row;
}

// Returns a front of no lanes; null: all are in use.
Clocks::Front* Clocks::unused_front(int warp) {
    std::vector<Front>& fronts = fronts_[static_cast<std::size_t>(warp)];
    if (const auto free = std::ranges::find(fronts, isa::Mask{0}, &Front::lanes); free != fronts.end())
        return &*free;
    if (fronts.size() == most_fronts) return nullptr;
    const int row = new_row();
    warp_of_[static_cast<std::size_t>(row)] = warp;
    return &fronts.emplace_back(row);
}

void Clocks::copy_row(int from, int to) {
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    std::copy_n(row(from), stride_, row(to));
    std::copy_n(parts(from), warps_, &part(to, 0));
    some_parts_[t] = some_parts_[f];
    met_[t] = met_[f];
}

// As go_ahead, but lanes that share a front with one of them stay behind, as long as there are fronts.
int Clocks::set_apart(int warp, Lanes lanes) {
    const int shared = merged(warp, lanes.some);
    Front* const own = unused_front(warp);
    if (shared == warp || own == nullptr) return go_ahead(warp, lanes, false);
    std::vector<Front>& fronts = fronts_[static_cast<std::size_t>(warp)];
    std::ranges::find(fronts, shared, &Front::row)->lanes &= ~lanes.some;
    copy_row(shared, own->row);
    own->lanes = lanes.some;
    own->changed = now(warp);
    changed(warp);
    return own->row;
}

// When all lanes are ahead together, none is.
void Clocks::catch_up(int warp, Lanes lanes) {
    const auto w = static_cast<std::size_t>(warp);
    for (Front& front : fronts_[w]) {
        if (front.lanes == 0 || (lanes.all & ~front.lanes) != 0) continue;
        front.lanes = 0;
        met_[w] = std::max(met_[w], met_[static_cast<std::size_t>(front.row)]);
        raise(warp, front.row);
        settle(warp, warp, met_[w]);
    }
}

void Clocks::meet(int warp, Lanes lanes) {
    const auto w = static_cast<std::size_t>(warp);
    if (lanes.whole()) {
        Front* front = nullptr;
        merged(warp, ~isa::Mask{0}, front);
        if (front != nullptr) front->lanes = lanes.all;
        catch_up(warp, lanes);
        met_[w] = now(warp);
        settle(warp, warp, met_[w]);
    } else {
        const int front = go_ahead(warp, lanes, false);
        part(front, warp).join({now(warp), lanes.some});
        some_parts_[static_cast<std::size_t>(front)] = 1;
        catch_up(warp, lanes);
    }
    tick(warp);
}

// --- fences --------------------------------------------------------------------------------------------

void Clocks::proxy_fence(int warp, Lanes lanes, machine::ProxyFence fence) {
    const auto w = static_cast<std::size_t>(warp);
    if (!lanes.whole()) {
        const int front = set_apart(warp, lanes);
        publish(front, warp, lanes, met_[static_cast<std::size_t>(front)], fence);
        return tick(warp);
    }
    publish(warp, warp, lanes, met_[w], fence);
    for (Front& front : fronts_[w]) {
        if (front.lanes == 0) continue;
        publish(front.row, warp, lanes, met_[static_cast<std::size_t>(front.row)], fence);
        front.changed = now(warp);
    }
    tick(warp);
}

void Clocks::publish(int row, int warp, Lanes lanes, std::uint32_t met, machine::ProxyFence fence) {
    std::uint32_t* const own = this->row(row) + published_at();
    std::uint32_t* const others = own + warps_ * isa::lanes;  // where there are several CTAs
    const std::uint32_t* known = this->row(row);
    for (int u = 0; u < warps_; ++u) {
        const bool here = u / warps_per_cta_ == warp / warps_per_cta_;
        const SomeLanes part = parts(row)[u];
        for (int l = 0; l < isa::lanes; ++l) {
            const bool by_itself = u != warp || lanes.whole() || (lanes.some >> l & 1U) != 0;
            std::uint32_t clock = by_itself ? known[u] : met;
            if (part.has(l)) clock = std::max(clock, part.clock);
            const int thread = u * isa::lanes + l;
            if (here || fence.orders_peers()) own[thread] = std::max(own[thread], clock);
            // What a thread of another CTA has accessed may be the memory of this one.
            if (warps_ != warps_per_cta_ && (!here || fence.orders_peers()))
                others[thread] = std::max(others[thread], clock);
        }
    }
    for (const Generic& generic : generic_)
        if (fence.orders_peers() || generic.cta == warp / warps_per_cta_) {
            std::uint32_t& seen = this->row(row)[generic.actor + 1];
            seen = std::max(seen, known[generic.actor]);
        }
}

// --- places --------------------------------------------------------------------------------------------

void Clocks::raise(int to, int from) {
    std::uint32_t* out = row(to);
    const std::uint32_t* other = row(from);
    for (std::size_t i = 0; i < stride_; ++i) out[i] = std::max(out[i], other[i]);
    std::uint8_t& some = some_parts_[static_cast<std::size_t>(to)];
    if (some_parts_[static_cast<std::size_t>(from)] != 0 || some != 0) {
        some = 0;
        for (int w = 0; w < warps_; ++w) {
            part(to, w).join(part(from, w));
            // A warp's own clock says nothing about what its lanes know of each other.
            if (to != w && warp_of_[static_cast<std::size_t>(to)] != w) settle(to, w, out[w]);
            some |= part(to, w).clock != 0;
        }
    }
    changed(to);
}

void Clocks::release(int warp, int place, Lanes lanes) {
    const int from = merged(warp, lanes.some);
    if (lanes.whole()) {
        raise(place, from);
        tick(warp);
        return;
    }
    // A lane learns no more about the other lanes than these lanes know.
    const std::uint32_t met = met_[static_cast<std::size_t>(from)];
    const SomeLanes of_some = parts(from)[warp];
    const auto known_of = [&](std::size_t lane) {
        return of_some.has(static_cast<int>(lane)) ? std::max(met, of_some.clock) : met;
    };
    const std::size_t sets = warps_ == warps_per_cta_ ? 1 : 2;
    std::array<std::uint32_t, 2 * isa::lanes> before{};
    const std::size_t first = published_at() + static_cast<std::size_t>(warp) * isa::lanes;
    const auto column = [&](std::size_t i) {
        return first + i / isa::lanes * static_cast<std::size_t>(warps_) * isa::lanes + i % isa::lanes;
    };
    for (std::size_t i = 0; i < sets * isa::lanes; ++i) before[i] = row(place)[column(i)];
    const std::uint32_t known = row(place)[warp];
    const SomeLanes earlier = part(place, warp);
    raise(place, from);
    std::uint32_t* out = row(place);
    out[warp] = std::max(known, met);
    for (std::size_t i = 0; i < sets * isa::lanes; ++i)
        if ((lanes.some >> i % isa::lanes & 1U) == 0)
            out[column(i)] = std::max(before[i], std::min(row(from)[column(i)], known_of(i % isa::lanes)));
    SomeLanes& part = this->part(place, warp);
    part = earlier;
    part.join(parts(from)[warp]);
    part.join({now(warp), lanes.some});
    some_parts_[static_cast<std::size_t>(place)] = 1;
    tick(warp);
}

void Clocks::acquire(int warp, int place, Lanes lanes) {
    const auto w = static_cast<std::size_t>(warp);
    const std::uint32_t together = row(place)[warp];
    if (lanes.whole()) {
        raise(warp, place);
        met_[w] = std::max(met_[w], together);
        settle(warp, warp, met_[w]);
        for (Front& front : fronts_[w]) {
            if (front.lanes == 0) continue;
            if (together >= front.changed) {  // those ahead released it there
                front.lanes = 0;
                continue;
            }
            std::uint32_t& met = met_[static_cast<std::size_t>(front.row)];
            met = std::max(met, together);
            raise(front.row, place);
            settle(front.row, warp, met);
        }
        return;
    }
    const int front = go_ahead(warp, lanes, false);
    std::uint32_t& met = met_[static_cast<std::size_t>(front)];
    met = std::max(met, together);
    raise(front, place);
    settle(front, warp, met);
    catch_up(warp, lanes);
}

void Clocks::drain(int from, int place) {
    raise(place, from);
    clear(from);
}

void Clocks::release_actors(int warp, int lane, int place, const std::vector<int>& but) {
    std::uint32_t* out = row(place);
    std::vector<std::uint32_t> kept;
    for (const int actor : but) kept.push_back(out[actor]);
    const std::uint32_t* known = row(row_of(warp, isa::Mask{1} << lane));
    for (int a = warps_; a < actors_; ++a) out[a] = std::max(out[a], known[a]);
    for (std::size_t i = 0; i < but.size(); ++i) out[but[i]] = kept[i];
}

void Clocks::clear(int place) {
    std::fill_n(row(place), stride_, 0U);
    std::fill_n(&part(place, 0), warps_, SomeLanes{});
    some_parts_[static_cast<std::size_t>(place)] = 0;
}

void Clocks::learn(int place, int actor, std::uint32_t clock) {
    std::uint32_t& known = row(place)[actor];
    known = std::max(known, clock);
    changed(place);
}

void Clocks::learn(int warp, Lanes lanes, int actor, std::uint32_t clock) {
    if (!lanes.whole()) {
        learn(go_ahead(warp, lanes, true), actor, clock);
        return catch_up(warp, lanes);
    }
    learn(warp, actor, clock);
    for (const Front& front : fronts_[static_cast<std::size_t>(warp)])
        if (front.lanes != 0) learn(front.row, actor, clock);
}

void Clocks::learn(int warp, Lanes lanes, const Snapshot& known) {
    if (snapshot_ < 0) snapshot_ = add_place();
    clear(snapshot_);
    std::ranges::copy(known.seen, row(snapshot_));
    std::ranges::copy(known.parts, &part(snapshot_, 0));
    some_parts_[static_cast<std::size_t>(snapshot_)] = 1;
    acquire(warp, snapshot_, lanes);
}

void Clocks::finish(int warp, int first, std::uint32_t serial) {
    // A CTA may end before its last warpgroup is complete.
    const int end = std::min(first + mates, (warp / warps_per_cta_ + 1) * warps_per_cta_);
    const auto finished = [&](int known) {
        std::uint32_t* of_warps = row(known) + published_at() + threads();
        for (int w = first; w < end; ++w) of_warps[w] = std::max(of_warps[w], serial);
    };
    finished(warp);
    for (const Front& front : fronts_[static_cast<std::size_t>(warp)])
        if (front.lanes != 0) finished(front.row);
    changed(warp);
}

}  // namespace wgrun::sim
