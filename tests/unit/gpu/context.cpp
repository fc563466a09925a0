// Device, buffers, modules, launches and timing against a driver that does as told. Faults and hangs:
// faults.cpp.
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/context.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/fake_kernel.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace wgrun::gpu::test;
using namespace std::chrono_literals;

TEST_CASE("the first sm_90 device is chosen, or the reason given") {
    FakeDevice fake_device;
    {
        const Device device = fake_device.device();
        CHECK(device.info().name == "Fake 90");
        CHECK(device.info().ordinal == 1);
        CHECK(device.info().sm_count == 132);
        CHECK(device.info().shared_bytes == 232448);
        CHECK(device.info().memory_bandwidth == 2619e6 * 2 * 640);  // two words of 5120 bits a clock
        CHECK(fake_device.gpu.contexts == 1);
    }
    CHECK(fake_device.gpu.contexts == 0);
    fake_device.gpu.capability = 100;
    CHECK_THAT(failure("ENODEV", [&] { fake_device.device(); }),
               ContainsSubstring("no sm_90 device, only Fake 80 (sm_80), Fake 90 (sm_100)"));
    fake_device.gpu.init_result = 100;
    CHECK_THAT(failure("ENODEV", [&] { fake_device.device(); }),
               ContainsSubstring("cuInit returned CUDA_ERROR_NO_DEVICE (as ordered)"));
    fake_device.gpu.init_result = 12345;
    CHECK_THAT(failure("ENODEV", [&] { fake_device.device(); }),
               ContainsSubstring("cuInit returned CUDA error 12345"));
}

TEST_CASE("a context that cannot be had") {
    FakeDevice fake_device;
    fake_device.gpu.retain_result = abi::invalid_value;
    CHECK_THAT(failure("ENODEV", [&] { fake_device.device(); }),
               ContainsSubstring("Fake 90 gives no context: CUDA_ERROR_INVALID_VALUE"));
}

TEST_CASE("buffers hold bytes") {
    FakeDevice fake_device;
    const Device device = fake_device.device();
    Buffer buffer(device, 16);
    std::array<std::byte, 16> bytes{};
    bytes.fill(std::byte{3});
    buffer.upload(bytes);
    buffer.fill(std::byte{9});
    const std::array some = {std::byte{1}, std::byte{2}};
    buffer.upload(some, 14);
    buffer.download(bytes);
    CHECK(bytes[13] == std::byte{9});
    CHECK(bytes[15] == std::byte{2});
    buffer.upload({}, 16);

    CHECK_THROWS_WITH(buffer.upload(some, 15), "an upload of 2 bytes at offset 15: the buffer has 16 bytes");
    CHECK_THROWS_WITH(buffer.download(bytes, ~std::size_t{0}), ContainsSubstring("the buffer has 16 bytes"));
    CHECK_THROWS_WITH(Buffer(device, 0), "a buffer of 0 bytes: it needs at least 1");

    Buffer moved = std::move(buffer);
    CHECK_THROWS_WITH(buffer.address(), "the buffer is closed");  // NOLINT(bugprone-use-after-move)
    CHECK(moved.address() != 0);
    moved = Buffer(device, 8);
    CHECK(moved.bytes() == 8);
    CHECK(fake_device.gpu.sizes.size() == 1);
    moved.close();
    moved.close();
    CHECK(fake_device.gpu.sizes.empty());
    CHECK_THROWS_AS(moved.fill(std::byte{0}), ArgumentError);
    CHECK(fake_device.gpu.bad_handles == 0);
}

TEST_CASE("out of memory says what was asked and what is free") {
    FakeDevice fake_device;
    fake_device.gpu.memory = 4 << 20;
    const Device device = fake_device.device();
    const Buffer buffer(device, 3 << 20);
    CHECK(device.free_bytes() == 1 << 20);
    CHECK(
        failure("ENOMEM", [&] { Buffer(device, std::size_t{1} << 40); }) ==
        "out of device memory: 1048576 MiB were requested, 1 MiB of 4 MiB are free | close buffers that are "
        "no longer needed");
    CHECK_THROWS_AS(Buffer(device, ~std::size_t{0}), EnvironmentError);
}

TEST_CASE("memory is not freed under a running kernel, but as soon as it is done or needed") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const Function function = load(device);
    gpu.busy_queries = 20;
    Buffer first(device, 600 << 10);
    launch(function);
    first.close();
    CHECK(gpu.sizes.size() == 1);
    const Buffer second(device, 600 << 10);  // does not fit until the first is freed: waits
    CHECK(gpu.sizes.size() == 1);
    launch(function);
    Buffer(device, 8).close();
    CHECK(gpu.sizes.size() == 2);
    device.wait();
    CHECK(gpu.sizes.size() == 1);
    CHECK(gpu.freed_while_busy == 0);
    CHECK(gpu.bad_handles == 0);
}

