// Launches: a kernel's program with arguments, on a back end.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "kernel/guarded_run.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/message_buffer.hpp"
#include "kernel/print.hpp"
#include "kernel/sim_run.hpp"
#include "kernel/stream.hpp"
#include "kernel/timing.hpp"
#include "sim/sim.hpp"

namespace wgrun {

struct Launch::State {
    std::shared_ptr<const Program> program, started;  // the latter on the GPU
    RunOptions options;
    Backend backend;
    std::optional<GpuLaunch> gpu;                // without: the simulator
    std::shared_ptr<const ForeignEntry> origin;  // of a kernel that was read from PTX
    std::vector<Diagnostic> remarks = {};
    bool shares = false;  ///< its tensors, with other launches
    std::shared_ptr<const void> token = std::make_shared<char>();

    /// Runs a step on the GPU, if the launch is one for the GPU. Failures of the kernel are explained.
    void take(void (GpuLaunch::*step)()) {
        if (!gpu) return;
        try {
            ((*gpu).*step)();
        } catch (const gpu::KernelFailure& failure) {
            if (origin != nullptr) throw;  // its guarded build would be another text
            hear();
            throw_explained(program, options, failure);
        }
    }

    /// Runs the kernel on the simulator. Tensors that no other launch has are those of no launch before it.
    void simulate() {
        Stream& stream = Stream::of_this_thread();
        sim::Overlap overlap;
        if (shares) stream.begin(*program, overlap);
        const bool alone = overlap.before.empty() && overlap.touched == nullptr;
        try {
            std::vector<Diagnostic> found =
                run_on_simulator(*program, options, origin.get(), alone ? nullptr : &overlap);
            std::ranges::move(found, std::back_inserter(remarks));
        } catch (...) {
            stream.wait();
            throw;
        }
        stream.end(overlap, token);
    }

    /// Prints the messages of threads. CheckError if an assertion failed or a trap was executed.
    void hear() {
        MessageBuffer* messages = gpu->messages();
        if (messages == nullptr) return;
        const MessageLog log = messages->take(options.grid);
        messages->clear();
        print_messages(log, options);
        if (const std::optional<Diagnostic> end = log.end()) throw CheckError({*end});
    }
};

Launch::Launch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Launch::Launch(Launch&&) noexcept = default;
Launch& Launch::operator=(Launch&&) noexcept = default;
Launch::~Launch() = default;

Backend Launch::backend() const { return state_->backend; }

void Launch::start() {
    if (state_->gpu) {
        state_->take(&GpuLaunch::start);
        if (state_->gpu->messages() == nullptr) return;
        state_->take(&GpuLaunch::wait);
        state_->hear();
    } else {
        state_->simulate();
    }
}

void Launch::wait() {
    if (!state_->gpu) Stream::of_this_thread().wait();
    state_->take(&GpuLaunch::wait);
}

void Launch::upload() {
    if (!state_->gpu) Stream::of_this_thread().wait();
    state_->take(&GpuLaunch::upload);
}

void Launch::download() {
    if (!state_->gpu) Stream::of_this_thread().wait();
    state_->take(&GpuLaunch::download);
}

std::vector<Diagnostic> Launch::take_remarks() { return std::exchange(state_->remarks, {}); }

Launch Kernel::State::launch(const RunOptions& given, Sharing sharing) {
    const RunOptions options = source.in_ctas(given);
    const gpu::Patience patience(options.timeout, options.stop);
    const Backend backend = admitted(options);
    auto state = std::make_unique<Launch::State>(
        Launch::State{now().shared_program(), now().texts.printing(), options, backend, {}, source.entry()});
    state->shares = sharing == Sharing::shared;
    if (backend == Backend::sim)
        for (std::vector<Argument>* args : of_devices(state->options)) move_to_simulator(*args);
    else
        state->gpu.emplace(GpuKernel::prepare(compiled(backend, options.isolation, options.lines),
                                              *state->started, options, sharing));
    return Launch(std::move(state));
}

Backend Kernel::run(const RunOptions& options) {
    if (options.guarded)
        if (const Backend backend = state_->admitted(options); backend != Backend::sim) {
            const gpu::Patience patience(options.timeout, options.stop);
            GuardedKernel(state_->now().shared_program(), backend, options.isolation, false)
                .run(options, GuardLimits::within(options.timeout));
            return backend;
        }
    Launch launch = state_->launch(options, Sharing::own);
    launch.start();
    std::ranges::move(launch.take_remarks(), std::back_inserter(state_->remarks));
    launch.download();
    return launch.backend();
}

Launch Kernel::prepare(const RunOptions& options) { return state_->launch(options, Sharing::shared); }

Timing Kernel::time(const TimeOptions& options) {
    const gpu::Patience patience(options.timeout, options.stop);
    const Backend backend = state_->admitted(options);
    if (options.rounds < 1)
        throw ArgumentError("kernel:time: rounds must be at least 1, not " + std::to_string(options.rounds));
    if (backend == Backend::sim) return state_->time_on_simulator(options);
    const GpuTimes times = GpuKernel::time(state_->compiled(backend, options.isolation, options.lines),
                                           *state_->now().texts.printing(), options);
    Timing timing = summary(times.kernel, options.flops, backend);
    if (options.against)
        timing.against = std::make_shared<Timing>(summary(times.against, options.against->flops(), backend));
    return timing;
}

Timing Kernel::State::time_on_simulator(const TimeOptions& options) {
    if (options.against) throw ArgumentError("kernel:time: cuBLAS and the simulator cannot be compared");
    RunOptions simulated = static_cast<const RunOptions&>(options);
    // On copies, as on the GPU, since a measurement must not change tensors. A tensor that is passed twice is
    // copied once.
    std::map<const Tensor*, Tensor> copies;
    for (std::vector<Argument>* args : of_devices(simulated)) {
        move_to_simulator(*args);
        for_each_tensor(*args, [&](Tensor*& tensor) {
            if (tensor != nullptr) tensor = &copies.try_emplace(tensor, tensor->copy()).first->second;
        });
    }
    std::vector<double> us;
    for (int i = 0; i < options.rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run_on_simulator(now().program(), simulated, source.entry().get());
        us.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    return summary(std::move(us), options.flops, Backend::sim);
}

std::optional<int> Kernel::resident_clusters(gpu::Isolation isolation) {
    if (choose_backend(Backend::automatic, isolation).backend == Backend::sim) return std::nullopt;
    Specialisation& now = state_->now();
    throw_errors_of(now.checks.laws());
    return state_->compiled(Backend::gpu, isolation)
        ->resident_clusters(now.program(), now.facts.dynamic_shared);
}

}  // namespace wgrun
