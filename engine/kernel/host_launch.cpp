// Launches in the context and the stream of the embedding program.
#include "wgrun/host_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "check/sizes.hpp"
#include "gpu/host_module.hpp"
#include "gpu/tensor_map.hpp"
#include "kernel/arguments.hpp"
#include "kernel/assembler_notes.hpp"
#include "kernel/errors.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/launch_spec.hpp"
#include "program/printing.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

Backend gpu_backend(Backend asked) {
    if (asked == Backend::automatic) return Backend::gpu;
    if (asked != Backend::gpu && asked != Backend::gpu_cuda)
        throw ArgumentError(fmt::format("device memory cannot be used on the backend `{}`", to_string(asked)),
                            "gpu or gpu-cuda");
    return asked;
}

/// A tensor map, and its specification.
struct EncodedMap {
    std::uint64_t address = 0;
    TensorShape shape;
    gpu::TensorMap map;
};

std::string image_of(const gpu::Cubin& cubin) {
    return {reinterpret_cast<const char*>(cubin.image.data()), cubin.image.size()};
}

}  // namespace

/// State that the launches of a kernel share.
struct Hosted {
    Hosted(std::string image, const Program& program)
        : config(config_of(program, {})),
          module(std::move(image), program.name(), config),
          raw(program.params().size()),
          maps(program.params().size()),
          parameters(program.params().size()) {}

    /// Writes the raw parameters of the arguments, which fit the program.
    void set(const gpu::HostContext& context, const Program& program, const std::vector<HostArgument>& args);
    void set_map(const gpu::HostContext& context, std::size_t i, const TensorBox& box,
                 const HostPointer& pointer);

    gpu::LaunchConfig config;
    gpu::HostModule module;
    std::vector<std::uint64_t> raw;
    std::vector<EncodedMap> maps;
    std::vector<gpu::Parameter> parameters;
};

void Hosted::set_map(const gpu::HostContext& context, std::size_t i, const TensorBox& box,
                     const HostPointer& pointer) {
    EncodedMap& known = maps[i];
    if (known.address == pointer.address && known.shape == *pointer.shape) return;
    known.address = 0;
    const gpu::TensorMapSpec spec = map_spec(box, *pointer.shape, pointer.address);
    gpu::check_tensor_map(spec);
    context.check(gpu::encode(*context.driver().base, spec, known.map), "encoding a tensor map");
    known.shape = *pointer.shape;
    known.address = pointer.address;
}

void Hosted::set(const gpu::HostContext& context, const Program& program,
                 const std::vector<HostArgument>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
        const Param& param = program.params()[i];
        if (const auto* pointer = std::get_if<HostPointer>(&args[i])) {
            raw[i] = pointer->address;
            if (param.box) {
                set_map(context, i, *param.box, *pointer);
                parameters[i] = std::as_bytes(std::span(maps[i].map.bytes));
                continue;
            }
        } else if (const auto* integer = std::get_if<std::int64_t>(&args[i])) {
            raw[i] = raw_number(*integer, param.type);
        } else {
            raw[i] = raw_number(std::get<double>(args[i]), param.type);
        }
        parameters[i] =
            std::as_bytes(std::span(&raw[i], 1)).first(static_cast<std::size_t>(isa::bits(param.type) / 8));
    }
}

namespace {

void check_pointer(const Program& program, std::size_t i, const HostPointer& pointer) {
    check_memory(program, i, {pointer.dtype, pointer.shape ? &*pointer.shape : nullptr});
    if (pointer.read_only && !program.params()[i].constant)
        throw wrong_argument(program, i, "the memory is read-only, and the parameter is not const",
                             "declare the parameter const, or pass a copy");
    const bool empty = pointer.shape && std::ranges::find(*pointer.shape, 0) != pointer.shape->end();
    if (pointer.address == 0 && !empty) throw wrong_argument(program, i, "a null pointer");
}

void check_arguments(const Program& program, const HostLaunch& launch) {
    check_count(program, launch.args.size());
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
        if (const auto* pointer = std::get_if<HostPointer>(&launch.args[i]))
            check_pointer(program, i, *pointer);
        else if (const auto* integer = std::get_if<std::int64_t>(&launch.args[i]))
            check_number(program, i, *integer);
        else
            check_number(program, i, std::get<double>(launch.args[i]));
    }
    check_grid(program, launch.grid);
}

// The memory of argument `i`, a pointer or tensor map's, as a tensor.
Tensor wrap(const Program& program, std::size_t i, const HostPointer& pointer) {
    const Param& param = program.params()[i];
    const Dtype dtype = param.box ? param.box->dtype : *param.pointee;
    if (!pointer.shape) throw wrong_argument(program, i, "the simulator needs its shape");
    auto* const data = reinterpret_cast<void*>(pointer.address);
    return pointer.read_only ? Tensor::wrap_read_only(dtype, *pointer.shape, data, nullptr)
                             : Tensor::wrap(dtype, *pointer.shape, data, nullptr);
}

