#include "wgrun/device_tensor.hpp"

#include <fmt/format.h>

#include "kernel/device_copies.hpp"

namespace wgrun {

DeviceTensor::DeviceTensor(const Tensor& from, Backend backend, gpu::Isolation isolation)
    : dtype_(from.dtype()), shape_(from.shape()), bytes_(from.size_bytes()) {
    if (choose_backend(backend, isolation).backend == Backend::sim) {
        simulated_ = std::make_unique<Tensor>(from.copy());
        return;
    }
    copy_ = device_copy(gpu::Device::get(isolation), from, Sharing::own);
    copy_->buffer.upload(from.bytes());
}

DeviceTensor::DeviceTensor(DeviceTensor&&) noexcept = default;
DeviceTensor& DeviceTensor::operator=(DeviceTensor&&) noexcept = default;
DeviceTensor::~DeviceTensor() = default;

Backend DeviceTensor::backend() const { return copy_ ? Backend::gpu : Backend::sim; }

bool DeviceTensor::closed() const { return !simulated_ && (!copy_ || !copy_->buffer); }

void DeviceTensor::check_open() const {
    if (closed()) throw ArgumentError("the tensor is closed");
}

Tensor DeviceTensor::to_host() const {
    check_open();
    if (simulated_) return simulated_->copy();
    Tensor result = Tensor::zeros(dtype_, shape_);
    on_gpu()->buffer.download(result.bytes());
    return result;
}

void DeviceTensor::close() noexcept {
    if (copy_) copy_->buffer.close();
    simulated_.reset();
}

const std::shared_ptr<DeviceCopy>& DeviceTensor::on_gpu() const {
    check_open();
    if (simulated_)
        throw ArgumentError("the tensor was made for the simulator, but the kernel runs on the GPU",
                            "make it for the back end that runs the kernel");
    if (copy_->buffer.lost())
        throw EnvironmentError(
            "EFAULT",
            fmt::format("{} was lost with the worker process when a kernel failed", to_string(*this)),
            "make it again from the host's tensor");
    return copy_;
}

Tensor& DeviceTensor::on_simulator() {
    check_open();
    if (!simulated_)
        throw ArgumentError("the tensor is on the GPU, but the kernel runs on the simulator",
                            "pass its copy in host memory");
    return *simulated_;
}

std::string to_string(const DeviceTensor& tensor) {
    if (tensor.closed()) return "closed tensor";
    std::string extents;
    for (const std::int64_t extent : tensor.shape())
        extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
    return fmt::format("{} {{{}}} on the {}", to_string(tensor.dtype()), extents,
                       tensor.backend() == Backend::sim ? "simulator" : "gpu");
}

}  // namespace wgrun
