#include <algorithm>

#include <fmt/format.h>

#include "gpu/cublas.hpp"
#include "kernel/timing.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {
namespace {

gpu::Gemm::Input input_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::bf16: return gpu::Gemm::Input::bf16;
        case Dtype::f16: return gpu::Gemm::Input::f16;
        case Dtype::tf32: return gpu::Gemm::Input::tf32;
        case Dtype::e4m3: return gpu::Gemm::Input::e4m3;
        case Dtype::e5m2: return gpu::Gemm::Input::e5m2;
        case Dtype::s8: return gpu::Gemm::Input::s8;
        default: break;
    }
    throw ArgumentError(
        fmt::format("cuBLAS: operands must be bf16, f16, tf32, e4m3, e5m2 or s8, not {}", to_string(dtype)));
}

gpu::Gemm::Output output_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::f32: return gpu::Gemm::Output::f32;
        case Dtype::bf16: return gpu::Gemm::Output::bf16;
        case Dtype::f16: return gpu::Gemm::Output::f16;
        case Dtype::s32: return gpu::Gemm::Output::s32;
        default: break;
    }
    throw ArgumentError(
        fmt::format("cuBLAS: the result must be f32, bf16, f16 or s32, not {}", to_string(dtype)));
}

/// The extents (m or n, k) of an operand as it lies in memory.
std::pair<std::int64_t, std::int64_t> extents(const char* name, const Tensor& tensor, Major major) {
    if (tensor.rank() != 2)
        throw ArgumentError(fmt::format("cuBLAS: {} is {}, but must be a matrix", name, to_string(tensor)));
    const std::int64_t rows = tensor.shape()[0], cols = tensor.shape()[1];
    return major == Major::k ? std::pair(rows, cols) : std::pair(cols, rows);
}

}  // namespace

struct Cublas::State {
    explicit State(gpu::Isolation isolation) : device(gpu::Device::get(isolation)) {}

    gpu::Device device;
    gpu::Buffer a, b, d;
    std::optional<gpu::CublasProduct> gemm;
    double flops = 0;
    Tensor* result = nullptr;
};

Cublas::Cublas(const Tensor& a, Major a_major, const Tensor& b, Major b_major, Tensor& d,
               gpu::Isolation isolation)
    : state_(std::make_unique<State>(isolation)) {
    const auto [m, k] = extents("A", a, a_major);
    const auto [n, k_of_b] = extents("B", b, b_major);
    if (k != k_of_b) throw ArgumentError(fmt::format("cuBLAS: K is {} in A, but {} in B", k, k_of_b));
    if (d.shape() != TensorShape{m, n})
        throw ArgumentError(fmt::format("cuBLAS: D is {}, but must be {}x{}", to_string(d), m, n));
    if (a.dtype() != b.dtype()) throw ArgumentError("cuBLAS: A and B are of different dtypes");
    if (d.read_only()) throw ArgumentError("cuBLAS: D is a read-only tensor");
    gpu::Gemm gemm;
    gemm.m = m, gemm.n = n, gemm.k = k;
    gemm.input = input_type(a.dtype());
    gemm.output = output_type(d.dtype());
    gemm.a = a_major == Major::k ? gpu::Gemm::Major::k : gpu::Gemm::Major::mn;
    gemm.b = b_major == Major::k ? gpu::Gemm::Major::k : gpu::Gemm::Major::mn;
    State& s = *state_;
    s.a = gpu::Buffer(s.device, a.size_bytes());
    s.b = gpu::Buffer(s.device, b.size_bytes());
    s.d = gpu::Buffer(s.device, d.size_bytes());
    s.a.upload(a.bytes());
    s.b.upload(b.bytes());
    s.gemm.emplace(s.device, gemm, s.a, s.b, s.d);
    s.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    s.result = &d;
}

Cublas::Cublas(Cublas&&) noexcept = default;
Cublas& Cublas::operator=(Cublas&&) noexcept = default;
Cublas::~Cublas() = default;

void Cublas::start() const { state_->gemm->run(); }
double Cublas::flops() const { return state_->flops; }

void Cublas::run() {
    start();
    state_->device.wait();
    state_->d.download(state_->result->bytes());
}

Timing Cublas::time(int rounds) {
    gpu::TimingOptions options;
    options.rounds = rounds;
    return summary(gpu::time(
                       state_->device, [&] { start(); }, options),
                   state_->flops, Backend::gpu);
}

}  // namespace wgrun