TEST_CASE("a kernel is loaded, described and launched") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    std::optional<Function> function;
    {
        const Module module = Module::from_ptx(device, "text");
        function = module.function("work");
        CHECK_THROWS_WITH(module.function("play"), "the module has no kernel `play`");
    }
    CHECK(gpu.modules.size() == 1);  // the function keeps it
    CHECK(function->name() == "work");
    CHECK(function->attributes().registers == 168);
    CHECK(function->attributes().max_threads == 384);
    CHECK(function->attributes().parameters == std::vector<std::size_t>{8, 4});

    launch(*function, {.grid = {4, 5, 6}, .block = {128, 2, 1}});
    CHECK(gpu.last.grid_y == 5);
    CHECK(gpu.last.block_x == 128);
    CHECK(gpu.last.attribute_count == 0);
    CHECK(gpu.max_shared_set == 0);
    CHECK(std::memcmp(gpu.last_parameters.data(), &arguments.pointer, 8) == 0);

    launch(*function, {.grid = {32, 1, 1},
                       .block = {128, 1, 1},
                       .cluster = {16, 1, 1},
                       .shared_bytes = 200000,
                       .non_portable_cluster = true});
    CHECK(gpu.last.attribute_count == 1);
    CHECK(gpu.last_attribute.id == 4);
    CHECK(gpu.last_attribute.value.cluster.x == 16);
    CHECK(gpu.last.shared_bytes == 200000);
    CHECK(gpu.max_shared_set == 200000);
    CHECK(gpu.non_portable_set);
    CHECK(function->resident_clusters({.block = {128, 1, 1}, .cluster = {4, 1, 1}, .shared_bytes = 1024}) ==
          31);
    CHECK(gpu.last.shared_bytes == 1024);
    CHECK(function->resident_clusters({.block = {128, 1, 1}}) == 130);
    launch(*function, {.block = {1, 1, 1}, .shared_bytes = 100000});
    CHECK(gpu.max_shared_set == 200000);  // never lowered

    std::optional<PreparedLaunch> prepared =
        function->prepare({.block = {64, 1, 1}, .overlaps_previous = true}, arguments.parameters());
    CHECK(gpu.last.block_x == 1);  // not started yet
    prepared->start();
    prepared->start();
    CHECK(gpu.last.block_x == 64);
    CHECK(gpu.last.attribute_count == 1);
    CHECK(gpu.last_attribute.id == 6);
    CHECK(gpu.last_attribute.value.allowed == 1);
    CHECK(std::memcmp(gpu.last_parameters.data(), &arguments.pointer, 8) == 0);
    CHECK_THROWS_AS(launch(*function, {.block = {385, 1, 1}}), ArgumentError);
    function.reset();
    CHECK(gpu.modules.size() == 1);  // the prepared launch keeps it
    prepared.reset();
    CHECK(gpu.modules.empty());
    CHECK(gpu.bad_handles == 0);
}

TEST_CASE("an old driver does not tell the parameters") {
    FakeDevice fake_device;
    fake_device.gpu.old_driver = true;
    CHECK_FALSE(load(fake_device.device()).attributes().parameters);
}

TEST_CASE("PTX that the driver refuses") {
    FakeDevice fake_device;
    const Device device = fake_device.device();
    fake_device.gpu.load_result = abi::invalid_ptx;
    fake_device.gpu.error_log = "ptxas application ptx input, line 7; error   : Unknown modifier '.x'\n";
    CHECK(failure("ECOMPILE", [&] { Module::from_ptx(device, "text"); }) ==
          "the driver's assembler: line 7: Unknown modifier '.x' | the log says the line "
          "(CU_JIT_ERROR_LOG_BUFFER); wgrun check FILE.ptx, --assemble");
    CHECK_THROWS_WITH(Module::from_ptx(device, ""), "the PTX text is empty");
    CHECK_THROWS_WITH(Module::from_cubin(device, {}), "the cubin is empty");
    fake_device.gpu.load_result = abi::invalid_value;
    const std::array junk = {std::byte{1}};
    CHECK_THAT(failure("EFAULT", [&] { Module::from_cubin(device, junk); }),
               ContainsSubstring("while loading a cubin: CUDA_ERROR_INVALID_VALUE"));
}

