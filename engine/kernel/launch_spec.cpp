#include "kernel/launch_spec.hpp"

#include <utility>

#include "kernel/arguments.hpp"
#include "number/element.hpp"

namespace wgrun {
namespace {

bool waits_for_previous(const Program& program) {
    bool found = false;
    for_each_step(program, [&](const Step& step) { found = found || step.op->awaits == isa::Awaits::grids; });
    return found;
}

}  // namespace

gpu::LaunchConfig config_of(const Program& program, Dim3 grid) {
    gpu::LaunchConfig config;
    config.grid = {grid.x, grid.y, grid.z};
    const Dim3 block = program.block();
    config.block = {block.x, block.y, block.z};
    config.shared_bytes = program.shared_bytes();
    config.non_portable_cluster = std::cmp_greater(program.cluster().volume(), gpu::portable_cluster);
    config.overlaps_previous = waits_for_previous(program);
    return config;
}

gpu::TensorMapSpec map_spec(const PassedMap& map) {
    gpu::TensorMapSpec spec;
    // In the order of CUtensorMapDataType, too.
    spec.type = static_cast<gpu::TensorMapType>(element(map.box.dtype).tensor_map);
    spec.address = map.address;
    spec.extents = map.geometry.extents;
    spec.strides = map.geometry.strides;
    spec.box = map.box.extents;
    spec.swizzle = static_cast<gpu::TensorMapSwizzle>(map.box.swizzle);
    spec.nan_fill = map.box.nan_fill;
    spec.steps = map.box.steps;
    if (map.box.pixels) {
        spec.lower = map.box.pixels->lower;
        spec.upper = map.box.pixels->upper;
    }
    return spec;
}

gpu::TensorMapSpec map_spec(const TensorBox& box, const TensorShape& shape, std::uint64_t address) {
    return map_spec(PassedMap{0, address, geometry_of(box.dtype, shape), box});
}

}  // namespace wgrun
