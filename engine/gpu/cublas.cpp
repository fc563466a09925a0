#include "gpu/cublas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "gpu/context.hpp"
#include "gpu/library.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::gpu {

namespace {

// The part of cublasLt.h, cublas_api.h and library_types.h that is used here (the same in CUDA 12 and 13).
namespace lt {
constexpr int success = 0;
constexpr int compute_32f = 68;       // CUBLAS_COMPUTE_32F
constexpr int compute_32f_tf32 = 77;  // CUBLAS_COMPUTE_32F_FAST_TF32
constexpr int compute_32i = 72;
constexpr int real_32f = 0;  // CUDA_R_32F
constexpr int real_16f = 2;
constexpr int real_8i = 3;
constexpr int real_32i = 10;
constexpr int real_16bf = 14;
constexpr int real_8f_e4m3 = 28;
constexpr int real_8f_e5m2 = 29;
constexpr int desc_fast_accum = 25;  // CUBLASLT_MATMUL_DESC_FAST_ACCUM
constexpr int desc_trans_a = 3;      // CUBLASLT_MATMUL_DESC_TRANSA
constexpr int desc_trans_b = 4;
constexpr int pref_max_workspace_bytes = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
constexpr std::int32_t transpose = 1;        // CUBLAS_OP_T
constexpr std::int32_t no_transpose = 0;

struct Algorithm {  // cublasLtMatmulAlgo_t
    std::uint64_t data[8];
};

struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
    Algorithm algorithm;
    std::size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);
}  // namespace lt

using abi::Handle;

struct Functions {
    std::size_t (*version)();
    const char* (*status_name)(int status);
    int (*create)(Handle* handle);
    int (*destroy)(Handle handle);
    int (*desc_create)(Handle* desc, int compute_type, int scale_type);
    int (*desc_destroy)(Handle desc);
    int (*desc_set)(Handle desc, int attribute, const void* value, std::size_t bytes);
    int (*layout_create)(Handle* layout, int type, std::uint64_t rows, std::uint64_t columns,
                         std::int64_t leading);
    int (*layout_destroy)(Handle layout);
    int (*preference_create)(Handle* preference);
    int (*preference_destroy)(Handle preference);
    int (*preference_set)(Handle preference, int attribute, const void* value, std::size_t bytes);
    int (*heuristic)(Handle handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Handle preference,
                     int asked, lt::HeuristicResult* results, int* got);
    int (*matmul)(Handle handle, Handle desc, const void* alpha, const void* a, Handle a_layout,
                  const void* b, Handle b_layout, const void* beta, const void* c, Handle c_layout, void* d,
                  Handle d_layout, const lt::Algorithm* algorithm, void* workspace,
                  std::size_t workspace_bytes, Handle stream);
};

struct Loaded {
    Functions functions{};
    Part part;
};

