#include <array>

#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {
namespace {
constexpr std::array<std::string_view, 4> names{"auto", "gpu", "gpu-cuda", "sim"};
}

std::string_view to_string(Backend backend) { return names[static_cast<std::size_t>(backend)]; }

Backend backend_named(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == name) return static_cast<Backend>(i);
    throw ArgumentError("unknown backend `" + std::string(name) + "`" + nearest(name, names),
                        "auto, gpu, gpu-cuda or sim");
}

isa::Numerics numerics_named(std::string_view name) {
    using Model = isa::Numerics::Model;
    if (name == "exact") return {Model::exact, {}};
    if (name == "h200") return {Model::h200, {}};
    throw ArgumentError("unknown numerics `" + std::string(name) + "`", "exact or h200");
}

BackendChoice choose_backend(Backend asked, gpu::Isolation isolation) {
    if (asked != Backend::automatic) return {asked, "asked for"};
    if (auto reason = gpu::Device::unavailable(isolation)) return {Backend::sim, *reason};
    return {Backend::gpu, "there is an sm_90 device"};
}

}  // namespace wgrun