TEST_CASE("the JIT's log is remembered for when the driver has none") {
    const OwnCache cache;
    FakeDevice fake_device;
    const Device device = fake_device.device();
    CHECK(Module::from_ptx(device, "text").log().functions.empty());
    fake_device.gpu.info_log =
        "ptxas info    : Compiling entry function 'work' for 'sm_90a'\nptxas info    : Used 168 registers\n";
    CHECK(Module::from_ptx(device, "text").log().functions.at(0).registers == 168);
    fake_device.gpu.info_log = "";
    CHECK(Module::from_ptx(device, "text").log().functions.at(0).registers == 168);
    CHECK(Module::from_ptx(device, "another text").log().functions.empty());
}

TEST_CASE("buffers are counted, and none after a loss") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const std::atomic<std::size_t>& held = device.context().held_bytes;
    std::optional<Buffer> first(std::in_place, device, 100);
    Buffer second(device, 28);
    CHECK(held == 128);
    first.reset();
    CHECK(held == 28);
    gpu.fault = abi::launch_failed;
    launch(load(device));
    gpu.fault = abi::success;
    CHECK_THROWS_AS(device.wait(), EnvironmentError);
    CHECK(held == 0);
    CHECK(second.lost());
    const Buffer third(device, 7);
    second.close();
    CHECK(held == 7);
}

TEST_CASE("memory that the device sees stays when a kernel fails") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    {
        HostVisible memory(device, 5000);
        CHECK(gpu.registered == 1);
        REQUIRE(memory.bytes().size() == 5000);
        CHECK(memory.address() == reinterpret_cast<std::uintptr_t>(memory.bytes().data()));
        gpu.fault = abi::launch_failed;
        launch(load(device));
        gpu.fault = abi::success;
        memory.bytes()[0] = std::byte{9};  // as the kernel would
        CHECK_THROWS_AS(device.wait(), EnvironmentError);
        CHECK(memory.bytes()[0] == std::byte{9});
        CHECK(gpu.registered == 0);
        memory.address();
        CHECK(gpu.registered == 1);
        CHECK(memory.bytes()[0] == std::byte{9});
    }
    CHECK(gpu.registered == 0);
}

TEST_CASE("a forked child is told, and frees nothing of its parent's") {
    FakeDevice fake_device;
    const Device device = fake_device.device();
    Buffer buffer(device, 64);
    const pid_t child = ::fork();
    if (child == 0) {
        bool told = false;
        try {
            device.wait();
        } catch (const EnvironmentError& error) {
            told = error.code() == "ENODEV" &&
                   std::string_view(error.what()).starts_with("CUDA was started before fork()");
        }
        buffer.close();
        ::_exit(told && fake_device.gpu.sizes.size() == 1 ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("handles may be used and dropped in any thread") {
    FakeDevice fake_device;
    const Device device = fake_device.device();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                const Buffer buffer(device, 100);
                device.wait();
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(fake_device.gpu.sizes.empty());
    CHECK(fake_device.gpu.bad_handles == 0);
}

TEST_CASE("times are of one call, however many are made in a row") {
    FakeDevice fake_device;
    FakeGpu& gpu = fake_device.gpu;
    const Device device = fake_device.device();
    const Function function = load(device);
    const auto work = [&] { launch(function); };
    const std::vector<double> times = time(device, work, {.rounds = 4, .warmup = 2});
    REQUIRE(times.size() == 4);
    for (const double us : times) CHECK(us == Approx(10).epsilon(1e-3));
    CHECK(gpu.launches == 2 + 2 + 4 * 51);  // warm-up, pilot, rounds of 50 and one that is not timed

    gpu.launches = 0;
    CHECK(time(device, work, {.rounds = 3, .warmup = 0, .flush_l2 = true}).size() == 3);
    CHECK(gpu.launches == 3);
    gpu.microseconds_per_launch = 0.001;
    gpu.launches = 0;
    CHECK(time(device, work, {.rounds = 1, .warmup = 0}).size() == 1);
    CHECK(gpu.launches == 2 + 201);  // at most 200 in a row
    gpu.microseconds_per_launch = 1e6;
    const ComparedTimes both = compare(device, work, work, {.rounds = 2});
    CHECK(both.first.size() == 2);
    CHECK(both.second.size() == 2);
    CHECK(gpu.events_alive < 20);  // the marks of the queue
    CHECK_THROWS_WITH(time(device, work, {.rounds = 0}), "rounds 0: it must be 1 to 10000");
    CHECK_THROWS_WITH(time(device, work, {.rounds = 1, .warmup = -1}), "warmup -1: it must be 0 to 10000");
}

TEST_CASE("a tensor map is encoded from its description") {
    FakeDevice fake_device;
    const Device device = fake_device.device();
    const TensorMap map = encode_tensor_map(
        device, {.type = TensorMapType::bf16, .address = 256, .extents = {64}, .box = {64}});
    CHECK(map.bytes[0] == std::byte{9 * 16 + 1});
}
