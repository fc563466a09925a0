// Tensors that live where kernels run: copied there once, shared by all launches, copied back when asked for.
#pragma once

#include <memory>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

struct DeviceCopy;

/// A tensor on the GPU; where the simulator runs kernels, a copy in host memory. A kernel reads and writes it
/// in place: nothing is copied when a launch begins or ends. What it holds is lost with the worker process
/// when a kernel fails there, for nobody else has it; then every use says so. Moves. One thread at a time.
class DeviceTensor {
  public:
    /// A copy of `from` on `backend` (automatic: what choose_backend says). EnvironmentError ENODEV without
    /// that GPU, ENOMEM with what was asked and what is free.
    DeviceTensor(const Tensor& from, Backend backend, gpu::Isolation isolation = gpu::Isolation::worker);
    DeviceTensor(DeviceTensor&&) noexcept;
    DeviceTensor& operator=(DeviceTensor&&) noexcept;
    ~DeviceTensor();

    Dtype dtype() const { return dtype_; }
    const TensorShape& shape() const { return shape_; }
    std::size_t size_bytes() const { return bytes_; }
    /// sim, or gpu for both ways to get there.
    Backend backend() const;

    /// Waits for launches, and copies it back. EnvironmentError EFAULT when it was lost, ArgumentError when
    /// closed.
    Tensor to_host() const;

    /// Gives the memory back, once running kernels are done. Launches that were prepared with it refuse to
    /// start.
    void close() noexcept;
    bool closed() const;

    /// For launches: its memory on the GPU, or the simulator's tensor. ArgumentError when it was closed or is
    /// elsewhere; EnvironmentError EFAULT when it was lost.
    const std::shared_ptr<DeviceCopy>& on_gpu() const;
    Tensor& on_simulator();

  private:
    void check_open() const;

    Dtype dtype_;
    TensorShape shape_;
    std::size_t bytes_ = 0;
    std::shared_ptr<DeviceCopy> copy_;
    std::unique_ptr<Tensor> simulated_;
};

/// "f32 {4, 4} on the gpu"
std::string to_string(const DeviceTensor& tensor);

}  // namespace wgrun

#pragma GCC visibility pop
