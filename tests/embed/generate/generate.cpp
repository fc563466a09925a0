// Generates, checks, simulates and prints: what is wrong makes the exit status 1.
#include <wgrun/identify.hpp>
#include <wgrun/kernel.hpp>
#include <wgrun/picture.hpp>
#include <wgrun/rules.hpp>
#include <wgrun/sparse.hpp>
#include <wgrun/version.hpp>

#include <cstdio>
#include <string>

#include "axpy.hpp"
#include "product.hpp"

namespace {

int faults = 0;

void expect(bool good, const std::string& what) {
    if (good) return;
    std::printf("fault: %s\n", what.c_str());
    ++faults;
}

void right_kernel() {
    constexpr int count = 1000, threads = 128;
    wgrun::Kernel kernel(axpy(threads));
    expect(kernel.check().empty(), "axpy has findings");
    std::printf("%s\n", kernel.ptx().c_str());
    expect(kernel.ptx().find(".target sm_90a") != std::string::npos, "the text is PTX for sm_90a");
    expect(kernel.cuda().find("__global__") != std::string::npos, "the text is CUDA C++");

    const wgrun::Tensor x = wgrun::Tensor::randint({count}, wgrun::Dtype::f32, -100, 100, 1);
    wgrun::Tensor from = x.copy(), y = wgrun::Tensor::zeros(wgrun::Dtype::f32, {count});
    wgrun::RunOptions options;
    options.grid = {(count + threads - 1) / threads, 1, 1};
    options.args = {&from, &y, 3.0, std::int64_t{count}};
    options.backend = wgrun::Backend::sim;
    for (int run = 1; run <= 2; ++run) {
        expect(kernel.run(options) == wgrun::Backend::sim, "it runs on the simulator");
        for (int i = 0; i < count; ++i)
            if (y.get(i) != 3.0 * run * x.get(i)) return expect(false, "element " + std::to_string(i));
    }
}

void tensor_cores() {
    constexpr int M = 128, N = 64, K = 192;
    wgrun::Kernel kernel(product());
    expect(kernel.check().empty(), "the product has findings");
    for (const wgrun::Verdict& verdict : kernel.verdicts())
        expect(verdict.kind != wgrun::Verdict::Kind::refuted, "a verdict on the product");
    const wgrun::Tensor a = wgrun::Tensor::randint({M, K}, wgrun::Dtype::bf16, -4, 4, 1);
    const wgrun::Tensor b = wgrun::Tensor::randint({N, K}, wgrun::Dtype::bf16, -4, 4, 2);
    wgrun::Tensor A = a.copy(), B = b.copy(), D = wgrun::Tensor::zeros(wgrun::Dtype::f32, {M, N});
    wgrun::RunOptions options;
    options.grid = {N / 64, M / 64, 1};
    options.args = {&A, &B, &D, std::int64_t{N}, std::int64_t{K}};
    options.backend = wgrun::Backend::sim;
    kernel.run(options);
    for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n) {
            double sum = 0;
            for (int k = 0; k < K; ++k) sum += a.get(m * K + k) * b.get(n * K + k);
            if (D.get(m * N + n) != sum)
                return expect(false, "element " + std::to_string(m) + ", " + std::to_string(n));
        }
}

void wrong_kernel() {
    wgrun::Kernel kernel(racy(64));
    wgrun::Tensor y = wgrun::Tensor::zeros(wgrun::Dtype::u32, {64});
    wgrun::RunOptions options;
    options.args = {&y};
    options.backend = wgrun::Backend::sim;
    try {
        kernel.run(options);
        expect(false, "the race was not found");
    } catch (const wgrun::CheckError& error) {  // a class that crosses the library's border
        for (const wgrun::Diagnostic& finding : error.findings()) std::printf("%s", to_text(finding).c_str());
        expect(wgrun::find_rule(error.finding().rule) != nullptr,
               "the rule of the finding is in the catalogue");
    }
}

void what_there_is_besides() {
    const wgrun::Tile tile({.dtype = wgrun::Dtype::bf16, .mn = 64, .k = 64});
    expect(wgrun::identify(tile.layout(), wgrun::Dtype::bf16).canonical, "a tile is a canonical layout");
    expect(!to_text(grid_of(tile)).empty(), "a tile has a picture");
    expect(bank_conflicts(tile, wgrun::SharedAccess::ldmatrix).degree == 1, "128B has no bank conflicts");
    const wgrun::Tensor dense = wgrun::Tensor::randn({64, 64}, wgrun::Dtype::bf16, 1);
    const auto [values, metadata] = wgrun::sparse::compress(wgrun::sparse::prune(dense));
    expect(values.shape() == wgrun::TensorShape{64, 32}, "two of four are kept");
    try {
        wgrun::Tensor::load("/no/such/file.npy");
        expect(false, "a missing file was read");
    } catch (const wgrun::EnvironmentError& error) {
        expect(error.code() == "ENOENT", "the code of a missing file");
    }
    expect(wgrun::version() == WGRUN_VERSION, "library and headers are of one version");
}

}  // namespace

int main() {
    right_kernel();
    tensor_cores();
    wrong_kernel();
    what_there_is_besides();
    std::printf("%d faults\n", faults);
    return faults == 0 ? 0 : 1;
}
