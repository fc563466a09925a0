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

    /// Returns the tensor of the map at an address of global memory, for a copy of the lane that reads the
    /// map until it ends; one without a map, if there is none. Throws UnknownInstruction for one that the
    /// simulator does not have, and ArgumentError for one that no copy can use.
    MappedTensor find(std::uint64_t address, int lane);

  private:
    /// Who has acquired a map, and which writes it was the result of.
    struct Acquired {
        isa::Mask lanes = 0;
        Epoch by;  ///< of one of them
        std::vector<LaunchHistory::Write> writes;
    };
    /// The lanes release the map at that address, or all (0).
    void release(isa::Mask lanes, std::uint64_t watched);
    /// Returns whether the lane learns of all these writes of the map. Reports those that nothing released.
    bool learns(int lane, std::uint64_t address, const std::vector<LaunchHistory::Write>& writes);
    void write(int lane, std::byte* place, std::uint64_t address, const MapBytes& map);
    bool acquired(std::uint64_t address, int lane) const;
    std::vector<LaunchHistory::Write> writes(std::uint64_t address) const;

    Scene& scene_;
    Report& report_;
    Accesses& accesses_;
    /// By CTA and address, of each warp the last.
    std::map<std::pair<int, std::uint64_t>, std::map<int, Acquired>> acquired_;
    std::map<MapBytes, std::unique_ptr<DecodedMap>> decoded_;
};

}  // namespace wgrun::sim
