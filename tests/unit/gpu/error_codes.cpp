#include "gpu/error_codes.hpp"

#include <algorithm>

#include "gpu/driver.hpp"
#include "gpu/jit_logs.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

TEST_CASE("errors of CUDA by number and by name, as the driver and the runtime spell them") {
    const gpu::ErrorCode* address = gpu::find_error("700");
    REQUIRE(address != nullptr);
    CHECK(address->name == "ILLEGAL_ADDRESS");
    for (const char* word : {"CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress", "illegal_address"})
        CHECK(gpu::find_error(word) == address);
    CHECK(gpu::find_error("cudaErrorLaunchFailure") == gpu::find_error("CUDA_ERROR_LAUNCH_FAILED"));
    CHECK(gpu::find_error("cudaErrorInvalidConfiguration")->number == 9);
    for (const char* word : {"", "CUDA_ERROR_", "cudaError", "7000", "700a", "nothing"})
        CHECK(gpu::find_error(word) == nullptr);
}

TEST_CASE("errors of CUDA have a cause each, and are ordered") {
    const auto codes = gpu::error_codes();
    CHECK(std::ranges::is_sorted(codes, {}, &gpu::ErrorCode::number));
    for (const gpu::ErrorCode& code : codes) {
        INFO(code.number);
        CHECK_FALSE(code.cause.empty());
        CHECK_FALSE((code.name.empty() && code.runtime.empty()));
        CHECK(gpu::find_error(code.name.empty() ? code.runtime : code.name) == &code);
    }
}

TEST_CASE("a text that the driver's assembler refuses without a word") {
    gpu::Driver driver{};
    driver.get_error_name = [](gpu::abi::Result, const char**) -> gpu::abi::Result { return 1; };
    const gpu::JitLogs logs;
    CHECK_NOTHROW(gpu::throw_if_refused(driver, gpu::abi::success, "", logs));
    try {
        gpu::throw_if_refused(driver, gpu::abi::unsupported_ptx_version, ".version 9.9\n.target sm_90a\n",
                              logs);
        FAIL("nothing is thrown");
    } catch (const gpu::CompileError& error) {
        const std::string said = error.what();
        CHECK(said.find("the text's .version is newer than the driver") != std::string::npos);
        CHECK(said.find("the text has .version 9.9, the driver is of CUDA") != std::string::npos);
        CHECK(error.finding().fix.starts_with("a later driver"));
    }
}
