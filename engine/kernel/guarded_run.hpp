// Running a kernel's guarded build, and what is made of a failure with its help. See docs/hangs.md.
#pragma once

#include <chrono>
#include <memory>

#include "kernel/gpu_run.hpp"
#include "program/guarded.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// How long a poll, and a loop of another kind, may take before the guard goes off.
struct GuardLimits {
    std::chrono::milliseconds poll, loop;

    /// Of a run with that time limit (0: for ever), on which the guards must have gone off before.
    static GuardLimits within(std::chrono::milliseconds timeout);
};

/// A kernel's guarded build on the GPU.
class GuardedKernel {
  public:
    /// Compiles it: PTX or CUDA C++, as the back end has it. Throws what GpuKernel does.
    GuardedKernel(std::shared_ptr<const Program> program, Backend backend, gpu::Isolation isolation,
                  bool traced);

    /// Uploads, runs, waits, downloads. A guard that goes off, and a kernel that does not end, are an
    /// EnvironmentError ETIMEDOUT with rule, place and notes (HangReport); a fault of a traced build has the
    /// accesses that had not ended as notes. Throws what a run throws otherwise.
    void run(const RunOptions& options, const GuardLimits& limits);

  private:
    std::shared_ptr<const Program> program_;
    GuardedProgram guarded_;
    gpu::Device device_;
    std::shared_ptr<GpuKernel> kernel_;
};

/// Throws what a launch of `program` with these options has failed with. Where that has cost a worker
/// process, the guarded build is run once in the next one, with the tensors as the host has them, and says
/// who waits or what faults.
[[noreturn]] void throw_explained(const std::shared_ptr<const Program>& program, const RunOptions& options,
                                  const gpu::KernelFailure& failure);

}  // namespace wgrun
