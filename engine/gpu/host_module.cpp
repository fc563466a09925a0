#include "gpu/host_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "gpu/compile.hpp"
#include "gpu/driver.hpp"
#include "gpu/jit_logs.hpp"
#include "gpu/raw_launch.hpp"

namespace wgrun::gpu {

namespace {

/// Lets this thread do what is forbidden while a stream is captured: loading code does not touch the capture.
class RelaxedCapture {
  public:
    explicit RelaxedCapture(const HostDriver& driver) : driver_(driver) {
        driver_.exchange_capture_mode(&mode_);
    }
    ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    const HostDriver& driver_;
    int mode_ = abi::capture_mode_relaxed;
};

bool captures(const HostDriver& driver, void* stream) {
    int status = 0;  // the default stream cannot be captured
    return stream != nullptr && driver.stream_is_capturing(stream, &status) == abi::success && status != 0;
}

}  // namespace

HostContext::Entered::~Entered() {
    if (!pushed) return;
    abi::Handle popped = nullptr;
    driver.context_pop(&popped);
    driver.base->primary_context_release(device);
}

HostContext::HostContext(const HostDriver& driver, int device) : driver_(driver), entered_(driver) {
    check(driver_.context_get_current(&handle_), "asking for the current context");
    if (handle_ != nullptr)
        check(driver_.context_get_device(&device_), "asking for the device of the current context");
    if (device >= 0 && (handle_ == nullptr || device_ != device)) {
        const Driver& base = *driver_.base;
        const std::string doing = fmt::format("entering the primary context of device {}", device);
        check(base.device_get(&device_, device), doing);
        check(base.primary_context_retain(&handle_, device_), doing);
        const abi::Result pushed = driver_.context_push(handle_);
        if (pushed != abi::success) base.primary_context_release(device_);
        check(pushed, doing);
        entered_.device = device_;
        entered_.pushed = true;
    }
    if (handle_ == nullptr)
        throw EnvironmentError("ENODEV", "no CUDA context is current in this thread",
                               "name the device, or call cudaSetDevice or cuCtxSetCurrent first");
    check(driver_.context_get_id(handle_, &id_), "asking for the context's id");
}

void HostContext::check(abi::Result result, std::string_view doing) const {
    if (result == abi::success) return;
    const std::string message = fmt::format("while {}: {}", doing, error_text(*driver_.base, result));
    if (result == abi::out_of_memory) throw EnvironmentError("ENOMEM", message);
    throw EnvironmentError("EFAULT", message, is_sticky(result) ? fault_advice(result) : std::string());
}

struct HostModule::Loaded {
    const HostDriver* driver = nullptr;
    abi::Handle context = nullptr;
    unsigned long long id = 0;
    abi::Handle module = nullptr;
    abi::Handle function = nullptr;
    FunctionAttributes attributes{};
    std::atomic<bool> captured = false;  ///< a graph may hold it

    Loaded() = default;
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;
    ~Loaded() {
        unsigned long long now = 0;
        if (module == nullptr || captured || driver->context_get_id(context, &now) != abi::success ||
            now != id)
            return;
        const RelaxedCapture relaxed(*driver);
        if (driver->context_push(context) != abi::success) return;
        driver->base->module_unload(module);
        driver->context_pop(&context);
    }
};

HostModule::HostModule(std::string image, std::string kernel, LaunchConfig needs)
    : image_(std::move(image)), kernel_(std::move(kernel)), needs_(needs) {}
HostModule::~HostModule() = default;

std::unique_ptr<HostModule::Loaded> HostModule::make(const HostContext& context) const {
    const HostDriver& driver = context.driver();
    const Driver& base = *driver.base;
    const auto capability = [&](abi::DeviceAttribute which) {
        int value = 0;
        context.check(base.device_get_attribute(&value, which, context.device()), "asking for the device");
        return value;
    };
    const int major = capability(abi::DeviceAttribute::compute_capability_major);
    const int minor = capability(abi::DeviceAttribute::compute_capability_minor);
    if (major != 9 || minor != 0)
        throw EnvironmentError("ENODEV", fmt::format("device {} is an sm_{}{}: kernel `{}` needs an sm_90",
                                                     context.device(), major, minor, kernel_));

    const RelaxedCapture relaxed(driver);
    auto loaded = std::make_unique<Loaded>();
    loaded->driver = &driver;
    loaded->context = context.handle();
    loaded->id = context.id();
    const auto logs = std::make_unique<JitLogs>();
    const abi::Result result = base.module_load_data_ex(&loaded->module, image_.c_str(), logs->count(),
                                                        logs->options(), logs->values());
    if (result != abi::success) loaded->module = nullptr;
    throw_if_refused(base, result, image_, *logs);
    context.check(result, fmt::format("loading kernel `{}`", kernel_));
    context.check(base.module_get_function(&loaded->function, loaded->module, kernel_.c_str()),
                  fmt::format("looking for kernel `{}`", kernel_));
    context.check(read_attributes(base, loaded->function, loaded->attributes),
                  "reading a kernel's attributes");
    using enum abi::FunctionAttribute;
    context.check(base.function_set_attribute(loaded->function, max_dynamic_shared_size_bytes,
                                              static_cast<int>(needs_.shared_bytes)),
                  "raising the limit of dynamic shared memory");
    if (needs_.non_portable_cluster)
        context.check(base.function_set_attribute(loaded->function, non_portable_cluster_size_allowed, 1),
                      "allowing large clusters");
    return loaded;
}

HostModule::Loaded& HostModule::in(const HostContext& context) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(loaded_, [&](const auto& loaded) { return loaded->id == context.id(); });
    if (found != loaded_.end()) return **found;
    return *loaded_.emplace_back(make(context));
}

