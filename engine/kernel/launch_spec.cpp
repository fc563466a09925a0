#include "kernel/launch_spec.hpp"

#include <utility>

#include "kernel/arguments.hpp"

namespace wgrun {
namespace {

gpu::TensorMapType map_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::f64: return gpu::TensorMapType::f64;
        case Dtype::f32: return gpu::TensorMapType::f32;
        case Dtype::tf32: return gpu::TensorMapType::tf32;
        case Dtype::f16: return gpu::TensorMapType::f16;
        case Dtype::bf16: return gpu::TensorMapType::bf16;
        case Dtype::s32: return gpu::TensorMapType::s32;
        case Dtype::u32: return gpu::TensorMapType::u32;
        case Dtype::s64: return gpu::TensorMapType::s64;
        case Dtype::u64: return gpu::TensorMapType::u64;
        default:
            return gpu::TensorMapType::u8;  // tensor maps have no 8-bit floats, so these are copied as bytes
    }
}

bool waits_for_previous(const Program& program) {
    bool found = false;
    for_each_step(program.body(),
                  [&](const Step& step) { found = found || step.op->awaits == isa::Awaits::grids; });
    return found;
}

}  // namespace

gpu::LaunchConfig config_of(const Program& program, Dim3 grid) {
    gpu::LaunchConfig config;
    config.grid = {grid.x, grid.y, grid.z};
    config.block = {program.threads(), 1, 1};
    config.shared_bytes = program.shared_bytes();
    config.non_portable_cluster = std::cmp_greater(program.cluster().volume(), gpu::portable_cluster);
    config.overlaps_previous = waits_for_previous(program);
    return config;
}

gpu::TensorMapSpec map_spec(const TensorBox& box, const TensorShape& shape, std::uint64_t address) {
    MapGeometry geometry = geometry_of(box.dtype, shape);
    gpu::TensorMapSpec spec;
    spec.type = map_type(box.dtype);
    spec.address = address;
    spec.extents = std::move(geometry.extents);
    spec.strides = std::move(geometry.strides);
    spec.box = box.extents;
    spec.swizzle = static_cast<gpu::TensorMapSwizzle>(box.swizzle);
    spec.nan_fill = box.nan_fill;
    return spec;
}

}  // namespace wgrun
