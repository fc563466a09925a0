#include "sim/release_acquire.hpp"

#include <utility>

#include "machine/lanes.hpp"

namespace wgrun::sim {

namespace {

constexpr int everywhere = -1;

}  // namespace

void ReleaseAcquire::reset(std::uint64_t cluster) {
    cluster_ = cluster;
    known_ = std::make_shared<const ClusterKnowledge>();
    learned_ = {};
    unfenced_ = {};
    read_at_.clear();
    teachers_.clear();
    by_fences_.clear();
    in_gpu_ = in_system_ = {};
    locations_.clear();
    released_.clear();
    read_.clear();
}

int& ReleaseAcquire::made(int& place) {
    if (place < 0) place = clocks_.add_place();
    return place;
}

void ReleaseAcquire::read(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order) {
    if (order.scope >= isa::Scope::gpu) learn(warp, lanes, location, order);
    const auto found = locations_.find(location);
    if (found == locations_.end()) return;
    for (const auto& [cta, place] : found->second.places) {
        if (cta == everywhere ? !wide(order) : cta != cta_of(warp)) continue;
        if (order.acquire) clocks_.acquire(warp, place, lanes);
        Places& read = read_[warp];
        clocks_.join(made(cta == everywhere ? read.wide : read.cta), place);
    }
}

void ReleaseAcquire::write(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order,
                           bool combines) {
    if (order.scope >= isa::Scope::gpu) {
        if (!combines) exchange_.store(location, cluster_);
        release(in_gpu_, warp, lanes, location, order);
        if (order.scope == isa::Scope::sys && exchange_.devices.count > 1)
            release(in_system_, warp, lanes, location, order);
    }
    Location& at = locations_[location];
    if (!combines && at.writer != warp)
        for (const auto& [cta, place] : at.places) clocks_.clear(place);
    if (!combines || at.places.empty()) at.writer = warp;
    const auto place_of = [&](int cta) { return made(at.places.try_emplace(cta, -1).first->second); };
    if (order.release) {
        clocks_.release(warp, place_of(cta_of(warp)), lanes);
        if (wide(order)) clocks_.release(warp, place_of(everywhere), lanes);
    }
    const auto fenced = released_.find(warp);
    if (fenced == released_.end()) return;
    if (fenced->second.cta >= 0) clocks_.join(place_of(cta_of(warp)), fenced->second.cta);
    if (fenced->second.wide >= 0 && wide(order)) clocks_.join(place_of(everywhere), fenced->second.wide);
}

// It is not checked which warp executed the fence, but what it did later is not released.
void ReleaseAcquire::release(Released& so_far, int warp, Lanes lanes, std::uint64_t location,
                             const isa::MemoryOrder& order) {
    if (!order.release && so_far.fenced < 0) return;
    int& row = made(so_far.done.try_emplace(location, -1).first->second);
    if (order.release) clocks_.release(warp, row, lanes);
    if (so_far.fenced >= 0) clocks_.join(row, so_far.fenced);
    exchange_.release(location, cluster_, clocks_.snapshot(row), known_, &so_far == &in_system_);
}

void ReleaseAcquire::fence(int warp, Lanes lanes, const isa::MemoryOrder& order) {
    if (order.release && order.scope >= isa::Scope::gpu) clocks_.release(warp, made(in_gpu_.fenced), lanes);
    if (order.release && order.scope == isa::Scope::sys)
        clocks_.release(warp, made(in_system_.fenced), lanes);
    if (order.acquire && order.scope >= isa::Scope::gpu) {
        // It is not checked which thread has read, nor whether its fence came first.
        for (const auto& [actor, count] : by_fences_) recall(warp, lanes, {actor, count});
        ClusterKnowledge more;
        for (std::size_t others = 0; others < (order.scope == isa::Scope::sys ? 2U : 1U); ++others)
            for (const auto& [reader, read] : std::exchange(unfenced_[others], {})) more.add(read);
        if (!more.empty()) {
            const Learned::Number lesson = know(warp, lanes, more);
            by_fences_[lesson.actor] = lesson.count;
        }
    }
    if (order.acquire)
        if (const auto found = read_.find(warp); found != read_.end()) {
            if (found->second.cta >= 0) clocks_.acquire(warp, found->second.cta, lanes);
            if (found->second.wide >= 0 && wide(order)) clocks_.acquire(warp, found->second.wide, lanes);
        }
    if (!order.release) return;
    Places& released = released_[warp];
    clocks_.release(warp, made(released.cta), lanes);
    if (wide(order)) clocks_.release(warp, made(released.wide), lanes);
}

void ReleaseAcquire::arrive_relaxed(int warp, int row, bool to_other_ctas) {
    const auto fenced = released_.find(warp);
    if (fenced == released_.end()) return;
    const int released = to_other_ctas ? fenced->second.wide : fenced->second.cta;
    if (released >= 0) clocks_.join(row, released);
}

void ReleaseAcquire::wait_relaxed(int warp, int row, bool from_other_ctas) {
    Places& read = read_[warp];
    clocks_.join(made(read.cta), row);
    if (from_other_ctas) clocks_.join(made(read.wide), row);
}

void ReleaseAcquire::learn(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order) {
    const Exchange::Place* place = exchange_.find(location);
    if (place == nullptr) return;
    const bool acquire = order.acquire, system = order.scope == isa::Scope::sys;
    std::uint64_t& last = read_at_[{warp, location, acquire, system}];
    const bool again = std::exchange(last, place->changed) == place->changed;
    if (again) {
        const auto taught = teachers_.find(warp % most_teachers);
        if (acquire && taught != teachers_.end()) recall(warp, lanes, taught->second);
        return;
    }
    const auto teach = [&](ClusterKnowledge& reader, bool others) {
        place->teach(reader, location, exchange_.devices.of(cluster_), others, exchange_.devices);
    };
    if (!acquire) {
        teach(unfenced_[0][warp], false);
        if (system) teach(unfenced_[1][warp], true);
        return;
    }
    ClusterKnowledge more;
    teach(more, false);
    if (system) teach(more, true);
    if (!more.empty()) know(warp, lanes, more);
}

// The lessons of a warp are an actor, so that they go from lane to lane and from warp to warp as what is
// known of other actors does.
Learned::Number ReleaseAcquire::know(int warp, Lanes lanes, const ClusterKnowledge& more) {
    // What warps of this cluster have released comes back by way of others.
    more.for_each([&](std::uint64_t cluster, std::uint64_t, const Release& release) {
        if (cluster == cluster_) clocks_.learn(warp, lanes, *release.done);
    });
    auto known = std::make_shared<ClusterKnowledge>(*known_);
    known->add(more);
    known_ = std::move(known);
    const auto [taught, first] = teachers_.try_emplace(warp % most_teachers);
    Learned::Number& number = taught->second;
    if (first) number.actor = clocks_.add_actor();
    ++number.count;
    recall(warp, lanes, number);
    clocks_.tick(warp);
    auto now = std::make_shared<std::vector<std::uint32_t>>();
    for (int w = 0; w < clocks_.warps(); ++w) now->push_back(clocks_.now(w));
    learned_.add(more, warp, now, number);
    return number;
}

void ReleaseAcquire::recall(int warp, Lanes lanes, Learned::Number lesson) {
    bool all = true;
    machine::for_each_lane(
        lanes.some, [&](int lane) { all &= clocks_.of(warp, lane).seen[lesson.actor] >= lesson.count; });
    if (!all) clocks_.learn(warp, lanes, lesson.actor, lesson.count);
}

}  // namespace wgrun::sim
