// NAME.cu: the kernel and a host launcher for CUDA's runtime.
#include <fmt/format.h>

#include <set>

#include "diag/escape.hpp"
#include "emit/emit.hpp"
#include "export/sources.hpp"
#include "number/element.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/version.hpp"

namespace wgrun::exporting::runtime {
namespace {

std::optional<Dtype> element_of(const Param& param) {
    return param.box ? std::optional(param.box->dtype) : param.pointee;
}

std::string_view scalar_type(isa::Type type) {
    switch (type) {
        case isa::Type::f32: return "float";
        case isa::Type::f64: return "double";
        case isa::Type::s32: return "int";
        case isa::Type::s64: return "long long";
        case isa::Type::u64: return "unsigned long long";
        case isa::Type::u16: return "unsigned short";
        case isa::Type::s16: return "short";
        case isa::Type::u8: return "unsigned char";
        case isa::Type::s8: return "signed char";
        default: return "unsigned";
    }
}

void declare(const Argument& argument, std::vector<std::string>& out) {
    const Param& param = *argument.param;
    const std::optional<Dtype> element = element_of(param);
    if (element)
        out.push_back(fmt::format("{}{}* {}", param.constant ? "const " : "", wgrun::element(*element).cuda,
                                  argument.name));
    else if (param.structure > 0)
        out.push_back("const void* " + argument.name);
    else
        out.push_back(fmt::format("{} {}", scalar_type(param.type), argument.name));
    for (const std::string& extent : argument.extents) out.push_back("unsigned long long " + extent);
}

std::string headers(const Facts& facts) {
    std::set<std::string_view> names{"cuda_runtime.h"};
    if (facts.has_maps()) names.insert("cuda.h");
    for (const Argument& argument : facts.arguments)
        if (const auto element = element_of(*argument.param);
            element && !wgrun::element(*element).cuda_header.empty())
            names.insert(wgrun::element(*element).cuda_header);
    std::string out;
    for (const std::string_view name : names) out += fmt::format("#include <{}>\n", name);
    return out;
}

constexpr std::string_view encoder = R"(namespace {

// Describes a packed tensor to the bulk copy engine. `extents` in elements, the contiguous dimension first.
// cuTensorMapEncodeTiled is a function of the driver: the runtime finds it, so that -lcuda is not needed.
cudaError_t encode_map(TensorMap* map, CUtensorMapDataType type, unsigned element_bytes, const void* data, unsigned rank,
                       const cuuint64_t* extents, const cuuint32_t* box, CUtensorMapSwizzle swizzle,
                       CUtensorMapFloatOOBfill fill) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess) return error;
    if (result != cudaDriverEntryPointSuccess) return cudaErrorInsufficientDriver;
    cuuint64_t strides[5] = {extents[0] * element_bytes};  // bytes, of all dimensions but the contiguous one
    for (unsigned i = 1; i + 1 < rank; ++i) strides[i] = strides[i - 1] * extents[i];
    const cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
    const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    const CUresult encoded =
        encode(reinterpret_cast<CUtensorMap*>(map), type, rank, const_cast<void*>(data), extents, strides, box,
               element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
    return encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

)";

constexpr std::string_view grid_function =
    R"(// The grid of @name@_launch for a matrix of @rows@ x @columns@: its CTAs walk over the tiles of @m@ x @n@@times@, so that
// there are as many as there are tiles, or as run at a time on the current device.
cudaError_t @name@_grid(unsigned @rows@, unsigned @columns@, dim3* grid) {
    int resident = 0;
@resident@    const unsigned long long tiles =
        (@rows@ + @m@ull - 1) / @m@ * ((@columns@ + @n@ull - 1) / @n@)@parts@;
    const unsigned long long most = static_cast<unsigned long long>(resident);
    *grid = dim3(static_cast<unsigned>(tiles < most ? tiles : most)@cluster@, 1, 1);
    return cudaSuccess;
}

)";

constexpr std::string_view resident_ctas = R"(    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&resident, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
)";

constexpr std::string_view resident_clusters = R"(@allow@    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {@x@, @y@, @z@};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(@x@, @y@, @z@);
    config.blockDim = dim3(@threads@, 1, 1);
    config.dynamicSmemBytes = @shared@;
    config.attrs = attributes;
    config.numAttrs = 1;
    const cudaError_t error =
        cudaOccupancyMaxActiveClusters(&resident, reinterpret_cast<const void*>(&@name@_kernel), &config);
    if (error != cudaSuccess) return error;
)";

constexpr std::string_view allow_function =
    R"(// What the kernel needs and a kernel does not have unasked: @what@.
static cudaError_t @name@_allow() {
    const void* kernel = reinterpret_cast<const void*>(&@name@_kernel);
@calls@    return cudaSuccess;
}

)";

constexpr std::string_view launch_function =
    R"(// Starts the kernel on `stream`, does not wait, and returns what CUDA says. Pointers are those of device memory.
@comment@cudaError_t @name@_launch(@declarations@) {
@allow@@maps@    void* arguments[] = {@arguments@};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(@block@);
    config.dynamicSmemBytes = @shared@;
    config.stream = stream;
@attributes@    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&@name@_kernel), arguments);
}
)";

constexpr std::string_view overlap =
    R"(    // It may start beside the end of the kernel before it in the stream, and waits for that by itself.
    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
)";

bool needs_allowance(const Facts& facts) {
    return facts.launch.shared_bytes > default_dynamic_shared || facts.launch.non_portable_cluster;
}

