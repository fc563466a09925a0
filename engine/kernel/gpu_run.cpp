#include "kernel/gpu_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/assembler_notes.hpp"
#include "kernel/launch_spec.hpp"
#include "kernel/message_buffer.hpp"
#include "wgrun/device_tensor.hpp"
#include "wgrun/progress.hpp"

namespace wgrun {
namespace {

AssemblyReport report_of(gpu::AssemblerLog log, std::span<const Where> lines, const Program& program,
                         std::string assembler, const ForeignAssembly& foreign = {}) {
    AssemblyReport report;
    report.assembler = std::move(assembler);
    std::erase_if(log.notes, [&](const gpu::AssemblerNote& note) {
        return std::ranges::find(foreign.others, note.function) != foreign.others.end();
    });
    const std::string& name = foreign.entry.empty() ? program.name() : foreign.entry;
    for (gpu::FunctionReport& function : log.functions)
        if (function.name == name) function.name = program.name();
    report.findings = assembler_findings(log, lines, program, foreign.calls);
    for (const gpu::FunctionReport& function : log.functions) {
        if (function.name != program.name()) continue;
        report.registers = function.registers;
        report.spill_stores = static_cast<int>(function.spill_store_bytes);
        report.spill_loads = static_cast<int>(function.spill_load_bytes);
        report.static_shared = static_cast<std::int64_t>(function.shared_bytes);
    }
    for (const gpu::AssemblerNote& note : log.notes)
        if (!note.code.empty()) report.notes.push_back(note.code + ": " + note.message);
    return report;
}

constexpr std::chrono::seconds assembler_patience(60);

/// Returns the result of `assemble`. A CompileError that it throws gets its place in the script.
template <class Assemble>
auto located(std::span<const Where> lines, const Program& program, Assemble assemble) {
    try {
        return assemble();
    } catch (gpu::CompileError& error) {
        error.finding().where = place_of_error(error.log(), lines, program);
        throw;
    }
}

}  // namespace

/// Device copies of the tensors of one launch, and the bytes of its parameters.
class GpuLaunch::Arguments {
  public:
    Arguments(const gpu::Device& device, const Program& program, const std::vector<Argument>& args,
              Sharing sharing)
        : program_(program), args_(args), passed_(passed_tensors(args)) {
        // If its threads print, the program that the GPU runs has one more parameter (program/printing).
        if (args.size() < program.passed_params())
            messages_ = std::make_unique<MessageBuffer>(device, program);
        for (std::size_t i = 0; i < args.size(); ++i) {
            const Param& param = program.params()[i];
            written_.resize(written_.size() + passed_tensors(args[i]).size(), !may_only_read(param));
            names_.resize(written_.size(), param.name);
        }
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            const PassedTensor& passed = passed_[i];
            // A tensor that is passed twice has one copy on the device.
            if (const std::size_t same = first_of(i); same < i)
                copies_.push_back(copies_[same]);
            else
                copies_.push_back(passed.device != nullptr ? passed.device->on_gpu()
                                                           : device_copy(device, *passed.host, sharing));
        }
        make(device);
    }

    std::span<const gpu::Parameter> parameters() const { return parameters_; }

    MessageBuffer* messages() { return messages_.get(); }

