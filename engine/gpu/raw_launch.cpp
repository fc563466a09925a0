#include "gpu/raw_launch.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

namespace wgrun::gpu {

abi::LaunchAttribute cluster_attribute(const Extents& cluster) {
    abi::LaunchAttribute attribute{};
    attribute.id = abi::launch_attribute_cluster_dimension;
    attribute.value.cluster = {static_cast<unsigned>(cluster.x), static_cast<unsigned>(cluster.y),
                               static_cast<unsigned>(cluster.z)};
    return attribute;
}

abi::LaunchConfig raw_config(const LaunchConfig& config, std::span<abi::LaunchAttribute, 2> attributes) {
    abi::LaunchConfig raw{};
    raw.grid_x = static_cast<unsigned>(config.grid.x);
    raw.grid_y = static_cast<unsigned>(config.grid.y);
    raw.grid_z = static_cast<unsigned>(config.grid.z);
    raw.block_x = static_cast<unsigned>(config.block.x);
    raw.block_y = static_cast<unsigned>(config.block.y);
    raw.block_z = static_cast<unsigned>(config.block.z);
    raw.shared_bytes = static_cast<unsigned>(config.shared_bytes);
    raw.stream = config.stream;
    raw.attributes = attributes.data();
    if (config.cluster != Extents{}) attributes[raw.attribute_count++] = cluster_attribute(config.cluster);
    if (config.overlaps_previous) {
        abi::LaunchAttribute& overlap = attributes[raw.attribute_count++];
        overlap.id = abi::launch_attribute_programmatic_stream_serialization;
        overlap.value.allowed = 1;
    }
    return raw;
}

abi::Result read_attributes(const Driver& driver, abi::Handle function, FunctionAttributes& attributes) {
    abi::Result failed = abi::success;
    const auto attribute = [&](abi::FunctionAttribute which) {
        int got = 0;
        const abi::Result result = driver.function_get_attribute(&got, which, function);
        if (failed == abi::success) failed = result;
        return got;
    };
    using enum abi::FunctionAttribute;
    attributes.registers = attribute(num_regs);
    attributes.max_threads = attribute(max_threads_per_block);
    attributes.local_bytes = static_cast<std::size_t>(attribute(local_size_bytes));
    attributes.shared_bytes = static_cast<std::size_t>(attribute(shared_size_bytes));
    attributes.constant_bytes = static_cast<std::size_t>(attribute(const_size_bytes));
    attributes.cluster = {attribute(required_cluster_width), attribute(required_cluster_height),
                          attribute(required_cluster_depth)};
    if (driver.function_get_param_info != nullptr) {
        auto& parameters = attributes.parameters.emplace();
        std::size_t offset = 0;
        std::size_t size = 0;
        // An index past the last parameter is the only invalid value here.
        while (driver.function_get_param_info(function, parameters.size(), &offset, &size) == abi::success)
            parameters.push_back(size);
    }
    return failed;
}

EnvironmentError does_not_fit(std::string_view kernel, const FunctionAttributes& attributes,
                              std::size_t dynamic_shared, std::int64_t cluster) {
    return {"EFAULT",
            fmt::format("kernel `{}` does not fit on the device: {} a thread, {} of shared "
                        "memory a CTA, clusters of {}",
                        kernel, count_of(attributes.registers, "register"),
                        count_of(attributes.shared_bytes + dynamic_shared, "byte"), count_of(cluster, "CTA")),
            "use fewer threads, less shared memory or smaller clusters"};
}

}  // namespace wgrun::gpu
