// libFuzzer's entry point; WGRUN_FUZZ_BODY names the body.
#include "tests/fuzz/bodies.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    wgrun::fuzz::WGRUN_FUZZ_BODY({data, size});
    return 0;
}
