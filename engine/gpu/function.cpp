// Kernels of a module, and their launches.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>

#include "gpu/context.hpp"
#include "gpu/module_state.hpp"
#include "gpu/raw_launch.hpp"

namespace wgrun::gpu {

namespace {

constexpr std::string_view name_of_module = "the loaded kernel";
constexpr std::int64_t default_dynamic_shared = 48 << 10;  // more must be allowed for each kernel

}  // namespace

struct Function::State {
    std::shared_ptr<Module::State> module;
    abi::Handle handle = nullptr;
    std::string name;
    FunctionAttributes attributes;
    // The limits that the driver was told to allow so far.
    std::mutex mutex;
    std::int64_t allowed_shared = default_dynamic_shared;
    bool allowed_cluster = false;

    /// Function attributes that the launch needs and the driver has not been told of.
    void allow(const LaunchConfig& config) {
        const Context::Entered cuda = module->context->enter(module->generation, name_of_module);
        const Driver& driver = cuda.driver();
        const std::lock_guard lock(mutex);
        using enum abi::FunctionAttribute;
        if (config.shared_bytes > allowed_shared) {
            cuda.check(driver.function_set_attribute(handle, max_dynamic_shared_size_bytes,
                                                     static_cast<int>(config.shared_bytes)),
                       "raising the limit of dynamic shared memory");
            allowed_shared = config.shared_bytes;
        }
        if (config.non_portable_cluster && !allowed_cluster) {
            cuda.check(driver.function_set_attribute(handle, non_portable_cluster_size_allowed, 1),
                       "allowing large clusters");
            allowed_cluster = true;
        }
    }
};

struct PreparedLaunch::State {
    std::shared_ptr<Function::State> function;
    abi::LaunchConfig config{};
    std::array<abi::LaunchAttribute, 2> attributes{};
    std::vector<std::byte> bytes;        // of all parameters
    std::vector<void*> pointers;         // into bytes
    std::vector<std::uint32_t> sizes;    // of what they point to
    std::atomic<bool> accepted = false;  // the driver has taken it before
    std::int64_t cluster = 1;            // CTAs

    /// Throws the error for a launch that the driver refused with `result`.
    void fail(const Context::Entered& cuda, abi::Result result) const {
        if (result == abi::launch_out_of_resources || result == abi::invalid_cluster_size)
            throw does_not_fit(function->name, function->attributes, config.shared_bytes, cluster);
        cuda.check(result, fmt::format("launching kernel `{}`", function->name));
    }
};

Function Module::function(const std::string& name) const {
    const Context::Entered cuda = state_->context->enter(state_->generation, name_of_module);
    const Driver& driver = cuda.driver();
    auto function = std::make_shared<Function::State>();
    function->module = state_;
    function->name = name;
    const abi::Result result = driver.module_get_function(&function->handle, state_->handle, name.c_str());
    if (result == abi::not_found) throw ArgumentError(fmt::format("the module has no kernel `{}`", name));
    cuda.check(result, "looking for a kernel");

    cuda.check(read_attributes(driver, function->handle, function->attributes),
               "reading a kernel's attributes");
    return Function(std::move(function));
}

const std::string& Function::name() const { return state_->name; }

const FunctionAttributes& Function::attributes() const { return state_->attributes; }

bool Function::lost() const { return state_->module->context->generation() != state_->module->generation; }

int Function::resident_clusters(const LaunchConfig& config) const {
    state_->allow(config);
    // The driver asks for the cluster's extents even where they are 1, and for a grid of whole clusters.
    std::array<abi::LaunchAttribute, 2> attributes{};
    LaunchConfig whole = config;
    whole.grid = config.cluster;
    abi::LaunchConfig raw = raw_config(whole, attributes);
    attributes[0] = cluster_attribute(config.cluster);
    raw.attribute_count = 1;
    const Context::Entered cuda = state_->module->context->enter(state_->module->generation, name_of_module);
    int clusters = 0;
    cuda.check(cuda.driver().occupancy_max_active_clusters(&clusters, state_->handle, &raw),
               "asking how many clusters run at a time");
    return clusters;
}

PreparedLaunch Function::prepare(const LaunchConfig& config, std::span<const Parameter> parameters) const {
    check_launch(state_->name, state_->attributes, config, parameters);
    state_->allow(config);

    auto launch = std::make_unique<PreparedLaunch::State>();
    launch->function = state_;
    launch->cluster = config.cluster.x * config.cluster.y * config.cluster.z;
    launch->config = raw_config(config, launch->attributes);

    // 64: the alignment of a tensor map, the largest that a parameter can have.
    constexpr std::size_t align = 64;
    std::size_t size = align;
    for (const Parameter& parameter : parameters) size += (parameter.size() + align - 1) / align * align;
    launch->bytes.resize(size);
    void* next = launch->bytes.data();
    for (const Parameter& parameter : parameters) {
        std::align(align, parameter.size(), next, size);
        std::ranges::copy(parameter, static_cast<std::byte*>(next));
        launch->pointers.push_back(next);
        launch->sizes.push_back(static_cast<std::uint32_t>(parameter.size()));
        next = static_cast<std::byte*>(next) + parameter.size();
        size -= parameter.size();
    }
    return PreparedLaunch(std::move(launch));
}

void Function::launch(const LaunchConfig& config, std::span<const Parameter> parameters) const {
    prepare(config, parameters).start();
}

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::start() const {
    const Function::State& function = *state_->function;
    Context& context = *function.module->context;
    context.make_room();
    const Context::Entered cuda = context.enter(function.module->generation, name_of_module);
    const Driver& driver = cuda.driver();
    // The driver copies the parameters before it returns.
    const abi::Result result =
        driver.worker != nullptr
            ? driver.worker->launch(
                  {&state_->config, function.handle, state_->pointers, state_->sizes, state_->accepted})
            : driver.launch_kernel_ex(&state_->config, function.handle, state_->pointers.data(), nullptr);
    if (result != abi::success) state_->fail(cuda, result);
    state_->accepted = true;
    context.started(&function.name);
}

bool PreparedLaunch::lost() const {
    const Module::State& module = *state_->function->module;
    return module.context->generation() != module.generation;
}

}  // namespace wgrun::gpu
