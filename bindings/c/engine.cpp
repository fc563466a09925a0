#include "bindings/c/engine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "bindings/c/structs.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/version.hpp"

namespace wgrun::c {

static_assert(static_cast<int>(Backend::automatic) == WGRUN_AUTO &&
              static_cast<int>(Backend::gpu) == WGRUN_GPU &&
              static_cast<int>(Backend::gpu_cuda) == WGRUN_GPU_CUDA &&
              static_cast<int>(Backend::sim) == WGRUN_SIM);

namespace {

wgrun_engine_options without_limits(wgrun_engine_options options) {
    options.limits = nullptr;
    return options;
}

std::uint64_t limit(std::uint64_t asked, std::uint64_t usual) {
    return asked == 0 ? usual : asked == WGRUN_NO_LIMIT ? 0 : asked;
}

lua::Limits limits_of(const wgrun_engine_options& options) {
    constexpr std::uint64_t most_milliseconds = std::uint64_t{1} << 40;  // 35 years
    lua::Limits limits = options.restricted != 0 ? lua::restricted_limits() : lua::Limits();
    if (options.limits == nullptr) return limits;
    const wgrun_limits asked = read_struct(options.limits, "options->limits");
    limits.memory = limit(asked.memory, limits.memory);
    const std::uint64_t time = limit(asked.milliseconds, static_cast<std::uint64_t>(limits.time.count()));
    limits.time = std::chrono::milliseconds(std::min(time, most_milliseconds));
    limits.instructions = limit(asked.instructions, limits.instructions);
    limits.tensors = limit(asked.tensors, limits.tensors);
    limits.program = limit(asked.program, limits.program);
    limits.simulation_steps = limit(asked.steps, limits.simulation_steps);
    return limits;
}

}  // namespace

Engine::Engine(const wgrun_engine_options& asked, const lua::Limits& may)
    : options(without_limits(asked)), limits(may) {}

void Engine::interrupt() {
    const std::lock_guard lock(mutex_);
    if (stop_ != nullptr)
        *stop_ = true;
    else
        stop_next_ = true;
}

Turn::Turn(Engine& engine) : engine_(engine) {
    if (engine_.busy_.exchange(true, std::memory_order_acquire))
        throw Failure(WGRUN_BUSY, "EINVAL",
                      "the engine is in use, by another thread or by the caller of this callback");
}

Turn::~Turn() { engine_.busy_.store(false, std::memory_order_release); }

Interruptible::Interruptible(Engine& engine, std::atomic<bool>& stop)
    : engine_(engine), cancellation_(&stop) {
    const std::lock_guard lock(engine_.mutex_);
    stop = false;  // it may be a script's, from a call before that was ended
    stop = std::exchange(engine_.stop_next_, false) || Cancellation::requested();
    Cancellation::poll();
    engine_.stop_ = &stop;
}

Interruptible::~Interruptible() {
    const std::lock_guard lock(engine_.mutex_);
    engine_.stop_ = nullptr;
}

namespace {

constexpr std::array<const char*, 15> status_names = {"WGRUN_OK",
                                                      "WGRUN_BAD_ARGUMENT",
                                                      "WGRUN_BAD_HANDLE",
                                                      "WGRUN_BUSY",
                                                      "WGRUN_FOUND_ERRORS",
                                                      "WGRUN_SCRIPT_FAILED",
                                                      "WGRUN_NO_FILE",
                                                      "WGRUN_IO_FAILED",
                                                      "WGRUN_NO_DEVICE",
                                                      "WGRUN_NO_MEMORY",
                                                      "WGRUN_NOT_COMPILED",
                                                      "WGRUN_TIMED_OUT",
                                                      "WGRUN_DEVICE_FAILED",
                                                      "WGRUN_INTERRUPTED",
                                                      "WGRUN_LIMIT_REACHED"};

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

const char* wgrun_status_name(int status) {
    if (status == WGRUN_INTERNAL) return "WGRUN_INTERNAL";
    if (status < 0 || static_cast<std::size_t>(status) >= status_names.size()) return "unknown status";
    return status_names[static_cast<std::size_t>(status)];
}

int wgrun_api_version(void) { return WGRUN_C_API_VERSION; }

const char* wgrun_version(void) { return WGRUN_VERSION; }

int wgrun_engine_open(const wgrun_engine_options* options, wgrun_engine** engine) {
    return answer([&] {
        wgrun_engine_options asked{};
        if (options != nullptr)
            asked = read_struct(options, "options", offsetof(wgrun_engine_options, restricted));
        if (asked.backend < WGRUN_AUTO || asked.backend > WGRUN_SIM)
            refuse_argument("options->backend is " + std::to_string(asked.backend) + ": not a wgrun_backend");
        give_handle(&result(engine, "engine"), std::make_shared<Engine>(asked, limits_of(asked)));
    });
}

int wgrun_engine_close(wgrun_engine* engine) {
    return answer([&] { close_handle(Kind::engine, engine); });
}

int wgrun_engine_interrupt(wgrun_engine* engine) {
    return answer([&] { find<Engine>(engine)->interrupt(); });
}

}  // extern "C"
