// Read-only tensors as arguments of a launch.
#include <array>

#include "tests/catch.hpp"
#include "wgrun/kernel.hpp"

using namespace wgrun;

namespace {

Kernel copier(bool constant) {
    Builder k("copier", 32, {1, 1, 1}, Where::at("test.lua", 1));
    k.param("from", isa::Type::u64, Dtype::u32, constant);
    k.param("to", isa::Type::u64, Dtype::u32);
    return Kernel(k.finish());
}

}  // namespace

TEST_CASE("a read-only tensor fits const parameters alone") {
    static constexpr std::array<std::uint32_t, 4> memory{1, 2, 3, 4};
    Tensor from = Tensor::wrap_read_only(Dtype::u32, {4}, memory.data(), nullptr);
    Tensor to = Tensor::zeros(Dtype::u32, {4});
    RunOptions options;
    options.grid = {1, 1, 1};
    options.backend = Backend::sim;
    options.args = {&from, &to};
    CHECK(copier(true).run(options) == Backend::sim);
    CHECK_THROWS_WITH(
        copier(false).run(options),
        "kernel copier, argument 1 (from): the tensor is read-only, and the parameter is not const");
    options.args = {&to, &from};
    CHECK_THROWS_AS(copier(true).run(options), ArgumentError);
}
