// A program over libwgrun whose kernels run in a worker process that it has said nothing of: the library
// finds the tool. worker WHERE, where WHERE is the path that the worker must have, "none", or "own" for a
// program that is its own worker. The driver is one that is made up (tests/worker/fake_cuda.cpp): a kernel
// called `trap` ends its context.
#include <wgrun/gpu.hpp>
#include <wgrun/kernel.hpp>
#include <wgrun/program.hpp>

#include <cstdio>
#include <filesystem>
#include <string>

using wgrun::Builder;
using wgrun::Dtype;
using wgrun::Where;

namespace {

int faults = 0;

void expect(bool good, const std::string& what) {
    if (good) return;
    std::printf("fault: %s\n", what.c_str());
    ++faults;
}

// What the made-up driver knows by this name.
wgrun::Kernel add_one() {
    Builder b("add_one", 32, {}, Where::at("worker.cpp", __LINE__));
    b.param("data", wgrun::isa::Type::u64, Dtype::f32);
    b.param("count", wgrun::isa::Type::u32, {});
    return wgrun::Kernel(b.finish());
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto status = wgrun::gpu::worker_main(argc, argv)) return *status;
    const std::string wanted = argc > 1 ? argv[1] : "none";
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    if (wanted == "own") wgrun::gpu::set_worker_program("/proc/self/exe");

    const wgrun::gpu::Part worker = wgrun::gpu::doctor().worker;
    std::printf("worker: %s%s\n", worker.path.c_str(), worker.missing.c_str());
    if (wanted == "none") {
        expect(worker.path.empty() && !worker.missing.empty(), "there should be no worker");
    } else {
        std::error_code ignored;
        const std::string file = wanted == "own" ? self : wanted;
        expect(std::filesystem::equivalent(worker.path, file, ignored), "the worker should be " + file);
    }

    wgrun::Tensor data = wgrun::Tensor::zeros(Dtype::f32, {4});
    wgrun::RunOptions options;
    options.backend = wgrun::Backend::gpu;
    wgrun::Kernel good = add_one(), bad(Builder("trap", 32, {}, Where::at("worker.cpp", __LINE__)).finish());
    // Only a program with a worker outlives a fault.
    const int rounds = wanted == "none" ? 0 : 3;
    for (int round = 0; round <= rounds; ++round) {
        options.args = {&data, std::int64_t{4}};
        good.run(options);
        expect(data.get(3) == round + 1, "the good kernel, round " + std::to_string(round));
        if (round == rounds) break;
        options.args = {};
        try {
            bad.run(options);
            expect(false, "the bad kernel has not failed");
        } catch (const wgrun::EnvironmentError& error) {
            expect(error.code() == "EFAULT", error.what());
        }
    }
    std::printf("%d faults\n", faults);
    return faults == 0 ? 0 : 1;
}
