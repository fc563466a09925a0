// On a real sm_90 device. Every test says "skipped: no device (why)" where there is none.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iostream>
#include <numeric>

#include <fmt/format.h>

#include "gpu/cublas.hpp"
#include "tests/catch.hpp"
#include "tests/unit/gpu/support.hpp"

using namespace wgrun;
using namespace wgrun::gpu;
using namespace wgrun::gpu::test;
using namespace std::chrono_literals;

namespace {

bool have_device() {
    const auto why = Device::unavailable();
    if (why) std::cout << "skipped: no device (" << *why << ")\n";
    return !why;
}

constexpr const char* head = ".version 8.0\n.target sm_90a\n.address_size 64\n";

// store(out, value): out[global thread] = value + cluster rank; touches the last byte of dynamic shared
// memory.
const std::string store_ptx = std::string(head) + R"(.extern .shared .align 16 .b8 dynamic[];
.visible .entry store(.param .u64 out, .param .u32 value)
{
 .reg .b64 %rd<4>; .reg .b32 %r<12>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r1, [value];
 mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
 mad.lo.u32 %r5, %r3, %r4, %r2;
 mov.u32 %r6, %dynamic_smem_size; mov.u32 %r7, dynamic;
 add.u32 %r7, %r7, %r6; st.shared.u8 [%r7+-1], %r1;
 mov.u32 %r8, %cluster_ctarank;
 add.u32 %r1, %r1, %r8;
 mul.wide.u32 %rd2, %r5, 4;
 add.u64 %rd1, %rd1, %rd2;
 st.global.u32 [%rd1], %r1;
 ret;
}
)";

// write(address): stores 4 bytes there. trap(): traps. hang(): never ends. nap(us): waits.
const std::string fault_ptx = std::string(head) + R"(
.visible .entry write(.param .u64 address)
{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [address]; st.global.u32 [%rd1], 1; ret; }
.visible .entry trapped() { trap; ret; }
.visible .entry hang() { .reg .b64 %rd<2>; LOOP: mov.u64 %rd1, %globaltimer; bra LOOP; }
.visible .entry nap(.param .u32 us)
{
 .reg .b64 %rd<6>; .reg .b32 %r<2>; .reg .pred %p<2>;
 ld.param.u32 %r1, [us];
 mul.wide.u32 %rd1, %r1, 1000;
 mov.u64 %rd2, %globaltimer;
 add.u64 %rd3, %rd2, %rd1;
LOOP:
 mov.u64 %rd4, %globaltimer;
 setp.lt.u64 %p1, %rd4, %rd3;
 @%p1 bra LOOP;
 ret;
}
)";

// tma(map, out): loads the 64 x 64 box of 2-byte elements at column 64, row 64 and copies it to out as it
// lies.
const std::string tma_ptx = std::string(head) + R"(
.visible .entry tma(.param .align 64 .b8 map[128], .param .u64 out)
.maxntid 128
{
 .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<3>;
 .shared .align 1024 .b8 tile[8192];
 .shared .align 8 .b64 bar;
 mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, bar; mov.u32 %r4, 64;
 setp.ne.u32 %p1, %r1, 0;
 @%p1 bra READY;
 mbarrier.init.shared.b64 [%r3], 1;
 fence.proxy.async.shared::cta;
 mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r3], 8192;
 mov.b64 %rd1, map;
 cvta.param.u64 %rd1, %rd1;
 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r4, %r4}], [%r3];
READY:
 bar.sync 0;
WAIT:
 mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
 @!%p2 bra WAIT;
 ld.param.u64 %rd2, [out];
 mul.wide.u32 %rd3, %r1, 16; add.u64 %rd2, %rd2, %rd3;
 shl.b32 %r5, %r1, 4; add.u32 %r2, %r2, %r5;
 ld.shared.v4.b32 {%r6,%r7,%r8,%r9}, [%r2];      st.global.v4.b32 [%rd2], {%r6,%r7,%r8,%r9};
 ld.shared.v4.b32 {%r6,%r7,%r8,%r9}, [%r2+2048]; st.global.v4.b32 [%rd2+2048], {%r6,%r7,%r8,%r9};
 ld.shared.v4.b32 {%r6,%r7,%r8,%r9}, [%r2+4096]; st.global.v4.b32 [%rd2+4096], {%r6,%r7,%r8,%r9};
 ld.shared.v4.b32 {%r6,%r7,%r8,%r9}, [%r2+6144]; st.global.v4.b32 [%rd2+6144], {%r6,%r7,%r8,%r9};
 ret;
}
)";

