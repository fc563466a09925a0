// What can be launched and what a tensor map can describe: pure checks, no GPU.
#include <array>

#include "tests/catch.hpp"
#include "wgrun/gpu.hpp"

using namespace wgrun;
using namespace wgrun::gpu;

namespace {

const FunctionAttributes kernel = {
    .registers = 168, .max_threads = 384, .shared_bytes = 1024, .parameters = {{8, 4}}};

std::string refusal(const LaunchConfig& config, const FunctionAttributes& attributes = kernel,
                    const std::vector<std::size_t>& sizes = {8, 4}) {
    static const std::array<std::byte, 256> bytes{};
    std::vector<Parameter> parameters;
    for (const std::size_t size : sizes) parameters.emplace_back(bytes.data(), size);
    try {
        check_launch("k", attributes, config, parameters);
        return "";
    } catch (const ArgumentError& error) {
        return error.what();
    }
}

std::string map_refusal(const TensorMapSpec& spec) {
    try {
        check_tensor_map(spec);
        return "";
    } catch (const ArgumentError& error) {
        return error.what();
    }
}

TensorMapSpec matrix() {
    return {.type = TensorMapType::bf16,
            .address = 1024,
            .extents = {4096, 4096},
            .strides = {8192},
            .box = {64, 128},
            .swizzle = TensorMapSwizzle::b128};
}

}  // namespace

TEST_CASE("launches that are possible") {
    CHECK(refusal({}) == "");
    CHECK(refusal({.grid = {2147483647, 65535, 65535}, .block = {384, 1, 1}}) == "");
    CHECK(refusal({.block = {2, 3, 64}, .shared_bytes = 232448 - 1024}) == "");
    CHECK(refusal({.grid = {4, 2, 1}, .cluster = {4, 2, 1}}) == "");
    CHECK(refusal({.grid = {16, 1, 1}, .cluster = {16, 1, 1}, .non_portable_cluster = true}) == "");
}

TEST_CASE("launches that are not") {
    CHECK(refusal({.grid = {0, 1, 1}}) == "kernel `k`: grid {0, 1, 1}: extents must be at least 1");
    CHECK(refusal({.grid = {1, -3, 1}}) == "kernel `k`: grid {1, -3, 1}: extents must be at least 1");
    CHECK(refusal({.grid = {1, 70000, 1}}) ==
          "kernel `k`: grid {1, 70000, 1}: extents may be at most {2147483647, 65535, 65535}");
    CHECK(refusal({.grid = {std::int64_t{1} << 40, 1, 1}}) ==
          "kernel `k`: grid {1099511627776, 1, 1}: extents may be at most {2147483647, 65535, 65535}");
    CHECK(refusal({.block = {64, 64, 1}}) ==
          "kernel `k`: block {64, 64, 1} has 4096 threads, but a CTA can have at most 1024");
    CHECK(refusal({.block = {1, 1, 65}}) ==
          "kernel `k`: block {1, 1, 65}: extents may be at most {1024, 1024, 64}");
    CHECK(refusal({.block = {512, 1, 1}}) ==
          "kernel `k`: block {512, 1, 1} has 512 threads: compiled for at most 384 (168 registers a thread)");
    CHECK(refusal({.shared_bytes = 232448}) ==
          "kernel `k`: 232448 bytes of dynamic and 1024 of static shared memory: a CTA has at most 232448");
    CHECK(refusal({.shared_bytes = std::numeric_limits<std::int64_t>::max()}) != "");
    CHECK(refusal({.shared_bytes = -1}) == "kernel `k`: -1 bytes of dynamic shared memory");
    CHECK(refusal({.grid = {16, 1, 1}, .cluster = {16, 1, 1}}) ==
          "kernel `k`: cluster {16, 1, 1} has 16 CTAs: more than 8 need non_portable_cluster");
    CHECK(refusal({.grid = {32, 1, 1}, .cluster = {16, 2, 1}, .non_portable_cluster = true}) ==
          "kernel `k`: cluster {16, 2, 1} has 32 CTAs, but can have at most 16");
    CHECK(refusal({.grid = {3, 1, 1}, .cluster = {2, 1, 1}}) ==
          "kernel `k`: grid {3, 1, 1} is not a multiple of cluster {2, 1, 1}");
    CHECK(refusal({.cluster = {0, 1, 1}}) == "kernel `k`: cluster {0, 1, 1}: extents must be at least 1");
}