void HostModule::load(const HostContext& context) { in(context); }

void HostModule::launch(const HostContext& context, const LaunchConfig& given,
                        std::span<const Parameter> parameters) {
    Loaded& loaded = in(context);
    LaunchConfig config = given;
    config.shared_bytes = needs_.shared_bytes;
    config.non_portable_cluster = needs_.non_portable_cluster;
    check_launch(kernel_, loaded.attributes, config, parameters);
    std::array<abi::LaunchAttribute, 2> attributes{};
    const abi::LaunchConfig raw = raw_config(config, attributes);
    std::vector<void*> pointers;
    pointers.reserve(parameters.size());
    for (const Parameter& parameter : parameters)
        pointers.push_back(const_cast<std::byte*>(parameter.data()));
    if (!loaded.captured && captures(context.driver(), config.stream)) loaded.captured = true;
    const abi::Result result =
        context.driver().base->launch_kernel_ex(&raw, loaded.function, pointers.data(), nullptr);
    if (result == abi::launch_out_of_resources || result == abi::invalid_cluster_size)
        throw does_not_fit(
            kernel_, loaded.attributes, static_cast<std::size_t>(config.shared_bytes),
            loaded.attributes.cluster.x * loaded.attributes.cluster.y * loaded.attributes.cluster.z);
    context.check(result, fmt::format("launching kernel `{}`", kernel_));
}

int HostModule::resident_clusters(const HostContext& context, const Extents& cluster) {
    const Loaded& loaded = in(context);
    // The driver asks for the cluster's extents even where they are 1, and for a grid of whole clusters.
    LaunchConfig config = needs_;
    config.grid = cluster;
    std::array<abi::LaunchAttribute, 2> attributes{};
    abi::LaunchConfig raw = raw_config(config, attributes);
    attributes[0] = cluster_attribute(cluster);
    raw.attribute_count = 1;
    int clusters = 0;
    context.check(context.driver().base->occupancy_max_active_clusters(&clusters, loaded.function, &raw),
                  "asking how many clusters run at a time");
    return clusters;
}

Cubin driver_assemble(const HostContext& context, std::string_view ptx) {
    const std::string text = source_text(ptx, "PTX");
    const HostDriver& driver = context.driver();
    const RelaxedCapture relaxed(driver);
    const auto logs = std::make_unique<JitLogs>();
    abi::Handle made = nullptr;
    context.check(driver.link_create(logs->count(), logs->options(), logs->values(), &made),
                  "starting the driver's assembler");
    struct Destroy {
        const HostDriver& driver;
        abi::Handle state;
        ~Destroy() { driver.link_destroy(state); }
    } const link{driver, made};
    void* image = nullptr;
    std::size_t bytes = 0;
    abi::Result result =
        driver.link_add_data(link.state, abi::link_input_ptx, const_cast<char*>(text.c_str()),
                             text.size() + 1, "kernel", 0, nullptr, nullptr);
    if (result == abi::success) result = driver.link_complete(link.state, &image, &bytes);
    throw_if_refused(*driver.base, result, text, *logs);
    context.check(result, "assembling PTX");
    const auto* first = static_cast<const std::byte*>(image);
    return {{first, first + bytes}, parse_log(logs->info()), false};
}

}  // namespace wgrun::gpu