template <class T>
Parameter parameter(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <class T>
std::vector<T> read(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    buffer.download(std::as_writable_bytes(std::span(values)));
    return values;
}

template <class T>
Buffer write(const Device& device, const std::vector<T>& values) {
    Buffer buffer(device, values.size() * sizeof(T));
    buffer.upload(std::as_bytes(std::span(values)));
    return buffer;
}

void run(const Function& function, std::initializer_list<Parameter> parameters,
         const LaunchConfig& config = {}) {
    function.launch(config, std::span(parameters.begin(), parameters.size()));
}

// store(out, 7) with this configuration: what every thread wrote.
std::vector<std::uint32_t> stored(const Device& device, const Module& module, const LaunchConfig& config) {
    Buffer out(device, static_cast<std::size_t>(config.grid.x * config.block.x) * 4);
    out.fill(std::byte{0xff});
    const std::uint64_t address = out.address();
    const std::uint32_t value = 7;
    run(module.function("store"), {parameter(address), parameter(value)}, config);
    return read<std::uint32_t>(out);
}

double seconds(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::uint16_t bf16(int value) {
    const auto number = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, 4);
    return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace

TEST_CASE("the texts for the device assemble") {
    if (!have_ptxas()) return;
    const OwnCache cache;
    for (const std::string* text : {&store_ptx, &fault_ptx, &tma_ptx})
        CHECK(is_elf(ptxas_assemble(*text).image));
}

TEST_CASE("the device describes itself", "[gpu]") {
    if (!have_device()) return;
    const double start = seconds([] { Device::get(); });
    const DeviceInfo info = Device::get().info();
    std::cout << info.name << ", " << info.sm_count << " SMs, " << (info.memory_bytes >> 30) << " GiB, L2 "
              << (info.l2_bytes >> 20) << " MiB, driver " << info.driver_version << ", first use " << start
              << " s\n";
    CHECK(info.major == 9);
    CHECK(info.minor == 0);
    CHECK(info.sm_count > 100);
    CHECK(info.shared_bytes == 232448);
    CHECK(Device::get().free_bytes() > 1 << 30);
    CHECK(&Device::get().context() == &Device::get().context());
}

TEST_CASE("bytes go to the device and back", "[gpu]") {
    if (!have_device()) return;
    const Device device = Device::get();
    std::vector<std::uint32_t> values(64 << 20);  // 256 MiB
    std::iota(values.begin(), values.end(), 1U);
    Buffer buffer(device, values.size() * 4);
    const auto bytes = std::as_bytes(std::span(values));
    buffer.upload(bytes);
    const double up = seconds([&] { buffer.upload(bytes); });
    std::vector<std::uint32_t> back(values.size());
    const double down = seconds([&] { buffer.download(std::as_writable_bytes(std::span(back))); });
    std::cout << "pageable transfers: up " << 0.268 / up << " GB/s, down " << 0.268 / down << " GB/s\n";
    CHECK(back == values);
    buffer.fill(std::byte{0x5a});
    std::array<std::byte, 3> some{};
    buffer.download(some, buffer.bytes() - 3);
    CHECK(some == std::array{std::byte{0x5a}, std::byte{0x5a}, std::byte{0x5a}});
}

TEST_CASE("memory runs out with a sentence", "[gpu]") {
    if (!have_device()) return;
    CHECK_THROWS_WITH(Buffer(Device::get(), std::size_t{1} << 44),
                      ContainsSubstring("out of device memory: 16777216 MiB were requested, "));
}

TEST_CASE("PTX runs, its log is kept", "[gpu]") {
    if (!have_device()) return;
    const OwnCache cache;
    const Device device = Device::get();
    // A text that the driver has not seen, so that it assembles.
    const std::string fresh =
        fmt::format("{}// {}\n", unfenced_ptx, std::chrono::system_clock::now().time_since_epoch().count());
    AssemblerLog log;
    const double first = seconds([&] { log = Module::from_ptx(device, fresh).log(); });
    std::cout << "the driver's log:\n" << log.text << "\n";
    const double second = seconds([&] { CHECK(Module::from_ptx(device, fresh).log().text == log.text); });
    std::cout << "JIT " << first * 1e3 << " ms, again " << second * 1e3 << " ms\n";
    REQUIRE(log.functions.size() == 1);
    CHECK(log.functions[0].registers > 8);
    CHECK(std::ranges::count(log.notes, "C7519", &AssemblerNote::code) == 1);

    const Module module = Module::from_ptx(device, store_ptx);
    const Function store = module.function("store");
    CHECK(store.attributes().registers > 0);
    if (store.attributes().parameters)
        CHECK(*store.attributes().parameters == std::vector<std::size_t>{8, 4});
    const LaunchConfig config{.grid = {3, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 16};
    CHECK(stored(device, module, config) == std::vector<std::uint32_t>(192, 7));
    CHECK_THROWS_WITH(module.function("nothing"), "the module has no kernel `nothing`");
    CHECK_THROWS_AS(run(store, {parameter(1)}), ArgumentError);
}

TEST_CASE("PTX errors come from the driver with their lines", "[gpu]") {
    if (!have_device()) return;
    CHECK_THROWS_WITH(Module::from_ptx(Device::get(), broken_ptx()),
                      ContainsSubstring("the driver's assembler: line 8: "));
    std::string future = unfenced_ptx;
    future.replace(future.find("8.0"), 3, "99.0");
    CHECK_THROWS_AS(Module::from_ptx(Device::get(), future), CompileError);
    const std::array junk = {std::byte{1}, std::byte{2}, std::byte{0}};
    CHECK_THROWS_AS(Module::from_cubin(Device::get(), junk), EnvironmentError);
}

TEST_CASE("cubins of ptxas and NVRTC run", "[gpu]") {
    if (!have_device()) return;
    const Device device = Device::get();
    const LaunchConfig config{.grid = {2, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 16};
    if (have_ptxas())
        CHECK(stored(device, Module::from_cubin(device, ptxas_assemble(store_ptx).image), config) ==
              std::vector<std::uint32_t>(64, 7));
    if (have_nvrtc()) {
        const char* text =
            "extern \"C\" __global__ void store(unsigned* out, unsigned value) {\n"
            "  out[blockIdx.x * blockDim.x + threadIdx.x] = value;\n}\n";
        CHECK(stored(device, Module::from_cubin(device, nvrtc_compile(text).image), config) ==
              std::vector<std::uint32_t>(64, 7));
    }
}

TEST_CASE("large shared memory and clusters", "[gpu]") {
    if (!have_device()) return;
    const Device device = Device::get();
    const Module module = Module::from_ptx(device, store_ptx);
    CHECK(stored(device, module, {.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 232448}) ==
          std::vector<std::uint32_t>(32, 7));
    CHECK(stored(device, module,
                 {.grid = {4, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}, .shared_bytes = 16}) ==
          std::vector<std::uint32_t>{7, 8, 7, 8});
    const LaunchConfig large{.grid = {16, 1, 1},
                             .block = {1, 1, 1},
                             .cluster = {16, 1, 1},
                             .shared_bytes = 16,
                             .non_portable_cluster = true};
    CHECK(stored(device, module, large).back() == 7 + 15);
    // A CTA that fills an SM: clusters of 4 leave SMs over, where those of a group are no multiple of 4.
    const Function store = module.function("store");
    const int alone = store.resident_clusters({.block = {32, 1, 1}, .shared_bytes = 232448});
    CHECK(alone == device.info().sm_count);
    const int fours =
        store.resident_clusters({.block = {32, 1, 1}, .cluster = {4, 1, 1}, .shared_bytes = 232448});
    CHECK(fours > 0);
    CHECK(fours <= alone / 4);
}

TEST_CASE("a tensor map loads the box that it describes", "[gpu]") {
    if (!have_device()) return;
    const Device device = Device::get();
    std::vector<std::uint16_t> matrix(128 * 128);
    std::iota(matrix.begin(), matrix.end(), std::uint16_t{0});
    const Buffer from = write(device, matrix);
    const Function tma = Module::from_ptx(device, tma_ptx).function("tma");
    for (const TensorMapSwizzle swizzle : {TensorMapSwizzle::none, TensorMapSwizzle::b128}) {
        const TensorMap map = encode_tensor_map(device, {.type = TensorMapType::u16,
                                                         .address = from.address(),
                                                         .extents = {128, 128},
                                                         .strides = {256},
                                                         .box = {64, 64},
                                                         .swizzle = swizzle});
        Buffer out(device, 8192);
        const std::uint64_t address = out.address();
        run(tma, {parameter(map), parameter(address)}, {.block = {128, 1, 1}});
        const std::vector<std::uint16_t> got = read<std::uint16_t>(out);
        int wrong = 0;
        for (std::size_t row = 0; row < 64; ++row)
            for (std::size_t column = 0; column < 64; ++column) {
                // Swizzle<3,4,3>: the 16-byte piece of a row is moved by the row's number in its group of
                // eight.
                const std::size_t piece =
                    swizzle == TensorMapSwizzle::none ? column / 8 : (column / 8) ^ (row % 8);
                wrong += got[row * 64 + piece * 8 + column % 8] != matrix[(row + 64) * 128 + column + 64];
            }
        CHECK(wrong == 0);
    }
}

TEST_CASE("times are right", "[gpu]") {
    if (!have_device()) return;
    const Device device = Device::get();
    const Function nap = Module::from_ptx(device, fault_ptx).function("nap");
    const auto sleep = [&](std::uint32_t us) { run(nap, {parameter(us)}); };
    const auto median = [](std::vector<double> times) {
        std::ranges::sort(times);
        return times[times.size() / 2];
    };
    for (const bool flush : {false, true}) {
        const double got = median(time(device, [&] { sleep(100); }, {.flush_l2 = flush}));
        std::cout << "a nap of 100 us took " << got << " us" << (flush ? ", L2 flushed\n" : "\n");
        CHECK(got > 99);
        CHECK(got < 115);
    }
    const double nothing = median(time(device, [&] { sleep(0); }));
    std::cout << "an empty kernel took " << nothing << " us\n";
    CHECK(nothing < 20);
    const ComparedTimes both = compare(
        device, [&] { sleep(50); }, [&] { sleep(100); });
    CHECK(median(both.second) / median(both.first) == Approx(2).epsilon(0.1));
}

TEST_CASE("cuBLAS multiplies, whatever the majors", "[gpu]") {
    if (!have_device()) return;
    if (const Part cublas = find_cublas(); !cublas) {
        std::cout << "skipped: no cuBLAS (" << cublas.missing << ")\n";
        return;
    }
    const Device device = Device::get();
    constexpr std::size_t m = 256;
    constexpr std::size_t n = 128;
    constexpr std::size_t k = 64;
    const auto a = [](std::size_t i, std::size_t l) { return static_cast<int>((i * 7 + l * 3) % 5) - 2; };
    const auto b = [](std::size_t l, std::size_t j) { return static_cast<int>((l * 5 + j * 11) % 7) - 3; };
    using Major = Gemm::Major;
    for (const Major a_major : {Major::k, Major::mn})
        for (const Major b_major : {Major::k, Major::mn}) {
            std::vector<std::uint16_t> a_values(m * k);
            std::vector<std::uint16_t> b_values(k * n);
            for (std::size_t l = 0; l < k; ++l) {
                for (std::size_t i = 0; i < m; ++i)
                    a_values[a_major == Major::k ? i * k + l : l * m + i] = bf16(a(i, l));
                for (std::size_t j = 0; j < n; ++j)
                    b_values[b_major == Major::k ? j * k + l : l * n + j] = bf16(b(l, j));
            }
            const Buffer a_buffer = write(device, a_values);
            const Buffer b_buffer = write(device, b_values);
            Buffer d_buffer(device, m * n * 4);
            const Gemm gemm{.m = m, .n = n, .k = k, .output = Gemm::Output::f32, .a = a_major, .b = b_major};
            const CublasProduct cublas(device, gemm, a_buffer, b_buffer, d_buffer);
            CHECK(cublas.tried() > 0);
            d_buffer.fill(std::byte{0xff});
            cublas.run();
            const std::vector<float> got = read<float>(d_buffer);
            int wrong = 0;
            for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    int sum = 0;
                    for (std::size_t l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
                    wrong += got[i * n + j] != static_cast<float>(sum);
                }
            CHECK(wrong == 0);
        }

    constexpr std::int64_t large = 8192;
    Buffer x(device, large * large * 2);
    Buffer y(device, large * large * 2);
    Buffer d(device, large * large * 2);
    x.fill(std::byte{0x3c});
    y.fill(std::byte{0x3d});
    const CublasProduct cublas(device, {.m = large, .n = large, .k = large}, x, y, d);
    std::vector<double> times = time(device, [&] { cublas.run(); }, {.rounds = 10});
    std::ranges::sort(times);
    std::cout << "cuBLAS bf16 8192^3 on constant data: " << 2.0 * large * large * large / times[5] / 1e6
              << " TFLOP/s, best of " << cublas.tried() << " algorithms\n";
}

namespace {

/// After a kernel that failed: the next one works, or what is wrong with the GPU is said.
void next_kernel_or_reason(const Device& device, const char* reason) {
    try {
        const Module again = Module::from_ptx(device, store_ptx);
        CHECK(stored(device, again, {.block = {4, 1, 1}, .shared_bytes = 16}) ==
              std::vector<std::uint32_t>(4, 7));
        std::cout << "the next kernel worked\n";
    } catch (const EnvironmentError& error) {
        CHECK_THAT(error.finding().message, ContainsSubstring(reason));
        std::cout << error.finding().message << "\n";
    }
}

void fault(const char* kernel, std::uint64_t address, const char* error) {
    if (!have_device()) return;
    const Device device = Device::get();
    const Function function = Module::from_ptx(device, fault_ptx).function(kernel);
    if (address != 0)
        run(function, {parameter(address)});
    else
        run(function, {});
    CHECK_THROWS_WITH(device.wait(),
                      ContainsSubstring(std::string("kernel `") + kernel + "` failed: " + error));
    next_kernel_or_reason(device, "the CUDA context of this process is lost");
}

}  // namespace

// Hidden, because a fault may end the GPU for its process: each is run in one of its own by the test below.
TEST_CASE("an illegal address", "[.illegal]") { fault("write", 64, "CUDA_ERROR_ILLEGAL_ADDRESS"); }
// In memory of its own: of an address that is illegal as well, drivers say one or the other.
TEST_CASE("a misaligned address", "[.misaligned]") {
    if (!have_device()) return;
    Buffer buffer(Device::get(), 64);
    fault("write", buffer.address() + 2, "CUDA_ERROR_MISALIGNED_ADDRESS");
}
TEST_CASE("a trap", "[.trap]") { fault("trapped", 0, "CUDA_ERROR_"); }

TEST_CASE("a hung kernel", "[.hang]") {
    if (!have_device()) return;
    const Device device = Device::get();
    const Patience patience(500ms);
    const Function hang = Module::from_ptx(device, fault_ptx).function("hang");
    run(hang, {});
    const double took = seconds([&] {
        CHECK_THROWS_WITH(device.wait(), ContainsSubstring("kernel `hang` did not end within 0.5 s"));
    });
    std::cout << "told after " << took << " s\n";
    next_kernel_or_reason(device, "did not end within 0.5 s");
}

TEST_CASE("a fault or a hang is named, and what follows from it", "[gpu]") {
    if (!have_device()) return;
    for (const char* hidden : {"[.illegal]", "[.misaligned]", "[.trap]", "[.hang]"}) {
        const ProcessResult result = run_process({"/proc/self/exe", hidden}, 60s);
        std::cout << result.output;
        CHECK(result.status == 0);
    }
}
