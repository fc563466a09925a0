// Tensors in the memory where kernels run: copied there once, shared by all launches, copied back on request.
#pragma once

#include <memory>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

struct DeviceCopy;

/// A tensor on the GPU or, if the simulator runs the kernels, a copy in host memory. A kernel reads and
/// writes it in place: nothing is copied when a launch begins or ends. When a kernel fails, its contents are
/// lost with the worker process, and every later use throws. It can be moved. For one thread at a time.
class DeviceTensor {
  public:
    /// A copy of `from` on `backend` (automatic: as choose_backend chooses). Throws EnvironmentError ENODEV
    /// without a GPU, ENOMEM with the bytes requested and free.
    DeviceTensor(const Tensor& from, Backend backend, gpu::Isolation isolation = gpu::Isolation::worker);
    DeviceTensor(DeviceTensor&&) noexcept;
    DeviceTensor& operator=(DeviceTensor&&) noexcept;
    ~DeviceTensor();

    Dtype dtype() const { return dtype_; }
    const TensorShape& shape() const { return shape_; }
    std::size_t size_bytes() const { return bytes_; }
    /// sim or gpu; gpu also for gpu_cuda.
    Backend backend() const;

    /// Waits for launches and copies the tensor back. Throws EnvironmentError EFAULT if it was lost,
    /// ArgumentError if it was closed.
    Tensor to_host() const;

    /// Frees the memory, once running kernels are done. Launches that were prepared with it throw when
    /// started.
    void close() noexcept;
    bool closed() const;

    /// For launches: its memory on the GPU, or the simulator's tensor. Both throw ArgumentError if it was
    /// closed or is elsewhere; EnvironmentError EFAULT if it was lost.
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
