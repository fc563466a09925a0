// Kernels in the context of the embedding program, behind a driver without a GPU.
#include "gpu/host_module.hpp"

#include <optional>

#include "tests/catch.hpp"
#include "tests/unit/gpu/fake_driver.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun::gpu;
using wgrun::gpu::test::fake;
using wgrun::gpu::test::FakeDevice;

namespace {

/// What the driver knows of this thread and its contexts.
struct FakeHost {
    abi::Handle current = nullptr;
    std::vector<abi::Handle> stack{};
    unsigned long long id = 1;
    bool destroyed = false;
    int mode = 0;  ///< of stream capture
    int capturing = 0;
    int forbidden = 0;  ///< calls that the capture mode does not allow
};
FakeHost* host = nullptr;

abi::Handle handle(std::uintptr_t number) { return reinterpret_cast<abi::Handle>(number); }

const HostDriver& functions() {
    static const Driver base = [] {
        Driver d = wgrun::gpu::test::fake_functions();
        static const auto load = d.module_load_data_ex;
        static const auto unload = d.module_unload;
        d.module_load_data_ex = [](abi::Handle* module, const void* image, unsigned count,
                                   abi::JitOption* options, void** values) {
            if (host->mode != abi::capture_mode_relaxed) ++host->forbidden;
            return load(module, image, count, options, values);
        };
        d.module_unload = [](abi::Handle module) {
            if (host->mode != abi::capture_mode_relaxed) ++host->forbidden;
            return unload(module);
        };
        return d;
    }();
    static const HostDriver driver = [] {
        HostDriver d{};
        d.base = &base;
        d.context_get_current = [](abi::Handle* context) { return *context = host->current, abi::success; };
        d.context_get_device = [](int* device) { return *device = 1, abi::success; };
        d.context_get_id = [](abi::Handle, unsigned long long* id) {
            *id = host->id;
            return host->destroyed ? abi::context_is_destroyed : abi::success;
        };
        d.context_push = [](abi::Handle context) {
            host->stack.push_back(host->current);
            host->current = context;
            return abi::success;
        };
        d.context_pop = [](abi::Handle* context) {
            *context = host->current;
            host->current = host->stack.back();
            host->stack.pop_back();
            return abi::success;
        };
        d.exchange_capture_mode = [](int* mode) { return std::swap(*mode, host->mode), abi::success; };
        d.stream_is_capturing = [](abi::Handle, int* status) {
            return *status = host->capturing, abi::success;
        };
        return d;
    }();
    return driver;
}

struct Fixture : FakeDevice {
    Fixture() {
        host = &state;
        state.current = handle(0xabc);
        module.emplace(".version 8.0", "work", needs);
    }
    ~Fixture() {
        module.reset();
        host = nullptr;
    }

    void launch(void* stream = nullptr, int device = -1) {
        const HostContext context(functions(), device);
        config.stream = stream;
        const std::array<Parameter, 2> parameters = {std::as_bytes(std::span(&pointer, 1)),
                                                     std::as_bytes(std::span(&count, 1))};
        module->launch(context, config, parameters);
    }

    FakeHost state;
    LaunchConfig needs{.shared_bytes = 100000};
    LaunchConfig config{.grid = {4, 1, 1}, .block = {128, 1, 1}};
    std::uint64_t pointer = 0x1234;
    std::uint32_t count = 7;
    std::optional<HostModule> module;
};

}  // namespace

TEST_CASE("a kernel is launched in the thread's context and the caller's stream, and loaded once") {
    Fixture f;
    f.launch(handle(0x55));
    f.launch(handle(0x56));
    CHECK(f.gpu.launches == 2);
    CHECK(f.gpu.modules.size() == 1);
    CHECK(f.gpu.last.stream == handle(0x56));
    CHECK(f.gpu.last.shared_bytes == 100000);
    CHECK(f.gpu.max_shared_set == 100000);
    CHECK(f.gpu.last_parameters[0] == std::byte{0x34});
    CHECK(f.gpu.resets == 0);
    CHECK(f.gpu.contexts == 0);
    CHECK(f.state.forbidden == 0);
    CHECK(f.state.mode == 0);
    f.module.reset();
    CHECK(f.gpu.modules.empty());
    CHECK(f.gpu.bad_handles == 0);
    CHECK(f.state.current == handle(0xabc));
    CHECK(f.state.forbidden == 0);
}

TEST_CASE("each context gets the code; that of a context that is gone is forgotten") {
    Fixture f;
    f.launch();
    ++f.state.id;  // as after cudaDeviceReset: the same handle, another context
    f.launch();
    CHECK(f.gpu.modules.size() == 2);
    f.module.reset();
    CHECK(f.gpu.modules.size() == 1);  // the first went with its context
    f.gpu.modules.clear();
    f.module.emplace(".version 8.0", "work", f.needs);
    f.launch();
    f.state.destroyed = true;
    f.module.reset();
    CHECK(f.gpu.modules.size() == 1);
}

TEST_CASE("code that a graph has captured stays loaded") {
    Fixture f;
    f.state.capturing = 1;
    f.launch(handle(0x55));
    f.state.capturing = 0;
    f.launch(handle(0x55));
    f.module.reset();
    CHECK(f.gpu.modules.size() == 1);
    CHECK(f.state.forbidden == 0);
}

TEST_CASE("a thread without a context names the device, whose primary context is entered for the launch") {
    Fixture f;
    f.state.current = nullptr;
    CHECK_THROWS_WITH(f.launch(), ContainsSubstring("no CUDA context is current"));
    f.launch(nullptr, 1);
    CHECK(f.gpu.launches == 1);
    CHECK(f.gpu.contexts == 0);  // retained and released
    CHECK(f.state.current == nullptr);
    CHECK(f.state.stack.empty());
    CHECK_THROWS_WITH(f.launch(nullptr, 0), ContainsSubstring("primary context of device 0"));
    CHECK(f.state.current == nullptr);
}

TEST_CASE("errors leave the host's context alone") {
    Fixture f;
    f.gpu.capability = 100;
    CHECK_THROWS_WITH(f.launch(), ContainsSubstring("device 1 is an sm_100: kernel `work` needs"));
    f.gpu.capability = 90;
    f.gpu.load_result = abi::invalid_ptx;
    f.gpu.error_log = "ptxas application ptx input, line 3; error   : wrong";
    CHECK_THROWS_AS(f.launch(), CompileError);
    f.gpu.load_result = abi::out_of_memory;
    try {
        f.launch();
        FAIL("no error");
    } catch (const wgrun::EnvironmentError& error) {
        CHECK(error.code() == "ENOMEM");
    }
    f.gpu.load_result = abi::success;
    f.config.grid = {0, 1, 1};
    CHECK_THROWS_AS(f.launch(), wgrun::ArgumentError);
    f.config.grid = {1, 1, 1};
    f.gpu.fault = abi::illegal_address;
    f.launch();
    try {
        f.launch();
        FAIL("no error");
    } catch (const wgrun::EnvironmentError& error) {
        CHECK(error.code() == "EFAULT");
        CHECK_THAT(error.finding().message, ContainsSubstring("CUDA_ERROR_ILLEGAL_ADDRESS"));
        CHECK_FALSE(error.finding().fix.empty());
    }
    CHECK(f.gpu.resets == 0);
}