    /// Copies all tensors to the device, into new memory where the old was lost, and writes the parameters.
    /// Throws EnvironmentError EFAULT, once, if results were lost with that memory.
    void make(const gpu::Device& device) {
        report_lost();
        std::vector<std::uint64_t> addresses;
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            DeviceCopy& copy = *copies_[i];
            if (passed_[i].device != nullptr) {
                passed_[i].device->on_gpu();
            } else if (first_of(i) == i) {
                const Tensor& tensor = *passed_[i].host;
                if (copy.buffer.lost()) remake(device, tensor, copy);
                // Another launch may hold it, perhaps one that only waits for its garbage collection. The
                // host decides what is in it, except for results that are still to be downloaded.
                if (!copy.ahead) copy.buffer.upload(tensor.bytes());
            }
            addresses.push_back(copy.buffer.address());
        }
        raw_ = raw_arguments(program_, args_, addresses);
        if (messages_) raw_.push_back({messages_->address(), {}, {}});
        maps_.clear();
        in_memory_.clear();
        parameters_.clear();
        maps_.reserve(raw_.size());
        for (std::size_t i = 0; i < raw_.size(); ++i) {
            RawArgument& raw = raw_[i];
            for (const PassedMap& map : raw.maps) {
                const gpu::TensorMap made = gpu::encode_tensor_map(device, map_spec(map));
                if (raw.in_memory) {
                    gpu::Buffer& place = in_memory_.emplace_back(device, sizeof made.bytes);
                    place.upload(std::as_bytes(std::span(made.bytes)));
                    raw.value = place.address();
                } else if (raw.structure.empty())
                    maps_.push_back(made);
                else
                    std::memcpy(raw.structure.data() + map.offset, made.bytes, sizeof made.bytes);
            }
            if (!raw.structure.empty())
                parameters_.push_back(raw.structure);
            else if (!raw.maps.empty() && !raw.in_memory)
                parameters_.push_back(std::as_bytes(std::span(maps_.back().bytes)));
            else
                parameters_.push_back(
                    std::as_bytes(std::span(&raw.value, 1))
                        .first(static_cast<std::size_t>(isa::bits(program_.params()[i].type) / 8)));
        }
    }

    /// Throws once when results are lost that were not downloaded.
    void report_lost() {
        std::string names;
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            if (passed_[i].device != nullptr || !copies_[i]->buffer.lost() ||
                !copies_[i]->ahead.exchange(false))
                continue;
            names += (names.empty() ? "`" : ", `") + names_[i] + "`";
        }
        if (!names.empty())
            throw EnvironmentError(
                "EFAULT",
                fmt::format("kernel `{}`: what launches had written to {} was lost with the worker "
                            "process when a kernel failed, before it was downloaded",
                            program_.name(), names),
                "start the launches that compute it again: the tensors now have the host's values");
    }

    const std::string& kernel() const { return program_.name(); }

    /// Records that the results of this launch are lost.
    void give_up() {
        for (std::size_t i = 0; i < copies_.size(); ++i)
            if (written_[i] && copies_[i]->buffer.lost()) copies_[i]->ahead = false;
    }

    /// Throws ArgumentError when a device tensor was closed.
    void check_open() const {
        for (const PassedTensor& passed : passed_)
            if (passed.device != nullptr && passed.device->closed()) passed.device->on_gpu();
    }

    std::vector<DeviceRange> ranges() const {
        std::vector<DeviceRange> out;
        for (std::size_t i = 0; i < copies_.size(); ++i)
            out.push_back({names_[i], copies_[i]->buffer.address(), copies_[i]->buffer.bytes()});
        return out;
    }

    void starts() const {
        for (std::size_t i = 0; i < copies_.size(); ++i)
            if (written_[i]) copies_[i]->ahead = true;
    }

    void upload() {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            if (passed_[i].host == nullptr) continue;
            copies_[i]->buffer.upload(std::as_const(*passed_[i].host).bytes());
            copies_[i]->ahead = false;
        }
    }

    /// The host's values overwrite the tensors, so lost results are not missed.
    void forget_results() {
        for (const std::shared_ptr<DeviceCopy>& copy : copies_) copy->ahead = false;
    }

    void download() {
        for (std::size_t i = 0; i < passed_.size(); ++i) {
            if (!written_[i] || passed_[i].host == nullptr) continue;
            copies_[i]->buffer.download(passed_[i].host->bytes());
            copies_[i]->ahead = false;
        }
    }

  private:
    std::size_t first_of(std::size_t i) const {
        return static_cast<std::size_t>(std::ranges::find(passed_, passed_[i]) - passed_.begin());
    }

    const Program& program_;
    std::unique_ptr<MessageBuffer> messages_;
    std::vector<Argument> args_;
    std::vector<PassedTensor> passed_;
    std::vector<bool> written_;
    std::vector<std::string> names_;
    std::vector<std::shared_ptr<DeviceCopy>> copies_;
    std::vector<RawArgument> raw_;
    std::vector<gpu::TensorMap> maps_;
    std::vector<gpu::Buffer> in_memory_;  ///< maps that parameters point to
    std::vector<gpu::Parameter> parameters_;
};