TEST_CASE("a kernel that requires a cluster") {
    FunctionAttributes clustered = kernel;
    clustered.cluster = {2, 1, 1};
    CHECK(refusal({.grid = {4, 1, 1}}, clustered) == "");
    CHECK(refusal({.grid = {4, 1, 1}, .cluster = {2, 1, 1}}, clustered) == "");
    CHECK(
        refusal({.grid = {4, 1, 1}, .cluster = {4, 1, 1}}, clustered) ==
        "kernel `k`: cluster {4, 1, 1} is requested, but it was compiled for {2, 1, 1} (.reqnctapercluster)");
    CHECK(refusal({.grid = {3, 1, 1}}, clustered) ==
          "kernel `k`: grid {3, 1, 1} is not a multiple of cluster {2, 1, 1}");
}

TEST_CASE("parameters are counted and measured") {
    CHECK(refusal({}, kernel, {8}) == "kernel `k`: it takes 2 parameters, not 1");
    CHECK(refusal({}, kernel, {8, 8}) == "kernel `k`: parameter 2 has 8 bytes, but it takes 4");
    FunctionAttributes unknown = kernel;
    unknown.parameters.reset();
    CHECK(refusal({}, unknown, {1, 2, 3}) == "");
}

TEST_CASE("tensor maps that are possible") {
    CHECK(map_refusal(matrix()) == "");
    CHECK(map_refusal({.type = TensorMapType::u8, .address = 16, .extents = {1}, .box = {16}}) == "");
    TensorMapSpec large = matrix();
    large.extents = {std::int64_t{1} << 32, 1};
    CHECK(map_refusal(large) == "");
}

TEST_CASE("tensor maps that are not") {
    const auto with = [](auto change) {
        TensorMapSpec spec = matrix();
        change(spec);
        return map_refusal(spec);
    };
    CHECK(with([](auto& s) { s.extents = {}; }) == "tensor map: 0 dimensions: must be 1 to 5");
    CHECK(with([](auto& s) { s.strides = {}; }) ==
          "tensor map: 0 strides for 2 dimensions: each but the first needs one");
    CHECK(with([](auto& s) { s.box = {64}; }) == "tensor map: a box of 1 dimension for a tensor of 2");
    CHECK(with([](auto& s) { s.address = 1032; }) ==
          "tensor map: address 0x408: it must be a multiple of 16");
    CHECK(with([](auto& s) { s.extents[1] = 0; }) == "tensor map: extents {4096, 0}: each must be 1 to 2^32");
    CHECK(with([](auto& s) { s.extents[1] = -1; }) ==
          "tensor map: extents {4096, -1}: each must be 1 to 2^32");
    CHECK(with([](auto& s) { s.strides[0] = 8200; }) ==
          "tensor map: strides {8200} bytes: each must be a multiple of 16 below 2^40");
    CHECK(with([](auto& s) { s.strides[0] = std::int64_t{1} << 40; }) != "");
    CHECK(with([](auto& s) { s.box[1] = 257; }) ==
          "tensor map: box {64, 257}: side 1 must be 1 to 256 elements");
    CHECK(with([](auto& s) { s.box[0] = 4; }) ==
          "tensor map: the box is 8 bytes wide: it must be a multiple of 16");
    CHECK(with([](auto& s) { s.box[0] = 128; }) ==
          "tensor map: the box is 256 bytes wide: at most 128 with the 128B swizzle");
    CHECK(with([](auto& s) { s.swizzle = TensorMapSwizzle::b32; }) ==
          "tensor map: the box is 128 bytes wide: at most 32 with the 32B swizzle");
    CHECK(with([](auto& s) {
              s.type = TensorMapType::u16;
              s.nan_fill = true;
          }) == "tensor map: elements out of bounds can be NaN only for float types");
}
