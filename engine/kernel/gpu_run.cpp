#include "kernel/gpu_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/assembler_notes.hpp"
#include "kernel/launch_spec.hpp"

namespace wgrun {
namespace {

AssemblyReport report_of(const gpu::AssemblerLog& log, std::span<const Where> lines, const Program& program,
                         std::string assembler) {
    AssemblyReport report;
    report.assembler = std::move(assembler);
    report.findings = assembler_findings(log, lines, program);
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

/// Calls `assemble`; a CompileError that it throws gets its place in the script.
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
        : tensors_(tensors_of(args)) {
        std::vector<std::uint64_t> addresses;
        for (Tensor* tensor : tensors_) {
            // One that is passed twice is one on the device as well.
            if (const auto same = std::ranges::find(tensors_, tensor) - tensors_.begin();
                static_cast<std::size_t>(same) < copies_.size()) {
                addresses.push_back(addresses[static_cast<std::size_t>(same)]);
                copies_.push_back(copies_[static_cast<std::size_t>(same)]);
                continue;
            }
            std::shared_ptr<DeviceCopy> copy = device_copy(device, *tensor, sharing);
            // Another launch may hold it, perhaps one that only waits for its garbage collection: the host
            // decides what is in it, but for results that are still to be fetched.
            if (!copy->ahead) copy->buffer.upload(std::as_const(*tensor).bytes());
            addresses.push_back(copy->buffer.address());
            copies_.push_back(std::move(copy));
        }
        for (const Param& param : program.params())
            if (param.pointee || param.box) written_.push_back(!param.constant);
        raw_ = raw_arguments(program, args, addresses);
        maps_.reserve(raw_.size());
        for (std::size_t i = 0; i < raw_.size(); ++i) {
            const Param& param = program.params()[i];
            if (param.box) {
                maps_.push_back(gpu::encode_tensor_map(
                    device, map_spec(*param.box, std::get<Tensor*>(args[i])->shape(), raw_[i])));
                parameters_.push_back(std::as_bytes(std::span(maps_.back().bytes)));
            } else {
                parameters_.push_back(std::as_bytes(std::span(&raw_[i], 1))
                                          .first(static_cast<std::size_t>(isa::bits(param.type) / 8)));
            }
        }
    }

    std::span<const gpu::Parameter> parameters() const { return parameters_; }

    void starts() const {
        for (std::size_t i = 0; i < copies_.size(); ++i)
            if (written_[i]) copies_[i]->ahead = true;
    }

    void upload() {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            copies_[i]->buffer.upload(std::as_const(*tensors_[i]).bytes());
            copies_[i]->ahead = false;
        }
    }

    void download() {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            if (!written_[i]) continue;
            copies_[i]->buffer.download(tensors_[i]->bytes());
            copies_[i]->ahead = false;
        }
    }

  private:
    std::vector<Tensor*> tensors_;
    std::vector<bool> written_;
    std::vector<std::shared_ptr<DeviceCopy>> copies_;
    std::vector<std::uint64_t> raw_;
    std::vector<gpu::TensorMap> maps_;
    std::vector<gpu::Parameter> parameters_;
};

GpuLaunch::GpuLaunch(const gpu::Device& device, const gpu::Function& function, const Program& program,
                     const RunOptions& options, Sharing sharing)
    : device_(device),
      timeout_(options.timeout),
      arguments_(std::make_unique<Arguments>(device, program, options.args, sharing)),
      launch_(function.prepare(config_of(program, options.grid), arguments_->parameters())) {}
GpuLaunch::GpuLaunch(GpuLaunch&&) noexcept = default;
GpuLaunch::~GpuLaunch() = default;

void GpuLaunch::start() const {
    launch_->start();
    arguments_->starts();
}

void GpuLaunch::wait() {
    device_.set_timeout(timeout_);
    device_.wait();
}

void GpuLaunch::upload() {
    wait();
    arguments_->upload();
}

void GpuLaunch::download() {
    wait();
    arguments_->download();
}

GpuKernel::GpuKernel(gpu::Device device, gpu::Module module, const std::string& name,
                     std::vector<Diagnostic> findings)
    : device_(std::move(device)),
      module_(std::move(module)),
      function_(module_.function(name)),
      findings_(std::move(findings)) {}

GpuKernel GpuKernel::from_ptx(const std::string& ptx, std::span<const Where> lines, const Program& program) {
    gpu::Device device = gpu::Device::get();
    gpu::Module module = located(lines, program, [&] { return gpu::Module::from_ptx(device, ptx); });
    std::vector<Diagnostic> findings = assembler_findings(module.log(), lines, program);
    return {std::move(device), std::move(module), program.name(), std::move(findings)};
}

GpuKernel GpuKernel::from_cuda(const std::string& cuda, const Program& program) {
    gpu::Device device = gpu::Device::get();
    const gpu::Cubin cubin = gpu::nvrtc_compile(cuda);
    gpu::Module module = gpu::Module::from_cubin(device, cubin.image);
    // Its notes name lines of the PTX that NVRTC makes, which nobody sees.
    return {std::move(device), std::move(module), program.name(), assembler_findings(cubin.log, {}, program)};
}

bool GpuKernel::lost() const { return function_.lost(); }

GpuLaunch GpuKernel::prepare(const Program& program, const RunOptions& options, Sharing sharing) {
    device_.set_timeout(options.timeout);  // copies wait for what runs
    return {device_, function_, program, options, sharing};
}

int GpuKernel::resident_clusters(const Program& program) const {
    gpu::LaunchConfig config = config_of(program, {});
    const Dim3 cluster = program.cluster();
    config.cluster = {cluster.x, cluster.y, cluster.z};
    return function_.resident_clusters(config);
}

GpuTimes GpuKernel::time(const Program& program, const TimeOptions& options) {
    device_.set_timeout(options.timeout);
    const GpuLaunch launch = prepare(program, options, Sharing::own);
    gpu::TimingOptions timing;
    timing.rounds = options.rounds;
    const auto work = [&] { launch.start(); };
    if (!options.against) return {gpu::time(device_, work, timing), {}};
    gpu::Comparison comparison = gpu::compare(
        device_, work, [&] { options.against->start(); }, timing);
    return {std::move(comparison.first), std::move(comparison.second)};
}

AssemblyReport assemble_report(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               const std::atomic<bool>* stop) {
    return located(lines, program, [&] {
        try {
            return report_of(gpu::ptxas_assemble(ptx, {}, assembler_patience, stop).log, lines, program,
                             "ptxas");
        } catch (const EnvironmentError& error) {  // no ptxas here: the driver can tell too
            if (error.code() != "ENOENT") throw;
            if (const auto reason = gpu::Device::unavailable())
                throw EnvironmentError("ENODEV",
                                       fmt::format("{}; no GPU to run on: {}", error.what(), *reason),
                                       error.finding().fix);
            return report_of(gpu::Module::from_ptx(gpu::Device::get(), ptx).log(), lines, program,
                             "driver JIT");
        }
    });
}

}  // namespace wgrun
