#include "kernel/device_copies.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace wgrun {
namespace {

// By the owner of the tensor's bytes. A copy is here as long as a launch holds it.
struct Shared {
    using Owner = std::weak_ptr<const std::byte[]>;
    std::mutex mutex;
    std::map<Owner, std::weak_ptr<gpu::Buffer>, std::owner_less<Owner>> copies;
};

Shared& shared() {
    static Shared all;
    return all;
}

// False when the context of the buffer is gone: a launch that still holds it can do nothing with it either.
bool usable(const gpu::Buffer& buffer) {
    try {
        buffer.address();
        return true;
    } catch (const EnvironmentError&) {
        return false;
    }
}

std::shared_ptr<gpu::Buffer> make(const gpu::Device& device, const Tensor& tensor) {
    // An empty tensor still has an address.
    return std::make_shared<gpu::Buffer>(device, std::max<std::size_t>(tensor.size_bytes(), 16));
}

}  // namespace

DeviceCopy device_copy(const gpu::Device& device, const Tensor& tensor, Sharing sharing) {
    if (sharing == Sharing::own || tensor.size_bytes() == 0) return {make(device, tensor), true};
    Shared& all = shared();
    const std::scoped_lock lock(all.mutex);
    std::erase_if(all.copies, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<gpu::Buffer>& known = all.copies[tensor.owner()];
    if (std::shared_ptr<gpu::Buffer> buffer = known.lock(); buffer && usable(*buffer)) return {buffer, false};
    std::shared_ptr<gpu::Buffer> buffer = make(device, tensor);
    known = buffer;
    return {std::move(buffer), true};
}

}  // namespace wgrun
