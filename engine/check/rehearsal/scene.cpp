#include "check/rehearsal/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/order.hpp"
#include "machine/mbarrier.hpp"
#include "program/wait_words.hpp"

namespace wgrun::check::rehearsal {

using isa::lanes;

Scene::Scene(const Program& program, const Skeleton& skeleton, LaunchSizes sizes, Dim3 cluster)
    : program(program),
      skeleton(skeleton),
      sizes(std::move(sizes)),
      at(cluster),
      warps_per_cta((program.threads() + lanes - 1) / lanes),
      ctas(static_cast<int>(program.cluster().volume())),
      warps(static_cast<std::size_t>(warps_per_cta * ctas)) {
    waits.reset(warps.size());
    for (int w = 0; w < static_cast<int>(warps.size()); ++w) {
        Warp& warp = warps[static_cast<std::size_t>(w)];
        warp.number = w;
        warp.cta = w / warps_per_cta;
        const int threads = program.threads() - w % warps_per_cta * lanes;
        warp.all = warp.running = threads >= lanes ? UINT32_MAX : (1U << threads) - 1;
    }
}

void Scene::release(Knowledge& place) {
    warp->known.learn(warp->number, warp->now);
    place.learn(warp->known);
    ++warp->now;
}

void Scene::fence(const isa::MemoryOrder& order) {
    if (order.acquire) acquire(*warp, warp->seen);
    if (order.release) release(warp->fenced);
}

void Scene::acquire(Warp& warp, const Knowledge& place) {
    warp.known.learn(place);
    warp.gathered = std::max(warp.gathered, place.of(warp.number));
}

bool Scene::known_in(int cta, int actor, std::uint32_t clock) const {
    for (int w = first(cta); w < first(cta) + warps_per_cta; ++w)
        if (warps[static_cast<std::size_t>(w)].known.of(actor) >= clock) return true;
    return false;
}

std::string Scene::name(const Warp& warp) const {
    return ctas == 1 ? fmt::format("warp {}", local(warp))
                     : fmt::format("warp {} of CTA {}", local(warp), warp.cta);
}

std::string Scene::place(std::uint32_t offset) const { return wait_words::place(program, offset); }

const Step* Scene::step(std::uint32_t pc) const {
    return pc == machine::no_pc ? nullptr : skeleton.ops[pc].step;
}

Where Scene::where(std::uint32_t pc) const { return pc == machine::no_pc ? Where{} : skeleton.ops[pc].where; }

}  // namespace wgrun::check::rehearsal
