// A kernel of the driver that does as told, and what a call that fails says.
#pragma once

#include <array>
#include <string>

#include "tests/catch.hpp"
#include "tests/unit/gpu/fake_driver.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu::test {

/// Runs it, wants an EnvironmentError with this code, and gives its message and fix.
template <class Call>
std::string failure(const char* code, Call call) {
    try {
        call();
    } catch (const EnvironmentError& error) {
        CHECK(error.code() == code);
        return std::string(error.what()) + " | " + error.finding().fix;
    }
    FAIL("it worked");
    return {};
}

struct Arguments {
    std::uint64_t pointer = 0x1122334455667788;
    std::uint32_t count = 5;
    std::array<Parameter, 2> parameters() const {
        return {std::as_bytes(std::span(&pointer, 1)), std::as_bytes(std::span(&count, 1))};
    }
};

inline const Arguments arguments;

inline Function load(const Device& device) { return Module::from_ptx(device, "any text").function("work"); }

inline void launch(const Function& function, LaunchConfig config = {.block = {128, 1, 1}}) {
    function.launch(config, arguments.parameters());
}

}  // namespace wgrun::gpu::test
