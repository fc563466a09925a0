#include "kernel/device_copies.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace wgrun {
namespace {

// By the owner of the tensor's bytes. A copy exists as long as a launch holds it.
struct Shared {
    using Owner = std::weak_ptr<const void>;
    std::mutex mutex;
    /// One for each device: the worker's and this process's are separate.
    std::map<const gpu::Context*, std::map<Owner, std::weak_ptr<DeviceCopy>, std::owner_less<Owner>>> copies;
};

Shared& shared() {
    static Shared all;
    return all;
}

std::shared_ptr<DeviceCopy> make(const gpu::Device& device, const Tensor& tensor) {
    auto copy = std::make_shared<DeviceCopy>();
    remake(device, tensor, *copy);
    return copy;
}

}  // namespace

void remake(const gpu::Device& device, const Tensor& tensor, DeviceCopy& copy) {
    // An empty tensor needs an address, too.
    copy.buffer = gpu::Buffer(device, std::max<std::size_t>(tensor.size_bytes(), 16));
}

std::shared_ptr<DeviceCopy> device_copy(const gpu::Device& device, const Tensor& tensor, Sharing sharing) {
    if (sharing == Sharing::own || tensor.size_bytes() == 0) return make(device, tensor);
    Shared& all = shared();
    const std::scoped_lock lock(all.mutex);
    auto& copies = all.copies[&device.context()];
    std::erase_if(copies, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<DeviceCopy>& known = copies[tensor.owner()];
    if (std::shared_ptr<DeviceCopy> copy = known.lock()) return copy;
    std::shared_ptr<DeviceCopy> copy = make(device, tensor);
    known = copy;
    return copy;
}

}  // namespace wgrun
