// A kernel as the launches of one shape have it: its program, what is known of that, texts and machine code.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "kernel/gpu_run.hpp"
#include "kernel/kernel_checks.hpp"
#include "kernel/kernel_source.hpp"
#include "kernel/kernel_texts.hpp"

namespace wgrun {

struct Hosted;  // host_launch.cpp

/// By back end, isolation, and whether it has lines of the script.
using Builds = std::map<std::tuple<Backend, gpu::Isolation, bool>, std::shared_ptr<GpuKernel>>;

/// What follows from a source and the facts of a launch, and from nothing else. The source must outlive it.
struct Specialisation {
    Specialisation(const KernelSource& source, ptx::LaunchFacts launch)
        : facts(std::move(launch)),
          lowered(source.lower(facts)),
          checks(source, lowered),
          texts(source, shared_program()) {}

    const Program& program() const { return lowered->program; }
    std::shared_ptr<const Program> shared_program() const { return {lowered, &lowered->program}; }

    ptx::LaunchFacts facts;
    std::shared_ptr<const ptx::Lowered> lowered;
    KernelChecks checks;
    KernelTexts texts;
    Builds builds{};
    std::map<Backend, std::shared_ptr<Hosted>> hosted{};  ///< in the context of the embedding program
    bool foreseen = false;                                ///< a script launches it (Kernel::foresee)
};

}  // namespace wgrun