Loaded load() {
    constexpr std::array<std::string_view, 3> names = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                       "libcublasLt.so"};
    const Library library = open_library(names, toolkit_library_folders());
    Loaded loaded{{}, library.part};
    if (!loaded.part) return loaded;
    Functions& f = loaded.functions;
    const bool complete = library.bind(f.version, "cublasLtGetVersion") &&
                          library.bind(f.status_name, "cublasLtGetStatusName") &&
                          library.bind(f.create, "cublasLtCreate") &&
                          library.bind(f.destroy, "cublasLtDestroy") &&
                          library.bind(f.desc_create, "cublasLtMatmulDescCreate") &&
                          library.bind(f.desc_destroy, "cublasLtMatmulDescDestroy") &&
                          library.bind(f.desc_set, "cublasLtMatmulDescSetAttribute") &&
                          library.bind(f.layout_create, "cublasLtMatrixLayoutCreate") &&
                          library.bind(f.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
                          library.bind(f.preference_create, "cublasLtMatmulPreferenceCreate") &&
                          library.bind(f.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
                          library.bind(f.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
                          library.bind(f.heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
                          library.bind(f.matmul, "cublasLtMatmul");
    if (!complete) {
        loaded.part.missing = fmt::format("{} is older than CUDA 12.0", loaded.part.path);
        return loaded;
    }
    // CUBLAS_VERSION of cublas_api.h: 130100 is 13.1.0.
    const std::size_t version = f.version();
    loaded.part.version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    return loaded;
}

const Loaded& loaded() {
    static const Loaded instance = load();
    return instance;
}

void check(const Functions& f, int status, std::string_view doing) {
    if (status != lt::success)
        throw EnvironmentError("EFAULT", fmt::format("cuBLAS, while {}: {}", doing, f.status_name(status)));
}

// A handle of cuBLAS and the function that destroys it.
class Owned {
  public:
    Owned() = default;
    ~Owned() {
        if (handle_ != nullptr) destroy_(handle_);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    Handle* fill(int (*destroy)(Handle)) {
        destroy_ = destroy;
        return &handle_;
    }
    Handle get() const { return handle_; }

  private:
    Handle handle_ = nullptr;
    int (*destroy_)(Handle) = nullptr;
};

constexpr std::size_t workspace_bytes = 64 << 20;  // NVIDIA recommends 32 MiB for Hopper

std::int64_t bytes_of(Gemm::Output output) {
    return output == Gemm::Output::f32 || output == Gemm::Output::s32 ? 4 : 2;
}

struct InputFacts {
    int type;
    std::int64_t bytes;
    int compute, scale;
    std::array<Gemm::Output, 2> outputs;  ///< that go with it
};

const InputFacts& facts_of(Gemm::Input input) {
    using enum Gemm::Output;
    // In the order of Gemm::Input.
    static const std::array<InputFacts, 6> facts{
        {{lt::real_16bf, 2, lt::compute_32f, lt::real_32f, {bf16, f32}},
         {lt::real_16f, 2, lt::compute_32f, lt::real_32f, {f16, f32}},
         {lt::real_32f, 4, lt::compute_32f_tf32, lt::real_32f, {f32, f32}},
         {lt::real_8f_e4m3, 1, lt::compute_32f, lt::real_32f, {bf16, bf16}},
         {lt::real_8f_e5m2, 1, lt::compute_32f, lt::real_32f, {bf16, bf16}},
         {lt::real_8i, 1, lt::compute_32i, lt::real_32i, {s32, s32}}}};
    return facts[static_cast<std::size_t>(input)];
}

int type_of(Gemm::Output output) {
    switch (output) {
        case Gemm::Output::f32: return lt::real_32f;
        case Gemm::Output::bf16: return lt::real_16bf;
        case Gemm::Output::s32: return lt::real_32i;
        case Gemm::Output::f16: break;
    }
    return lt::real_16f;
}

void check_gemm(const Gemm& g, int candidates) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (const std::int64_t extent : {g.m, g.n, g.k})
        if (extent < 1 || extent > most)
            throw ArgumentError(
                fmt::format("a GEMM of {{{}, {}, {}}}: extents must be 1 to 2^31 - 1", g.m, g.n, g.k));
    const InputFacts& facts = facts_of(g.input);
    if (std::ranges::find(facts.outputs, g.output) == facts.outputs.end())
        throw ArgumentError(
            "a GEMM's output must be f32 or have the inputs' type; for tf32 f32, for 8-bit floats "
            "bf16, for s8 s32");
    if (facts.bytes == 1 && (g.a != Gemm::Major::k || g.b != Gemm::Major::k))
        throw ArgumentError("a GEMM of 8-bit operands takes them K-major");
    if (candidates < 1 || candidates > 64)
        throw ArgumentError(fmt::format("{}: must be 1 to 64", count_of(candidates, "candidate")));
}

void check_buffers(const Gemm& g, const Buffer& a, const Buffer& b, const Buffer& d) {
    const std::int64_t input_bytes = facts_of(g.input).bytes;
    const auto check = [](const char* name, const Buffer& buffer, std::int64_t rows, std::int64_t columns,
                          std::int64_t size) {
        const auto needed = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) *
                            static_cast<std::uint64_t>(size);  // below 2^64
        if (buffer.bytes() < needed)
            throw ArgumentError(fmt::format("buffer {} has {}, but the GEMM needs {}", name,
                                            count_of(buffer.bytes(), "byte"), needed));
    };
    check("a", a, g.m, g.k, input_bytes);
    check("b", b, g.k, g.n, input_bytes);
    check("d", d, g.m, g.n, bytes_of(g.output));
}

}  // namespace

Part find_cublas() {
    if (const std::string off = cuda_switched_off(); !off.empty()) return {"", "", off};
    return loaded().part;
}

struct CublasProduct::State {
    virtual ~State() = default;
    virtual void run() = 0;
    int tried = 0;
};

/// Runs in this process.
struct CublasProduct::Here : CublasProduct::State {
    Context& context;
    const Functions& f;
    std::array<std::uint64_t, 3> operands;
    Buffer workspace;
    Owned handle, desc, first, second, result;
    lt::Algorithm algorithm{};
    bool integer_scale = false;

    Here(const Device& device, const Functions& functions, const std::array<std::uint64_t, 3>& addresses)
        : context(device.context()), f(functions), operands(addresses), workspace(device, workspace_bytes) {
        context.enter();
        check(f, f.create(handle.fill(f.destroy)), "starting");
    }

    // cuBLAS counts columns first: a row-major D[m, n] is its D'[n, m] = B'[n, k] * A'[k, m], so our B is its
    // first operand. What is contiguous along k or n decides which of the two has to be transposed.
    void describe(const Gemm& g) {
        const bool b_by_k = g.b == Gemm::Major::k;
        const bool a_by_k = g.a == Gemm::Major::k;
        const auto m = static_cast<std::uint64_t>(g.m);
        const auto n = static_cast<std::uint64_t>(g.n);
        const auto k = static_cast<std::uint64_t>(g.k);
        const std::int32_t trans_first = b_by_k ? lt::transpose : lt::no_transpose;
        const std::int32_t trans_second = a_by_k ? lt::no_transpose : lt::transpose;
        const InputFacts& facts = facts_of(g.input);
        const int input = facts.type;
        integer_scale = facts.scale == lt::real_32i;
        check(f, f.desc_create(desc.fill(f.desc_destroy), facts.compute, facts.scale), "describing the GEMM");
        // As a plain wgmma accumulates; otherwise cuBLAS adds partial sums up in full precision.
        const std::int8_t fast = g.input == Gemm::Input::e4m3 || g.input == Gemm::Input::e5m2;
        check(f, f.desc_set(desc.get(), lt::desc_fast_accum, &fast, sizeof fast), "describing the GEMM");
        check(f, f.desc_set(desc.get(), lt::desc_trans_a, &trans_first, sizeof trans_first),
              "describing the GEMM");
        check(f, f.desc_set(desc.get(), lt::desc_trans_b, &trans_second, sizeof trans_second),
              "describing the GEMM");
        check(f,
              f.layout_create(first.fill(f.layout_destroy), input, b_by_k ? k : n, b_by_k ? n : k,
                              b_by_k ? g.k : g.n),
              "describing B");
        check(f,
              f.layout_create(second.fill(f.layout_destroy), input, a_by_k ? k : m, a_by_k ? m : k,
                              a_by_k ? g.k : g.m),
              "describing A");
        check(f, f.layout_create(result.fill(f.layout_destroy), type_of(g.output), n, m, g.n),
              "describing D");
    }

    std::vector<lt::HeuristicResult> propose(int candidates) {
        Owned preference;
        check(f, f.preference_create(preference.fill(f.preference_destroy)), "stating preferences");
        check(f,
              f.preference_set(preference.get(), lt::pref_max_workspace_bytes, &workspace_bytes,
                               sizeof workspace_bytes),
              "stating preferences");
        std::vector<lt::HeuristicResult> proposals(static_cast<std::size_t>(candidates));
        int got = 0;
        check(f,
              f.heuristic(handle.get(), desc.get(), first.get(), second.get(), result.get(), result.get(),
                          preference.get(), candidates, proposals.data(), &got),
              "asking for algorithms");
        proposals.resize(static_cast<std::size_t>(got));
        std::erase_if(proposals, [](const lt::HeuristicResult& p) { return p.state != lt::success; });
        return proposals;
    }

    void run() override {
        const float one = 1, zero = 0;
        const std::int32_t integer_one = 1, integer_zero = 0;
        const void* alpha = integer_scale ? static_cast<const void*>(&integer_one) : &one;
        const void* beta = integer_scale ? static_cast<const void*>(&integer_zero) : &zero;
        const auto [a, b, d] =
            std::array{std::bit_cast<void*>(operands[0]), std::bit_cast<void*>(operands[1]),
                       std::bit_cast<void*>(operands[2])};
        check(f,
              f.matmul(handle.get(), desc.get(), alpha, b, first.get(), a, second.get(), beta, d,
                       result.get(), d, result.get(), &algorithm, std::bit_cast<void*>(workspace.address()),
                       workspace_bytes, nullptr),
              "multiplying");
        context.started("cuBLAS");
    }
};

/// Runs in the worker process that has the device's context.
struct CublasProduct::InWorker : CublasProduct::State {
    Context& context;
    std::uint64_t number = 0;
    std::uint64_t generation = 0;

    InWorker(const Device& device, const Gemm& gemm, const std::array<std::uint64_t, 3>& operands,
             int candidates)
        : context(device.context()) {
        const Context::Entered cuda = context.enter();
        generation = cuda.generation();
        cuda.check(cuda.driver().worker->cublas_make(gemm, operands, candidates, &number, &tried),
                   "choosing an algorithm of cuBLAS");
    }
    ~InWorker() override {
        if (context.generation() == generation) context.driver().worker->cublas_drop(number);
    }
    InWorker(const InWorker&) = delete;
    InWorker& operator=(const InWorker&) = delete;

    void run() override {
        const Context::Entered cuda = context.enter(generation, "cuBLAS's product");
        cuda.check(cuda.driver().worker->cublas_run(number), "multiplying");
        context.started("cuBLAS");
    }
};

CublasProduct::CublasProduct(const Device& device, const Gemm& gemm, const Buffer& a, const Buffer& b,
                             Buffer& d, int candidates)
    : CublasProduct((check_gemm(gemm, candidates), check_buffers(gemm, a, b, d), device), gemm,
                    {a.address(), b.address(), d.address()}, candidates) {}

CublasProduct::CublasProduct(const Device& device, const Gemm& gemm,
                             const std::array<std::uint64_t, 3>& operands, int candidates) {
    check_gemm(gemm, candidates);
    if (device.context().driver().worker != nullptr) {
        device.wait();
        state_ = std::make_unique<InWorker>(device, gemm, operands, candidates);
        return;
    }
    if (const Part part = find_cublas(); !part)
        throw EnvironmentError("ENOENT", fmt::format("cuBLAS was not found: {}", part.missing),
                               "install CUDA's cuBLAS, or set CUDA_HOME to the toolkit");
    auto here = std::make_unique<Here>(device, loaded().functions, operands);
    here->describe(gemm);
    double best = std::numeric_limits<double>::infinity();
    lt::Algorithm fastest{};
    for (const lt::HeuristicResult& proposal : here->propose(candidates)) {
        here->algorithm = proposal.algorithm;
        std::vector<double> times = time(device, [&] { here->run(); }, {.rounds = 5, .warmup = 2});
        std::ranges::nth_element(times, times.begin() + 2);
        ++here->tried;
        if (times[2] >= best) continue;
        best = times[2];
        fastest = proposal.algorithm;
    }
    if (here->tried == 0) throw EnvironmentError("EFAULT", "cuBLAS proposes no algorithm for this GEMM");
    here->algorithm = fastest;
    state_ = std::move(here);
}

CublasProduct::CublasProduct(CublasProduct&&) noexcept = default;
CublasProduct& CublasProduct::operator=(CublasProduct&&) noexcept = default;
CublasProduct::~CublasProduct() = default;

void CublasProduct::run() const { state_->run(); }

int CublasProduct::tried() const { return state_->tried; }

}  // namespace wgrun::gpu
