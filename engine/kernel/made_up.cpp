#include "kernel/made_up.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "sim/sim.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

/// Of each tensor, in bytes. They become memory where they are accessed.
constexpr std::int64_t tensor_bytes = std::int64_t{1} << 22;
constexpr std::uint64_t first_address = std::uint64_t{1} << 32;

struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
};

/// A tensor of one box, whose rows can be those of a tensor map.
sim::TensorMap tensor_of(const TensorBox& box, std::uint64_t handle, std::uint64_t address) {
    constexpr std::int64_t unit = sm_90a.tensor_maps.unit;
    const std::int64_t bits = wgrun::bits(box.dtype);
    sim::TensorMap out{handle, address, box.extents, {}, &box};
    const std::int64_t row = (box.extents[0] * bits / 8 + unit - 1) / unit * unit;
    out.extents[0] = row * 8 / bits;
    std::int64_t stride = row;
    for (std::size_t d = 0; d + 1 < box.extents.size(); ++d) {
        out.strides.push_back(stride);
        stride *= box.extents[d + 1];
    }
    return out;
}

}  // namespace

std::vector<Diagnostic> found_in_every_launch(const Program& program, check::Made made,
                                              sim::Observer* observer, Where* ended) {
    const std::vector<Param>& params = program.params();
    const std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte*>(std::calloc(params.size() + 1, static_cast<std::size_t>(tensor_bytes))));
    if (memory == nullptr) return {};
    std::vector<std::uint64_t> values(params.size());
    std::vector<std::vector<std::byte>> structures(params.size());
    std::vector<sim::GlobalBuffer> buffers;
    std::vector<sim::TensorMap> maps;
    for (std::size_t i = 0; i < params.size(); ++i) {
        const Param& param = params[i];
        const std::int64_t at = static_cast<std::int64_t>(i) * tensor_bytes;
        structures[i].resize(static_cast<std::size_t>(param.structure));
        if (!param.pointee && !param.box) continue;
        // Far apart, so that what leaves one does not get into another.
        values[i] = first_address + static_cast<std::uint64_t>(at) * 64;
        buffers.push_back({memory.get() + at, tensor_bytes, values[i], param.constant});
        if (param.box) maps.push_back(tensor_of(*param.box, values[i], values[i]));
    }
    sim::SimulatedLaunch launch;
    launch.grid = program.cluster();
    launch.params = values;
    launch.structures = structures;
    launch.buffers = buffers;
    launch.tensor_maps = maps;
    const sim::MadeUp made_up{.ended = ended};
    launch.made_up = &made_up;
    launch.observer = observer;
    launch.by_compiler = made == check::Made::by_compiler;
    try {
        std::vector<Diagnostic> found = sim::run(program, launch).findings;
        // How long the tensors of a launch are is not known.
        std::erase_if(found, [](const Diagnostic& finding) { return breaks(finding, rules::WG_MEM_01); });
        return found;
    } catch (const Error&) {
        return {};
    }
}

}  // namespace wgrun
