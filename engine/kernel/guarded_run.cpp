#include "kernel/guarded_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emit/emit.hpp"
#include "isa/guard.hpp"
#include "kernel/hang_report.hpp"
#include "kernel/message_buffer.hpp"
#include "kernel/print.hpp"
#include "program/printing.hpp"

namespace wgrun {
namespace {

using std::chrono::milliseconds;

// Of a kernel that is run again after it has failed: less than a second is lost when it hangs again.
constexpr GuardLimits again{milliseconds(150), milliseconds(400)};
constexpr milliseconds again_in_all{800};
// Traced, each access takes some microseconds.
constexpr GuardLimits again_traced{milliseconds(500), milliseconds(700)};
constexpr milliseconds again_traced_in_all{1000};

std::int64_t ticks(milliseconds time) {
    const std::int64_t ns = std::chrono::nanoseconds(time).count();
    return std::min<std::int64_t>(ns >> isa::guard::tick_bits, UINT32_MAX);
}

GpuKernel compiled(const Program& program, Backend backend, gpu::Isolation isolation) {
    if (backend == Backend::gpu_cuda)
        return GpuKernel::from_cuda(emit::cuda(program).text, program, isolation);
    const emit::Text text = emit::ptx(program);
    return GpuKernel::from_ptx(text.text, text.lines, program, isolation);
}

double seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

GuardLimits GuardLimits::within(milliseconds timeout) {
    // A warp that is overdue gives the others as long as a poll may take.
    if (timeout.count() == 0) return {std::chrono::hours(24), std::chrono::hours(24)};
    return {timeout / 4, timeout / 2};
}

GuardedKernel::GuardedKernel(std::shared_ptr<const Program> program, Backend backend,
                             gpu::Isolation isolation, bool traced)
    : program_(std::move(program)),
      guarded_(prints(*program_) ? guarded(printing(*program_), traced) : guarded(*program_, traced)),
      device_(gpu::Device::get(isolation)),
      kernel_(std::make_shared<GpuKernel>(compiled(guarded_.program, backend, isolation))) {}

void GuardedKernel::run(const RunOptions& options, const GuardLimits& limits) {
    gpu::HostVisible block(device_, isa::guard::block_bytes);
    RunOptions with = options;
    std::optional<MessageBuffer> messages;
    if (!program_->messages().empty())
        with.args.emplace_back(static_cast<std::int64_t>(messages.emplace(device_, *program_).address()));
    // Prints the messages of threads. CheckError if an assertion failed or a trap was executed.
    const auto hear = [&] {
        if (!messages) return;
        const MessageLog log = messages->take(options.grid);
        print_messages(log, options);
        if (const std::optional<Diagnostic> end = log.end()) throw CheckError({*end});
    };
    with.args.emplace_back(static_cast<std::int64_t>(block.address()));
    with.args.emplace_back(ticks(limits.poll));
    with.args.emplace_back(ticks(limits.loop));
    GpuLaunch launch = GpuKernel::prepare(kernel_, guarded_.program, with, Sharing::own);
    const std::vector<DeviceRange> tensors = launch.tensors();
    try {
        launch.start();
        launch.download();
        hear();
    } catch (const gpu::KernelFailure& failure) {
        hear();
        const HangReport report(*program_, guarded_, options.grid, block.bytes(), tensors);
        // A guard that was triggered ends the kernel by a trap, which the driver calls a launch failure.
        const bool hang = report.overdue() || failure.code() == "ETIMEDOUT";
        EnvironmentError out(hang ? "ETIMEDOUT" : failure.code(), failure.finding().message,
                             failure.finding().fix);
        if (const std::optional<Diagnostic> cause = report.hang(); hang && cause) out.finding() = *cause;
        if (!hang) out.finding().notes = report.accesses();
        throw out;
    }
}

void throw_explained(const std::shared_ptr<const Program>& program, const RunOptions& options,
                     const gpu::KernelFailure& failure) {
    if (!failure.in_worker() || !std::ranges::count(failure.kernels(), program->name())) throw failure;
    const bool fault = failure.code() == "EFAULT";
    EnvironmentError out = static_cast<const EnvironmentError&>(failure);
    std::vector<Note>& notes = out.finding().notes;
    const auto says = [&](std::string what) { notes.push_back({program->where(), std::move(what)}); };
    const GuardLimits& limits = fault ? again_traced : again;
    RunOptions once_more = options;
    once_more.timeout = fault ? again_traced_in_all : again_in_all;
    once_more.print = [](std::string_view) {};  // it says again what the first run has said
    const std::string chance =
        fmt::format("it depends on timing{}", failure.kernels().size() > 1
                                                  ? ", or it is another of those kernels"
                                                  : ", or on what other launches left in memory");
    try {
        const gpu::Patience patience(std::chrono::seconds(10),
                                     options.stop);  // a worker starts, a text is compiled
        GuardedKernel(program, Backend::gpu, options.isolation, fault).run(once_more, limits);
        says(fault
                 ? fmt::format("its guarded build, run afterwards, does not fail: {}", chance)
                 : fmt::format("its guarded build, run afterwards, ends: the kernel is slow, or {}", chance));
    } catch (const EnvironmentError& cause) {
        if (cause.code() == "ETIMEDOUT" && cause.finding().where) {
            out = cause;
            says(failure.finding().message + ": reported by its guarded build, run afterwards");
        } else if (cause.code() == "ETIMEDOUT") {
            says(fmt::format(
                "its guarded build, run afterwards, did not end within {} s either, and no warp of "
                "it waits",
                seconds(once_more.timeout)));
        } else if (fault && cause.code() == "EFAULT" && !cause.finding().notes.empty()) {
            const std::vector<Note>& accesses = cause.finding().notes;
            const auto same = [&](const Note& note) { return note.where == accesses.front().where; };
            if (std::ranges::all_of(accesses, same)) out.finding().where = accesses.front().where;
            says("these accesses had not ended when its guarded build, run afterwards, failed");
            notes.insert(notes.end(), accesses.begin(), accesses.end());
        } else {
            says("its guarded build, run afterwards, does not show the cause: " + cause.finding().message);
        }
    }
    throw out;
}

}  // namespace wgrun