std::string allowance(const Facts& facts) {
    if (!needs_allowance(facts)) return {};
    std::string calls;
    std::string what;
    const auto set = [&](std::string_view attribute, std::int64_t value, std::string_view about) {
        calls += fmt::format(
            "    {}error = cudaFuncSetAttribute(kernel, {}, {});\n    if (error != cudaSuccess) return "
            "error;\n",
            calls.empty() ? "cudaError_t " : "", attribute, value);
        what += fmt::format("{}{}", what.empty() ? "" : ", and ", about);
    };
    if (facts.launch.shared_bytes > default_dynamic_shared)
        set("cudaFuncAttributeMaxDynamicSharedMemorySize", facts.launch.shared_bytes,
            fmt::format("{} of dynamic shared memory", count_of(facts.launch.shared_bytes, "byte")));
    if (facts.launch.non_portable_cluster)
        set("cudaFuncAttributeNonPortableClusterSizeAllowed", 1,
            fmt::format("clusters of {}", count_of(facts.program.cluster().volume(), "CTA")));
    return fill(allow_function, {{"what", what}, {"name", facts.name()}, {"calls", calls}});
}

std::string allow_call(const Facts& facts) {
    if (!needs_allowance(facts)) return {};
    return fmt::format("    if (const cudaError_t error = {}_allow()) return error;\n", facts.name());
}

std::string grid_source(const Facts& facts) {
    const std::optional<LaunchRule::Tiles>& rule = facts.rule.tiles;
    if (!rule) return {};
    const Dim3 cluster = facts.program.cluster();
    const bool clusters = cluster.volume() > 1;
    const std::string resident = fill(clusters ? resident_clusters : resident_ctas,
                                      {{"allow", allow_call(facts)},
                                       {"name", facts.name()},
                                       {"x", std::to_string(cluster.x)},
                                       {"y", std::to_string(cluster.y)},
                                       {"z", std::to_string(cluster.z)},
                                       {"threads", std::to_string(facts.program.threads())},
                                       {"shared", std::to_string(facts.launch.shared_bytes)}});
    return fill(grid_function, {{"name", facts.name()},
                                {"rows", name_of(facts, rule->rows)},
                                {"columns", name_of(facts, rule->columns)},
                                {"m", std::to_string(rule->m)},
                                {"n", std::to_string(rule->n)},
                                {"times", rule->parts > 1 ? fmt::format(", {} times over", rule->parts) : ""},
                                {"parts", rule->parts > 1 ? fmt::format(" * {}", rule->parts) : ""},
                                {"resident", resident},
                                {"cluster", clusters ? fmt::format(" * {}", cluster.volume()) : ""}});
}

std::string map_source(const Argument& argument) {
    const TensorBox& box = *argument.param->box;
    const MapEnumerators enumerators = enumerators_of(box);
    return fill(R"(    const cuuint64_t @name@_extents[] = {@extents@};
    const cuuint32_t @name@_box[] = {@box@};
    TensorMap @name@_map;
    if (const cudaError_t error = encode_map(&@name@_map, @type@, @bytes@, @name@, @rank@, @name@_extents, @name@_box,
                                             @swizzle@, @fill@))
        return error;
)",
                {{"name", argument.name},
                 {"extents", contiguous_first(argument)},
                 {"box", listed(box.extents)},
                 {"type", std::string(enumerators.type)},
                 {"bytes", std::to_string(bits(box.dtype) / 8)},
                 {"rank", std::to_string(box.extents.size())},
                 {"swizzle", std::string(enumerators.swizzle)},
                 {"fill", std::string(enumerators.fill)}});
}

/// The kernel, with an empty body for targets other than sm_90a: -arch=sm_90a may bring compute_90 along.
std::string kernel_source(const Facts& facts) {
    const std::string entry = facts.name() + "_kernel";
    std::string text = emit::cuda(facts.program, entry).text;
    text.insert(text.rfind("}\n"), "#endif\n");
    text.insert(text.find("{\n", text.find("\n" + entry + "(")) + 2, "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n");
    return text;
}

}  // namespace

std::string source(const Facts& facts) {
    const std::string allow = allowance(facts);
    std::vector<std::string> declarations{"dim3 grid"};
    std::string arguments;
    std::string maps;
    for (const Argument& argument : facts.arguments) {
        declare(argument, declarations);
        if (!arguments.empty()) arguments += ", ";
        if (argument.param->structure > 0)
            arguments += fmt::format("const_cast<void*>({})", argument.name);
        else
            arguments += fmt::format("&{}{}", argument.name, argument.param->box ? "_map" : "");
        if (argument.param->box) maps += map_source(argument);
    }
    declarations.emplace_back("cudaStream_t stream");
    return fill(
               R"(// @name@, a kernel for sm_90a that wgrun @version@ wrote from @script@. nvcc compiles it alone:
//     nvcc -arch=sm_90a -c @name@.cu
@headers@
#pragma nv_diag_suppress 550  // a register that is written and never read
)",
               {{"name", facts.name()},
                {"version", WGRUN_VERSION},
                {"script", escape::comment(facts.script)},
                {"headers", headers(facts)}}) +
           kernel_source(facts) + "#pragma nv_diag_default 549\n#pragma nv_diag_default 550\n\n" +
           (facts.has_maps() ? std::string(encoder) : "") + allow + grid_source(facts) +
           fill(launch_function,
                {{"name", facts.name()},
                 {"comment", launch_comment(facts, "//")},
                 {"declarations", wrapped(declarations, "    ")},
                 {"allow", allow_call(facts)},
                 {"maps", maps},
                 {"arguments", arguments.empty() ? "nullptr" : arguments},
                 {"block", fmt::format("{}, {}, {}", facts.program.block().x, facts.program.block().y,
                                       facts.program.block().z)},
                 {"shared", std::to_string(facts.launch.shared_bytes)},
                 {"attributes", facts.launch.overlaps_previous ? std::string(overlap) : ""}});
}

}  // namespace wgrun::exporting::runtime
