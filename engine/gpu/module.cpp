#include <fmt/format.h>

#include <array>
#include <bit>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/context.hpp"

namespace wgrun::gpu {

namespace {

constexpr std::string_view name_of_module = "the loaded kernel";
constexpr std::int64_t default_dynamic_shared = 48 << 10;  // more has to be allowed kernel by kernel

void* value(std::size_t number) { return std::bit_cast<void*>(number); }

struct JitLogs {
    std::array<char, 256 << 10> info{};
    std::array<char, 64 << 10> error{};
};

// The driver assembles a text only once; later it takes the code from a cache of its own and has nothing to
// say. So its words are kept beside ours.
AssemblerLog remembered(const DeviceInfo& device, const std::string& text, const char* said) {
    AssemblerLog log = parse_log(said);
    const Cache cache = Cache::standard();
    const std::string key =
        Cache::key({"jit-log", fmt::format("{}", device.driver_version), architecture, text});
    if (!log.functions.empty())
        cache.store(key, {log.text, {}});
    else if (const auto found = cache.find(key))
        log = parse_log(found->log);
    return log;
}

}  // namespace

struct Module::State {
    State(std::shared_ptr<Context> owner, std::uint64_t at, abi::Handle loaded, AssemblerLog said)
        : context(std::move(owner)), generation(at), handle(loaded), log(std::move(said)) {}
    ~State() {
        context->release(Context::Kind::module, reinterpret_cast<std::uintptr_t>(handle), generation);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::shared_ptr<Context> context;
    std::uint64_t generation;
    abi::Handle handle;
    AssemblerLog log;
};

struct Function::State {
    std::shared_ptr<Module::State> module;
    abi::Handle handle = nullptr;
    std::string name;
    FunctionAttributes attributes;
    // What the driver was told to allow so far.
    std::mutex mutex;
    std::int64_t allowed_shared = default_dynamic_shared;
    bool allowed_cluster = false;
};

Module Module::from_ptx(const Device& device, std::string_view ptx) {
    const std::string text = source_text(ptx, "PTX");
    Context& context = device.context();
    context.wait();  // loading may wait for running kernels, and without a time limit
    const Context::Entered cuda = context.enter();

    const auto logs = std::make_unique<JitLogs>();
    std::array options = {abi::JitOption::info_log_buffer, abi::JitOption::info_log_buffer_size_bytes,
                          abi::JitOption::error_log_buffer, abi::JitOption::error_log_buffer_size_bytes,
                          abi::JitOption::log_verbose};
    std::array<void*, 5> values = {logs->info.data(), value(logs->info.size() - 1), logs->error.data(),
                                   value(logs->error.size() - 1), value(1)};
    abi::Handle handle = nullptr;
    const abi::Result result = cuda.driver().module_load_data_ex(&handle, text.c_str(), options.size(),
                                                                 options.data(), values.data());
    if (result == abi::invalid_ptx || result == abi::unsupported_ptx_version)
        throw CompileError("the driver's assembler", parse_log(logs->error.data()));
    cuda.check(result, "loading PTX");
    return Module(std::make_shared<State>(device.shared(), cuda.generation(), handle,
                                          remembered(device.info(), text, logs->info.data())));
}

Module Module::from_cubin(const Device& device, std::span<const std::byte> image) {
    if (image.empty()) throw ArgumentError("the cubin is empty");
    Context& context = device.context();
    context.wait();
    const Context::Entered cuda = context.enter();
    abi::Handle handle = nullptr;
    cuda.check(cuda.driver().module_load_data_ex(&handle, image.data(), 0, nullptr, nullptr),
               "loading a cubin");
    return Module(std::make_shared<State>(device.shared(), cuda.generation(), handle, AssemblerLog{}));
}

const AssemblerLog& Module::log() const { return state_->log; }

Function Module::function(const std::string& name) const {
    const Context::Entered cuda = state_->context->enter(state_->generation, name_of_module);
    const Driver& driver = cuda.driver();
    auto function = std::make_shared<Function::State>();
    function->module = state_;
    function->name = name;
    const abi::Result result = driver.module_get_function(&function->handle, state_->handle, name.c_str());
    if (result == abi::not_found) throw ArgumentError(fmt::format("the module has no kernel `{}`", name));
    cuda.check(result, "looking for a kernel");

    const auto attribute = [&](abi::FunctionAttribute which) {
        int got = 0;
        cuda.check(driver.function_get_attribute(&got, which, function->handle),
                   "reading a kernel's attributes");
        return got;
    };
    using enum abi::FunctionAttribute;
    FunctionAttributes& attributes = function->attributes;
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
        while (driver.function_get_param_info(function->handle, parameters.size(), &offset, &size) ==
               abi::success)
            parameters.push_back(size);
    }
    return Function(std::move(function));
}

const std::string& Function::name() const { return state_->name; }

const FunctionAttributes& Function::attributes() const { return state_->attributes; }

bool Function::lost() const { return state_->module->context->generation() != state_->module->generation; }

void Function::launch(const LaunchConfig& config, std::span<const Parameter> parameters) const {
    check_launch(state_->name, state_->attributes, config, parameters);
    Context& context = *state_->module->context;
    const Context::Entered cuda = context.enter(state_->module->generation, name_of_module);
    const Driver& driver = cuda.driver();
    {
        const std::lock_guard lock(state_->mutex);
        using enum abi::FunctionAttribute;
        if (config.shared_bytes > state_->allowed_shared) {
            cuda.check(driver.function_set_attribute(state_->handle, max_dynamic_shared_size_bytes,
                                                     static_cast<int>(config.shared_bytes)),
                       "raising the limit of dynamic shared memory");
            state_->allowed_shared = config.shared_bytes;
        }
        if (config.non_portable_cluster && !state_->allowed_cluster) {
            cuda.check(driver.function_set_attribute(state_->handle, non_portable_cluster_size_allowed, 1),
                       "allowing large clusters");
            state_->allowed_cluster = true;
        }
    }

    abi::LaunchAttribute cluster{};
    cluster.id = abi::launch_attribute_cluster_dimension;
    cluster.value.cluster = {static_cast<unsigned>(config.cluster.x), static_cast<unsigned>(config.cluster.y),
                             static_cast<unsigned>(config.cluster.z)};
    abi::LaunchConfig launch{};
    launch.grid_x = static_cast<unsigned>(config.grid.x);
    launch.grid_y = static_cast<unsigned>(config.grid.y);
    launch.grid_z = static_cast<unsigned>(config.grid.z);
    launch.block_x = static_cast<unsigned>(config.block.x);
    launch.block_y = static_cast<unsigned>(config.block.y);
    launch.block_z = static_cast<unsigned>(config.block.z);
    launch.shared_bytes = static_cast<unsigned>(config.shared_bytes);
    launch.stream = config.stream;
    launch.attributes = &cluster;
    launch.attribute_count = config.cluster == Dim3{} ? 0 : 1;

    // The driver copies the parameters before it returns.
    std::vector<void*> pointers;
    for (const Parameter& parameter : parameters)
        pointers.push_back(const_cast<std::byte*>(parameter.data()));
    const abi::Result result = driver.launch_kernel_ex(&launch, state_->handle, pointers.data(), nullptr);
    if (result == abi::launch_out_of_resources || result == abi::invalid_cluster_size)
        throw EnvironmentError(
            "EFAULT",
            fmt::format("kernel `{}` does not fit on the device: {} registers a thread, {} bytes of "
                        "shared memory a CTA, clusters of {} CTAs",
                        state_->name, state_->attributes.registers,
                        state_->attributes.shared_bytes + static_cast<std::size_t>(config.shared_bytes),
                        config.cluster.x * config.cluster.y * config.cluster.z),
            "use fewer threads, less shared memory or smaller clusters");
    cuda.check(result, fmt::format("launching kernel `{}`", state_->name));
    context.started(state_->name);
}

}  // namespace wgrun::gpu
