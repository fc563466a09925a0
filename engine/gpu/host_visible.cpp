// Memory of this process on the device: HostVisible.
#include <fmt/format.h>

#include "gpu/context.hpp"
#include "memory/shared_block.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::gpu {

struct HostVisible::State {
    State(std::shared_ptr<Context> owner, memory::SharedBlock memory)
        : context(std::move(owner)), block(std::move(memory)) {}
    ~State() {
        if (address == 0 || context->foreign() || context->generation() != generation) return;
        try {
            const Context::Entered cuda = context->enter(generation, "the memory");
            // If a kernel still runs in this process, the memory must stay.
            if (cuda.driver().worker == nullptr && cuda.driver().stream_query(nullptr) != abi::success)
                new memory::SharedBlock(std::move(block));
            else
                cuda.driver().mem_host_unregister(block.data());
        } catch (const std::exception&) {  // the context is gone, and the registration with it
        }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::shared_ptr<Context> context;
    memory::SharedBlock block;
    std::uint64_t generation = 0;
    abi::DevicePointer address = 0;
};

HostVisible::HostVisible(const Device& device, std::size_t bytes) {
    std::optional<memory::SharedBlock> block = memory::SharedBlock::make(bytes);
    if (!block)
        throw EnvironmentError(
            "ENOMEM",
            fmt::format("cannot allocate {} of memory that the device can access", count_of(bytes, "byte")));
    state_ = std::make_unique<State>(device.shared(), std::move(*block));
    address();
}

HostVisible::HostVisible(HostVisible&&) noexcept = default;
HostVisible& HostVisible::operator=(HostVisible&&) noexcept = default;
HostVisible::~HostVisible() = default;

std::span<std::byte> HostVisible::bytes() const { return {state_->block.data(), state_->block.bytes()}; }

std::uint64_t HostVisible::address() {
    State& s = *state_;
    const Context::Entered cuda = s.context->enter();
    if (s.address != 0 && s.generation == cuda.generation()) return s.address;
    s.address = 0;
    const Driver& driver = cuda.driver();
    cuda.check(driver.mem_host_register(s.block.data(), s.block.bytes(),
                                        abi::host_register_portable | abi::host_register_device_map),
               "making memory visible to the device");
    cuda.check(driver.mem_host_get_device_pointer(&s.address, s.block.data(), 0),
               "making memory visible to the device");
    s.generation = cuda.generation();
    return s.address;
}

}  // namespace wgrun::gpu
