#include "bindings/c/convert.hpp"

#include "bindings/c/structs.hpp"

namespace wgrun::c {

namespace {

constexpr std::size_t most_arguments = 4096;  // more than any kernel has

// wgrun_dtype counts from 1, in the order of Dtype.
static_assert(static_cast<int>(Dtype::f64) + 1 == WGRUN_F64 &&
              static_cast<int>(Dtype::tf32) + 1 == WGRUN_TF32 &&
              static_cast<int>(Dtype::bf16) + 1 == WGRUN_BF16 &&
              static_cast<int>(Dtype::e5m2) + 1 == WGRUN_E5M2 &&
              static_cast<int>(Dtype::s32) + 1 == WGRUN_S32 && static_cast<int>(Dtype::b1) + 1 == WGRUN_B1);

/// Is that the number of an element type?
bool is_dtype(int number) { return number >= WGRUN_F64 && number <= static_cast<int>(all_dtypes().size()); }

}  // namespace

std::optional<Dtype> dtype_of(int dtype) {
    if (dtype == WGRUN_ANY_DTYPE) return std::nullopt;
    if (!is_dtype(dtype)) refuse_argument("dtype " + std::to_string(dtype) + ": not a wgrun_dtype");
    return static_cast<Dtype>(dtype - 1);
}

int number_of(Dtype dtype) { return static_cast<int>(dtype) + 1; }

std::optional<TensorShape> shape_of(const wgrun_argument& argument, const std::string& what) {
    if (argument.shape == nullptr) return std::nullopt;
    if (argument.rank < 0 || argument.rank > Tensor::max_rank)
        refuse_argument(what + ": rank " + std::to_string(argument.rank) + ": must be 0 to " +
                        std::to_string(Tensor::max_rank));
    TensorShape shape(argument.shape, argument.shape + argument.rank);
    for (const std::int64_t extent : shape)
        if (extent < 0) refuse_argument(what + ": an extent of " + std::to_string(extent));
    return shape;
}

HostArgument argument_of(const wgrun_argument& argument, const std::string& what) {
    switch (argument.kind) {
        case WGRUN_MEMORY:
            return HostPointer{argument.address, dtype_of(argument.dtype), shape_of(argument, what),
                               argument.read_only != 0};
        case WGRUN_INTEGER: return argument.integer;
        case WGRUN_REAL: return argument.real;
        default:
            refuse_argument(what + ": kind " + std::to_string(argument.kind) + ": not a wgrun_argument_kind");
    }
}

HostSimulation launch_of(const wgrun_launch* launch) {
    const wgrun_launch given = read_struct(launch, "launch", offsetof(wgrun_launch, block));
    const auto extent = [](std::uint32_t said) { return said == 0 ? 1 : said; };
    HostSimulation out;
    out.grid = {extent(given.grid[0]), extent(given.grid[1]), extent(given.grid[2])};
    if (given.argument_count > most_arguments || (given.argument_count > 0 && given.arguments == nullptr))
        refuse_argument("launch->arguments: NULL, or too many");
    for (std::size_t i = 0; i < given.argument_count; ++i)
        out.args.push_back(argument_of(given.arguments[i], "argument " + std::to_string(i + 1)));
    if (given.backend < WGRUN_AUTO || given.backend > WGRUN_SIM)
        refuse_argument("launch->backend is " + std::to_string(given.backend) + ": not a wgrun_backend");
    out.backend = static_cast<Backend>(given.backend);
    if (given.device < WGRUN_CURRENT_DEVICE)
        refuse_argument("launch->device is " + std::to_string(given.device));
    out.device = given.device;
    out.stream = given.stream;
    out.unchecked = given.unchecked != 0;
    out.seed = given.seed;
    if (given.numerics != nullptr) out.numerics = numerics_named(given.numerics);
    const auto extents = [&](const std::uint32_t(&said)[3]) -> std::optional<Dim3> {
        if (said[0] == 0 && said[1] == 0 && said[2] == 0) return {};
        return Dim3{extent(said[0]), extent(said[1]), extent(said[2])};
    };
    out.block = extents(given.block);
    out.cluster = extents(given.cluster);
    if (given.shared != 0) out.shared = given.shared;
    return out;
}

}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

const char* wgrun_dtype_name(int dtype) {
    if (!is_dtype(dtype)) return nullptr;
    return to_string(static_cast<wgrun::Dtype>(dtype - 1)).data();  // a literal
}

int wgrun_dtype_bits(int dtype) {
    return is_dtype(dtype) ? wgrun::bits(static_cast<wgrun::Dtype>(dtype - 1)) : 0;
}

}  // extern "C"
