// What several of these tests need: an environment variable for a while, a cache of their own, PTX texts.
#pragma once

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "gpu/compile.hpp"
#include "gpu/process.hpp"

namespace wgrun::gpu::test {

/// Sets (or with nullptr removes) an environment variable until the end of the scope.
class Environment {
  public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        set(value);
    }
    ~Environment() { set(old_ ? old_->c_str() : nullptr); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    void set(const char* value) {
        if (value != nullptr)
            ::setenv(name_, value, 1);
        else
            ::unsetenv(name_);
    }
    const char* name_;
    std::optional<std::string> old_;
};

/// An empty cache for one test.
class OwnCache {
  public:
    const std::filesystem::path& folder() const { return folder_.path(); }

  private:
    TemporaryFolder folder_;
    Environment variable_{"WGRUN_CACHE", folder_.path().c_str()};
};

inline bool have_ptxas() {
    const Part part = find_ptxas(false);
    if (!part) std::cout << "skipped: no ptxas (" << part.missing << ")\n";
    return static_cast<bool>(part);
}

inline bool have_nvrtc() {
    const NvrtcLibrary nvrtc = find_nvrtc();
    if (nvrtc.functions == nullptr) std::cout << "skipped: no NVRTC (" << nvrtc.part.missing << ")\n";
    return nvrtc.functions != nullptr;
}

/// One wgmma without its fence and its wait: ptxas repairs it and says C7519 and C7517.
constexpr const char* unfenced_ptx = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
.maxntid 128
{
 .reg .b64 %rd<4>; .reg .f32 %f<8>;
 ld.param.u64 %rd1, [p];
 mov.u64 %rd2, 4611686293305294848;
 mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %rd2, %rd2, 1, 1, 1, 0, 0;
 wgmma.commit_group.sync.aligned;
 st.global.f32 [%rd1], %f1;
 ret;
}
)";

/// A kernel that gives a wrong shape on line 11 and uses an unknown symbol on line 8.
inline std::string broken_ptx() {
    std::string text = unfenced_ptx;
    text.replace(text.find("m64n8k16"), 8, "m64n12k16");
    text.replace(text.find("[p]"), 3, "[q]");
    return text;
}

constexpr const char* unfenced_cuda = R"(extern "C" __global__ void __launch_bounds__(128) k(float* out) {
    __shared__ __align__(1024) unsigned char tile[8192];
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    unsigned long long desc = 4611686293305294848ull;
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(desc));
    asm volatile("wgmma.commit_group.sync.aligned;");
    tile[threadIdx.x] = 1;
    out[threadIdx.x] = d0 + tile[5];
}
)";

inline bool is_elf(const std::vector<std::byte>& image) {
    return image.size() > 64 && image[0] == std::byte{0x7f} && image[1] == std::byte{'E'};
}

}  // namespace wgrun::gpu::test
