// A loaded module, shared by Module and its Functions.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/context.hpp"

namespace wgrun::gpu {

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

}  // namespace wgrun::gpu
