#include "gpu/error_codes.hpp"

#include <algorithm>

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
