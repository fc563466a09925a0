// The bodies of functions that work on a kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "bindings/c/engine.hpp"
#include "bindings/c/failure.hpp"
#include "bindings/c/state.hpp"
#include "bindings/lua/limits.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::c {

/// Runs the body with the kernel, in its engine's turn.
template <class Body>
int with_kernel(const wgrun_kernel* handle, Body&& body) {
    return answer([&] {
        const std::shared_ptr<KernelRef> ref = find<KernelRef>(handle);
        const Turn turn(ref->engine());
        body(*ref);
    });
}

/// The same for work that takes long.
template <class Body>
int with_work(const wgrun_kernel* handle, Body&& body) {
    return with_kernel(handle, [&](KernelRef& ref) {
        std::atomic<bool> stop = false;
        const Interruptible interruptible(ref.engine(), stop);
        body(ref);
    });
}

/// Work for which the engine's limit of time holds: it throws the error of that limit.
template <class Body>
void within_time(const Engine& engine, Body&& body) {
    const lua::Limits& limits = engine.limits;
    std::optional<Cancellation> deadline;
    if (limits.time.count() != 0) deadline.emplace(nullptr, Cancellation::Clock::now() + limits.time);
    try {
        body();
    } catch (const EnvironmentError& error) {
        if (error.code() != "ETIMEDOUT" || !deadline) throw;
        throw Error("ELIMIT", lua::limit_finding(lua::Limit::time, limits));
    }
}

/// Work on a kernel that takes long, within the engine's limit of time.
template <class Body>
int with_limited_work(const wgrun_kernel* handle, Body&& body) {
    return with_work(handle, [&](KernelRef& ref) { within_time(ref.engine(), [&] { body(ref); }); });
}

}  // namespace wgrun::c
