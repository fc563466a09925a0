// Which tensors a launch copies to the GPU, and when: with a driver that has no GPU.
#include "kernel/device_copies.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernel/gpu_run.hpp"
#include "kernel/launch_spec.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/fake_driver.hpp"

namespace wgrun {
namespace {

// A kernel that only reads its first tensor, and writes the second.
class Launches {
  public:
    Launches() {
        builder_.param("from", isa::Type::u64, Dtype::u8, true);
        builder_.param("to", isa::Type::u64, Dtype::u8);
        program_ = std::make_unique<Program>(builder_.finish());
    }

    GpuLaunch prepare(Tensor& from, Tensor& to, Sharing sharing = Sharing::shared) const {
        RunOptions options;
        options.grid = {1, 1, 1};
        options.args = {&from, &to};
        return {device_, [this] { return function_; }, config_of(*program_, options.grid), *program_, options,
                sharing};
    }

    /// The bytes of the tensor on the device that the last launch has at this parameter.
    std::byte* on_device(int parameter) {
        gpu::abi::DevicePointer address = 0;
        std::memcpy(&address, fake_.gpu.last_parameters.data() + parameter * 8, 8);
        return fake_.gpu.allocations.at(address).get();
    }

  private:
    gpu::test::FakeDevice fake_;
    gpu::Device device_ = [&] {
        fake_.gpu.second_parameter = 8;
        return fake_.device();
    }();
    gpu::Module module_ = gpu::Module::from_ptx(device_, "any text");
    gpu::Function function_ = module_.function("work");
    Builder builder_{"work", 32, {1, 1, 1}, Where::at("test.lua", 1)};
    std::unique_ptr<Program> program_;
};

Tensor bytes(int value) {
    Tensor out = Tensor::zeros(Dtype::u8, {16});
    std::ranges::fill(out.bytes(), static_cast<std::byte>(value));
    return out;
}

}  // namespace

TEST_CASE("what the host has written is on the device with the next prepare, whoever still holds a copy") {
    Launches launches;
    Tensor from = bytes(1), to = bytes(2);
    GpuLaunch earlier = launches.prepare(from, to);
    std::ranges::fill(from.bytes(), std::byte{3});
    GpuLaunch later = launches.prepare(from, to);
    later.start();
    CHECK(*launches.on_device(0) == std::byte{3});
}

TEST_CASE("what a launch has written is kept for the next one, until the host has it") {
    Launches launches;
    Tensor from = bytes(1), to = bytes(2), last = bytes(3);
    GpuLaunch first = launches.prepare(from, to);
    first.start();
    *launches.on_device(1) = std::byte{9};
    GpuLaunch second = launches.prepare(to, last);
    second.start();
    CHECK(*launches.on_device(0) == std::byte{9});

    first.download();
    CHECK(to.bytes()[0] == std::byte{9});
    std::ranges::fill(to.bytes(), std::byte{4});
    GpuLaunch third = launches.prepare(to, last);
    third.start();
    CHECK(*launches.on_device(0) == std::byte{4});

    first.start();
    first.upload();
    CHECK(*launches.on_device(1) == std::byte{4});
}

TEST_CASE("a launch with copies of its own leaves those of others alone") {
    Launches launches;
    Tensor from = bytes(1), to = bytes(2);
    GpuLaunch shares = launches.prepare(from, to);
    shares.start();
    std::byte* const shared = launches.on_device(1);
    GpuLaunch own = launches.prepare(from, to, Sharing::own);
    own.start();
    CHECK(launches.on_device(1) != shared);
}

TEST_CASE("a tensor that is passed twice is one on the device") {
    Launches launches;
    Tensor both = bytes(1);
    for (const Sharing sharing : {Sharing::own, Sharing::shared}) {
        GpuLaunch launch = launches.prepare(both, both, sharing);
        launch.start();
        CHECK(launches.on_device(0) == launches.on_device(1));
    }
}

}  // namespace wgrun
