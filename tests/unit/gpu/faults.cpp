// Kernels that fault or hang, against a driver that does as told: what is said, and what goes on.
#include "gpu/context.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/fake_kernel.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace wgrun::gpu::test;
using namespace std::chrono_literals;

TEST_CASE("a fault names the kernel, and the next kernel works") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    Buffer buffer(device, 64);
    const Function function = load(device);
    gpu.fault = abi::illegal_address;
    launch(function);
    CHECK_FALSE(function.lost());
    CHECK_THAT(failure("EFAULT", [&] { device.wait(); }),
               ContainsSubstring("kernel `work` failed: CUDA_ERROR_ILLEGAL_ADDRESS (as ordered) | an access "
                                 "was outside of its tensor"));
    gpu.fault = abi::success;
    CHECK(function.lost());
    CHECK(gpu.resets == 1);
    CHECK(gpu.contexts == 0);  // until it is wanted again

    CHECK_THAT(failure("EFAULT", [&] { buffer.address(); }),
               ContainsSubstring(
                   "the buffer was lost with the worker process when a kernel failed | make it again"));
    CHECK_THAT(failure("EFAULT", [&] { buffer.fill(std::byte{0}); }),
               ContainsSubstring("the buffer was lost"));
    CHECK_THAT(failure("EFAULT", [&] { launch(function); }), ContainsSubstring("the loaded kernel was lost"));
    buffer.close();

    const Function again = load(device);
    Buffer fresh(device, 64);
    launch(again);
    device.wait();
    fresh.fill(std::byte{1});
    CHECK(gpu.bad_handles == 0);
    CHECK(gpu.resets == 1);
}

TEST_CASE("a fault is met by whatever comes first") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const auto provoke = [&] {
        const Function function = load(device);
        gpu.fault = abi::launch_failed;
        launch(function);
        gpu.fault = abi::success;
    };
    Buffer buffer(device, 64);
    provoke();
    CHECK_THAT(failure("EFAULT", [&] { buffer.fill(std::byte{0}); }),
               ContainsSubstring("kernel `work` failed"));
    provoke();
    CHECK_THAT(failure("EFAULT", [&] { Buffer(device, 8); }), ContainsSubstring("kernel `work` failed"));
    provoke();
    CHECK_THAT(failure("EFAULT", [&] { load(device); }), ContainsSubstring("kernel `work` failed"));
    provoke();
    CHECK_THAT(failure("EFAULT", [&] { device.free_bytes(); }), ContainsSubstring("kernel `work` failed"));
    CHECK(gpu.resets == 4);
    device.wait();
    CHECK(gpu.bad_handles == 0);
}

TEST_CASE("a fault that several threads meet resets the context once") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const Function function = load(device);
    const Context::Entered before = device.context().enter();
    gpu.fault = abi::launch_failed;
    launch(function);
    CHECK_THROWS_AS(device.wait(), EnvironmentError);
    CHECK_THROWS_AS(before.check(abi::launch_failed, "being late"), EnvironmentError);
    CHECK(gpu.resets == 1);
}

TEST_CASE("a hung kernel is reported after the timeout and the session goes on") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    CHECK(Patience::current().timeout == 10s);
    CHECK_THROWS_WITH(Patience(-1ms), "timeout of -1 ms: must be 0 (no limit) or more");
    const Patience patience(50ms);
    Buffer buffer(device, 64);
    const Function function = load(device);
    gpu.hang = true;
    launch(function);
    gpu.hang = false;
    Buffer other(device, 8);
    other.close();  // must not wait
    std::array<std::byte, 4> bytes{};
    const auto start = std::chrono::steady_clock::now();
    CHECK_THAT(failure("ETIMEDOUT", [&] { buffer.download(bytes); }),
               ContainsSubstring("kernel `work` did not end within 0.05 s | most likely a barrier"));
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    CHECK(gpu.freed_while_busy == 0);
    CHECK(gpu.resets == 1);
    const Function again = load(device);
    launch(again);
    device.wait();
    CHECK(gpu.bad_handles == 0);
}

TEST_CASE("in this process a hang stays, and ends when it ends") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    gpu.in_process = true;
    const Device device = fake_device.device();
    const Patience patience(20ms);
    const Function function = load(device);
    gpu.hang = true;
    launch(function);
    gpu.hang = false;
    for (int i = 0; i < 2; ++i)
        CHECK_THAT(failure("ETIMEDOUT", [&] { device.wait(); }),
                   ContainsSubstring(
                       "kernel `work` did not end within 0.02 s, and still runs: it cannot be ended in "
                       "this process"));
    gpu.hanging = false;  // it ends after all
    device.wait();
    launch(function);
    device.wait();
    CHECK(gpu.resets == 0);
    CHECK(gpu.contexts == 1);
}

TEST_CASE("in this process a fault ends the use of the GPU, and resets nothing") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    gpu.in_process = true;
    const Device device = fake_device.device();
    gpu.fault = abi::illegal_address;
    launch(load(device));
    CHECK_THAT(failure("EFAULT", [&] { device.wait(); }), ContainsSubstring("kernel `work` failed"));
    CHECK_THAT(
        failure("EFAULT", [&] { Buffer(device, 8); }),
        ContainsSubstring("the CUDA context of this process is lost since kernel `work` failed | restart "
                          "the program, or run kernels in a worker process"));
    CHECK(gpu.resets == 0);
    CHECK(gpu.contexts == 1);
}

TEST_CASE("patience is of a thread and of a scope") {
    std::atomic<bool> stop = false;
    const Patience outer(30ms, &stop);
    {
        const Patience inner(0ms);
        CHECK(Patience::current().timeout == 0ms);
        CHECK(Patience::current().stop == &stop);
        std::thread([] { CHECK(Patience::current().timeout == 10s); }).join();
    }
    CHECK(Patience::current().timeout == 30ms);
}

TEST_CASE("an interrupt ends a wait at once, and gives the worker up") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    std::atomic<bool> stop = false;
    const Patience patience(0ms, &stop);
    gpu.hang = true;
    launch(load(device));
    gpu.hang = false;
    std::thread raiser([&] {
        std::this_thread::sleep_for(20ms);
        stop = true;
    });
    try {
        device.wait();
        FAIL("it came back");
    } catch (const Error& error) {
        CHECK(error.code() == "EINTR");
    }
    raiser.join();
    CHECK(gpu.resets == 1);
    stop = false;
    launch(load(device));
    device.wait();
}

TEST_CASE("a queue that nothing leaves has a time limit, one that moves has not") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const Patience patience(50ms);
    const Function function = load(device);
    const PreparedLaunch prepared = function.prepare({.block = {128, 1, 1}}, arguments.parameters());
    for (int i = 0; i < 5000; ++i) prepared.start();
    CHECK(gpu.launches == 5000);
    CHECK(gpu.started_again == 4999);
    gpu.hang = true;
    CHECK_THAT(failure("ETIMEDOUT",
                       [&] {
                           for (int i = 0; i < 5000; ++i) prepared.start();
                       }),
               ContainsSubstring("kernel `work` did not end within 0.05 s"));
    CHECK(gpu.launches < 6000);
    CHECK(prepared.lost());
}