GpuLaunch::GpuLaunch(const gpu::Device& device, Reload function, const gpu::LaunchConfig& config,
                     const Program& program, const RunOptions& options, Sharing sharing)
    : device_(device),
      function_(std::move(function)),
      config_(config),
      timeout_(options.timeout),
      stop_(options.stop),
      arguments_(std::make_unique<Arguments>(device, program, options.args, sharing)),
      launch_(function_().prepare(config_, arguments_->parameters())) {}
GpuLaunch::GpuLaunch(GpuLaunch&&) noexcept = default;
GpuLaunch::~GpuLaunch() = default;

// After a failure of another launch, the kernel is loaded again, and the tensors get the host's values.
void GpuLaunch::restore() {
    arguments_->make(device_);
    launch_.emplace(function_().prepare(config_, arguments_->parameters()));
}

void GpuLaunch::start() {
    const gpu::Patience patience(timeout_, stop_);
    if (launch_->lost()) restore();
    arguments_->check_open();
    try {
        launch_->start();
    } catch (...) {
        arguments_->give_up();
        throw;
    }
    arguments_->starts();
}

void GpuLaunch::wait() {
    const gpu::Patience patience(timeout_, stop_);
    const Progress progress(Progress::Is::work, arguments_->kernel() + " on the GPU");
    try {
        device_.wait();
    } catch (...) {
        arguments_->give_up();
        throw;
    }
}

void GpuLaunch::upload() {
    const gpu::Patience patience(timeout_, stop_);
    if (launch_->lost()) {
        arguments_->forget_results();
        restore();
        return;
    }
    wait();
    arguments_->upload();
}

void GpuLaunch::download() {
    const gpu::Patience patience(timeout_, stop_);
    if (launch_->lost()) {
        arguments_->report_lost();  // otherwise host and device have the same values
        return;
    }
    wait();
    arguments_->download();
}

MessageBuffer* GpuLaunch::messages() { return arguments_->messages(); }

std::vector<DeviceRange> GpuLaunch::tensors() const { return arguments_->ranges(); }

GpuKernel::GpuKernel(gpu::Device device, Load load, const std::string& name, std::vector<Diagnostic> findings,
                     const gpu::Module& module)
    : device_(std::move(device)),
      load_(std::move(load)),
      function_(module.function(name)),
      findings_(std::move(findings)) {}

GpuKernel GpuKernel::from_ptx(const std::string& ptx, std::span<const Where> lines, const Program& program,
                              gpu::Isolation isolation) {
    gpu::Device device = gpu::Device::get(isolation);
    auto load = [device, ptx] { return gpu::Module::from_ptx(device, ptx); };
    gpu::Module module = located(lines, program, load);
    std::vector<Diagnostic> findings = assembler_findings(module.log(), lines, program);
    return {std::move(device), std::move(load), program.name(), std::move(findings), module};
}

GpuKernel GpuKernel::from_text(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               Entry entry, gpu::Isolation isolation) {
    gpu::Device device = gpu::Device::get(isolation);
    auto load = [device, ptx] { return gpu::Module::from_ptx(device, ptx); };
    gpu::Module module = located(lines, program, load);
    GpuKernel out{std::move(device), std::move(load), entry.name, {}, module};
    out.entry_ = std::move(entry);
    return out;
}

GpuKernel GpuKernel::from_lined_ptx(const std::string& ptx, const Program& program,
                                    gpu::Isolation isolation) {
    gpu::Device device = gpu::Device::get(isolation);
    const std::string option = "--generate-line-info";
    gpu::Cubin cubin = gpu::ptxas_assemble(ptx, std::span(&option, 1));
    auto load = [device, image = std::move(cubin.image)] { return gpu::Module::from_cubin(device, image); };
    gpu::Module module = load();
    return {std::move(device), std::move(load), program.name(), {}, module};
}

