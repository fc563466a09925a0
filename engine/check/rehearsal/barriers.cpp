#include "check/rehearsal/barriers.hpp"

#include <fmt/format.h>

#include <utility>

#include "isa/order.hpp"

namespace wgrun::check::rehearsal {

Barriers::Barriers(Scene& scene, Report& report, Mbarriers& mbarriers)
    : scene_(scene), report_(report), mbarriers_(mbarriers), ctas_(static_cast<std::size_t>(scene.ctas)) {
    reset(scene.warps.size());
    for (int rank = 0; rank < scene.ctas; ++rank) {
        Cta& cta = ctas_[static_cast<std::size_t>(rank)];
        cta.first = scene.first(rank);
        cta.barriers.reset(scene.warps_per_cta);
    }
}

void Barriers::fault(rules::Saying saying, std::uint32_t other, std::string_view note) {
    std::vector<Note> notes;
    if (other != machine::no_pc) notes.push_back({scene_.where(other), std::string(note)});
    report_.fault(std::move(saying), std::move(notes));
}

/// In a proof: what comes again to a barrier knows that the last time is over, or it might count for that.
void Barriers::arrives(Cta& cta, std::uint32_t id, bool) {
    const Warp& warp = *scene_.warp;
    if (scene_.proves && !cta.passed[id].empty() && !warp.known.meets(cta.passed[id], warp.number, warp.now))
        scene_.stop(
            scene_.op->where,
            fmt::format("nothing orders the arrival behind the last time that barrier {} was complete", id));
    scene_.release(cta.meetings[id]);
}

void Barriers::waits_at(std::uint32_t id) {
    scene_.warp->state = Warp::State::at_barrier;
    scene_.warp->barrier = id;
}

void Barriers::continues(Cta& cta, int number, std::uint32_t id) {
    Warp& warp = scene_.warps[static_cast<std::size_t>(number)];
    scene_.acquire(warp, cta.meetings[id]);
    warp.state = Warp::State::ready;
    if (!scene_.proves) return;
    // It knows of itself what it has passed.
    Scene::gather(warp);
    warp.known.learn(warp.number, warp.now);
    cta.fresh[id].learn(warp.number, warp.now++);
}

void Barriers::arrives_at_cluster() {
    if (isa::arrival_order(*scene_.op->step).release)
        scene_.release(meeting_);
    else
        mbarriers_.release_announced(meeting_);
}

void Barriers::cluster_completed() {
    met_.learn(meeting_);
    meeting_.clear();
    scene_.wake(Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Barriers::passes_cluster(std::uint32_t) {
    scene_.acquire(*scene_.warp, met_);
    mbarriers_.announced_to_warp(met_);
    if (scene_.proves && (scene_.warp->all & ~scene_.active) == 0) Scene::gather(*scene_.warp);
}

}  // namespace wgrun::check::rehearsal