std::vector<std::int64_t> integers_of(const HostLaunch& launch) {
    std::vector<std::int64_t> integers;
    integers.reserve(launch.args.size());
    for (const HostArgument& argument : launch.args) {
        const auto* integer = std::get_if<std::int64_t>(&argument);
        integers.push_back(integer == nullptr ? 0 : *integer);
    }
    return integers;
}

}  // namespace

Hosted& Kernel::State::hosted(Backend backend, bool unchecked) {
    Specialisation& of = now();
    if (!unchecked) throw_errors_of(of.checks.findings());
    std::shared_ptr<Hosted>& slot = of.hosted[backend];
    if (slot) return *slot;
    refuse_messages(of.program(), "a launch in the caller's stream");
    slot = std::make_shared<Hosted>(
        backend == Backend::gpu ? of.texts.ptx() : image_of(gpu::nvrtc_compile(of.texts.cuda())),
        of.program());
    return *slot;
}

std::vector<Diagnostic> Kernel::check(const HostLaunch& launch) {
    KernelChecks& checks = state_->now().checks;
    std::vector<Diagnostic> findings = checks.findings();
    if (checks.wrong()) return findings;
    check_count(program(), launch.args.size());
    check_grid(program(), launch.grid);
    std::ranges::move(checks.of_launch({launch.grid, integers_of(launch)}), std::back_inserter(findings));
    return findings;
}

namespace {

/// What the text of a compiler leaves open, this launch tells: sizes, and the types of pointers.
HostRun left_open(const HostLaunch& launch) {
    HostRun out;
    out.options.block = launch.block;
    out.options.cluster = launch.cluster;
    out.options.shared = launch.shared;
    out.tensors.reserve(launch.args.size());
    for (const HostArgument& argument : launch.args) {
        out.options.args.emplace_back(std::int64_t{0});
        const auto* pointer = std::get_if<HostPointer>(&argument);
        if (pointer == nullptr || pointer->address == 0) continue;
        // Its type alone matters here: the memory may be a device's.
        out.tensors.push_back(Tensor::wrap(pointer->dtype.value_or(Dtype::u8), {1},
                                           reinterpret_cast<void*>(pointer->address), nullptr));
        out.options.args.back() = &out.tensors.back();
    }
    return out;
}

}  // namespace

void Kernel::State::fit(const HostLaunch& launch) { fit(left_open(launch).options); }

HostRun run_of(Kernel& kernel, const HostSimulation& launch) {
    kernel.fit(left_open(launch).options);
    const Program& program = kernel.program();
    check_arguments(program, launch);
    HostRun out;
    out.tensors.reserve(launch.args.size());
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
        if (const auto* pointer = std::get_if<HostPointer>(&launch.args[i])) {
            out.tensors.push_back(wrap(program, i, *pointer));
            out.options.args.emplace_back(&out.tensors.back());
        } else if (const auto* integer = std::get_if<std::int64_t>(&launch.args[i])) {
            out.options.args.emplace_back(*integer);
        } else {
            out.options.args.emplace_back(std::get<double>(launch.args[i]));
        }
    }
    out.options.grid = launch.grid;
    out.options.block = launch.block;
    out.options.cluster = launch.cluster;
    out.options.shared = launch.shared;
    out.options.backend = Backend::sim;
    out.options.seed = launch.seed;
    out.options.numerics = launch.numerics;
    out.options.unchecked = launch.unchecked;
    out.options.stop = launch.stop;
    out.options.simulation = launch.limits;
    out.options.isolation = gpu::Isolation::process;  // the host's
    return out;
}

void Kernel::simulate(const HostSimulation& launch) { run(run_of(*this, launch).options); }

void Kernel::launch(const HostLaunch& launch) {
    const Backend backend = gpu_backend(launch.backend);
    state_->fit(launch);
    check_arguments(program(), launch);
    Hosted& hosted = state_->hosted(backend, launch.unchecked);
    if (!launch.unchecked) state_->now().checks.require({launch.grid, integers_of(launch)});
    const gpu::HostContext context(gpu::host_driver(), launch.device);
    state_->load(hosted, context);
    hosted.set(context, program(), launch.args);
    gpu::LaunchConfig config = hosted.config;
    config.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    config.stream = launch.stream;
    hosted.module.launch(context, config, hosted.parameters);
}

void Kernel::State::load(Hosted& hosted, const gpu::HostContext& context) {
    try {
        hosted.module.load(context);
    } catch (gpu::CompileError& error) {
        error.finding().where = place_of_error(error.log(), now().texts.ptx_lines(), now().program());
        throw;
    }
}

void Kernel::load(Backend backend, int device) {
    Hosted& hosted = state_->hosted(gpu_backend(backend), false);
    state_->load(hosted, gpu::HostContext(gpu::host_driver(), device));
}

int Kernel::resident_clusters(Backend backend, int device) {
    Hosted& hosted = state_->hosted(gpu_backend(backend), false);
    const gpu::HostContext context(gpu::host_driver(), device);
    state_->load(hosted, context);
    const Dim3 cluster = program().cluster();
    return hosted.module.resident_clusters(context, {cluster.x, cluster.y, cluster.z});
}

}  // namespace wgrun
