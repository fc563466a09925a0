// Memory in which a kernel on the GPU leaves its messages (isa/device_print.hpp).
#pragma once

#include "program/messages.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun {

/// The records lie in memory of this process, so that they are there also when the kernel has trapped or
/// faulted. For one launch at a time.
class MessageBuffer {
  public:
    /// Throws what gpu::HostVisible and gpu::Buffer throw. The program must outlive it.
    MessageBuffer(const gpu::Device& device, const Program& program);

    /// The argument of the program's last parameter: makes everything ready for a launch, again where a
    /// worker process was lost.
    std::uint64_t address();
    /// Discards earlier messages.
    void clear();
    /// The messages since then. The launch must have ended.
    MessageLog take(Dim3 grid);

  private:
    void write_control();

    gpu::Device device_;
    const Program& program_;
    std::size_t bytes_, capacity_;  ///< of a record; records
    gpu::HostVisible records_;
    gpu::Buffer control_;
};

}  // namespace wgrun