GpuKernel GpuKernel::from_cuda(const std::string& cuda, const Program& program, gpu::Isolation isolation,
                               bool lines) {
    gpu::Device device = gpu::Device::get(isolation);
    const std::string option = "--generate-line-info";
    gpu::Cubin cubin = gpu::nvrtc_compile(cuda, std::span(&option, lines ? 1 : 0));
    // Its notes refer to lines of NVRTC's own PTX, which is not visible.
    std::vector<Diagnostic> findings = assembler_findings(cubin.log, {}, program);
    auto load = [device, image = std::move(cubin.image)] { return gpu::Module::from_cubin(device, image); };
    gpu::Module module = load();
    return {std::move(device), std::move(load), program.name(), std::move(findings), module};
}

const gpu::Function& GpuKernel::function() {
    if (function_.lost()) function_ = load_().function(function_.name());
    return function_;
}

GpuLaunch GpuKernel::prepare(std::shared_ptr<GpuKernel> kernel, const Program& program,
                             const RunOptions& options, Sharing sharing) {
    const gpu::Device device = kernel->device_;
    gpu::LaunchConfig config = config_of(program, options.grid);
    if (kernel->entry_) {
        config.shared_bytes = options.shared.value_or(0);
        const Dim3 cluster = program.cluster();
        if (!kernel->entry_->tells_cluster) config.cluster = {cluster.x, cluster.y, cluster.z};
        if (kernel->entry_->counts_clusters)
            config.grid = {config.grid.x / cluster.x, config.grid.y / cluster.y, config.grid.z / cluster.z};
    }
    return {device, [kernel = std::move(kernel)] { return kernel->function(); }, config, program, options,
            sharing};
}

int GpuKernel::resident_clusters(const Program& program, std::optional<std::int64_t> dynamic_shared) {
    gpu::LaunchConfig config = config_of(program, {});
    config.shared_bytes = dynamic_shared.value_or(config.shared_bytes);
    const Dim3 cluster = program.cluster();
    config.cluster = {cluster.x, cluster.y, cluster.z};
    return function().resident_clusters(config);
}

GpuTimes GpuKernel::time(std::shared_ptr<GpuKernel> kernel, const Program& program,
                         const TimeOptions& options) {
    const gpu::Patience patience(options.timeout, options.stop);
    const gpu::Device device = kernel->device_;
    GpuLaunch launch = prepare(std::move(kernel), program, options, Sharing::own);
    const Progress progress(Progress::Is::work, program.name() + " is measured");
    gpu::TimingOptions timing;
    timing.rounds = options.rounds;
    const auto work = [&] { launch.start(); };
    if (!options.against) return {gpu::time(device, work, timing), {}};
    gpu::ComparedTimes comparison = gpu::compare(
        device, work, [&] { options.against->start(); }, timing);
    return {std::move(comparison.first), std::move(comparison.second)};
}

AssemblyReport assemble_report(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               const std::atomic<bool>* stop, const ForeignAssembly& foreign) {
    return located(lines, program, [&] {
        try {
            const std::string option = "--compile-only";
            return report_of(
                gpu::ptxas_assemble(ptx, std::span(&option, foreign.linked ? 1 : 0), assembler_patience, stop)
                    .log,
                lines, program, "ptxas", foreign);
        } catch (const EnvironmentError& error) {  // without ptxas, the driver reports the same
            if (error.code() != "ENOENT") throw;
            if (const auto reason = gpu::Device::unavailable())
                throw EnvironmentError("ENODEV",
                                       fmt::format("{}; no GPU to run on: {}", error.what(), *reason),
                                       error.finding().fix);
            const gpu::Patience patience(assembler_patience, stop);
            return report_of(gpu::Module::from_ptx(gpu::Device::get(), ptx).log(), lines, program,
                             "driver JIT", foreign);
        }
    });
}

}  // namespace wgrun
