// Tensor maps in global memory: copies through them, the instructions that change them, and the fences of
// their proxy (PTX ISA 9.7.9.26, 9.7.13.4).
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/accesses.hpp"
#include "sim/map_bytes.hpp"

namespace wgrun::sim {

class Maps {
  public:
    Maps(Scene& scene, Accesses& accesses) : scene_(scene), report_(scene.report), accesses_(accesses) {}

    void reset();

    // The instructions, for every active lane.
    void replace(isa::Space space, const isa::Addresses& at, isa::MapField field, int dimension,
                 const isa::Counts& value);
    void publish(const isa::Addresses& to, const isa::Addresses& from);
    void release();
    void acquire(const isa::Addresses& at);

    /// Returns the tensor of the map at an address of global memory, for a copy of the lane; one without a
    /// map, if there is none. Throws UnknownInstruction for one that the simulator does not have, and
    /// ArgumentError for one that no copy can use.
    MappedTensor find(std::uint64_t address, int lane);

  private:
    /// A map of global memory that the cluster has changed, until that is released.
    struct Change {
        std::uint64_t address;
        std::byte* place;
        Epoch by;
    };
    /// Who has acquired a map, as it was then.
    struct Acquired {
        isa::Mask lanes = 0;
        Epoch by;  ///< of one of them
        MapBytes map;
    };
    /// Who has released a map to the threads of a scope.
    struct Released {
        isa::Scope scope;
        int cta;
        std::uint32_t pc;
    };
    /// The step releases the map there, which is of global memory. Where its scope is less than the GPU, the
    /// map stays unreleased for other clusters.
    void released(std::uint64_t address, std::byte* map);
    void check_released(std::uint64_t address, const std::byte* place);
    void write(int lane, std::byte* place, std::uint64_t address, const MapBytes& map);
    bool acquired(std::uint64_t address, const std::byte* place, int lane) const;
    Epoch now(int lane) const {
        const Actor actor = scene_.actor(lane);
        return {actor.clock, actor.pc, actor.warp, lane};
    }

    Scene& scene_;
    Report& report_;
    Accesses& accesses_;
    std::vector<Change> changes_;
    std::map<std::uint64_t, Released> released_;  ///< by address: the last release by the cluster
    /// By CTA and address, of each warp the last.
    std::map<std::pair<int, std::uint64_t>, std::map<int, Acquired>> acquired_;
    std::map<MapBytes, std::unique_ptr<DecodedMap>> decoded_;
};

}  // namespace wgrun::sim
