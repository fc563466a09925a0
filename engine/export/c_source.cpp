// NAME.h and NAME.c: the kernel through CUDA's driver, in C99.
#include <fmt/format.h>

#include "diag/escape.hpp"
#include "export/sources.hpp"
#include "wgrun/version.hpp"

namespace wgrun::exporting::driver {
namespace {

std::string_view scalar_type(isa::Type type) {
    switch (type) {
        case isa::Type::f32: return "float";
        case isa::Type::f64: return "double";
        case isa::Type::s32: return "int32_t";
        case isa::Type::s64: return "int64_t";
        case isa::Type::u64: return "uint64_t";
        case isa::Type::u16: return "uint16_t";
        case isa::Type::s16: return "int16_t";
        case isa::Type::u8: return "uint8_t";
        case isa::Type::s8: return "int8_t";
        default: return "uint32_t";
    }
}

std::string block_extents(Dim3 block) {
    const std::string along_x = fmt::format("    config.blockDimX = {};\n", block.x);
    if (block.y == 1 && block.z == 1) return along_x + "    config.blockDimY = config.blockDimZ = 1;\n";
    return along_x +
           fmt::format("    config.blockDimY = {};\n    config.blockDimZ = {};\n", block.y, block.z);
}

std::string declarations(const Facts& facts) {
    std::vector<std::string> out{fmt::format("const {}_kernel *kernel", facts.name()), "unsigned grid_x",
                                 "unsigned grid_y", "unsigned grid_z"};
    for (const Argument& argument : facts.arguments) {
        const bool pointer = argument.param->pointee || argument.param->box;
        if (argument.param->structure > 0)
            out.push_back("const void *" + argument.name);
        else
            out.push_back(fmt::format("{} {}", pointer ? "CUdeviceptr" : scalar_type(argument.param->type),
                                      argument.name));
        for (const std::string& extent : argument.extents) out.push_back("uint64_t " + extent);
    }
    out.emplace_back("CUstream stream");
    return wrapped(out, "    ");
}

std::string grid_signature(const Facts& facts) {
    const LaunchRule::Tiles& rule = *facts.rule.tiles;
    return fmt::format(
        "CUresult {0}_grid(const {0}_kernel *kernel, uint32_t {1}, uint32_t {2}, unsigned *grid_x)",
        facts.name(), name_of(facts, rule.rows), name_of(facts, rule.columns));
}

std::string launch_signature(const Facts& facts) {
    return fmt::format("CUresult {}_launch({})", facts.name(), declarations(facts));
}

constexpr std::string_view header_text =
    R"(/* @name@, a kernel for sm_90a that wgrun @version@ wrote from @script@. With @name@.c it needs CUDA's driver alone:
 *     cc -c @name@.c -I<toolkit>/include, linked with -lcuda
 * All functions return what the driver says, and want a current context. */
#ifndef @name@_H
#define @name@_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct @name@_kernel {
    CUmodule module;
    CUfunction function;
} @name@_kernel;

/* Loads the machine code that @name@.c holds into the current context. */
CUresult @name@_load(@name@_kernel *kernel);

/* The same, from a file: @name@.cubin or @name@.ptx. */
CUresult @name@_load_file(@name@_kernel *kernel, const char *path);

/* Unloads it. No launch of it may still run. */
CUresult @name@_unload(@name@_kernel *kernel);

@grid@/* Starts the kernel on `stream`, and does not wait. Any thread may call it.
@comment@ */
@launch@;

#ifdef __cplusplus
}
#endif

#endif
)";

constexpr std::string_view encoder =
    R"(/* Of room for a tensor map and 63 bytes more, the part at a multiple of 64, where the driver wants it. */
static CUtensorMap *aligned_map(unsigned char *room)
{
    return (CUtensorMap *)(((uintptr_t)room + 63) / 64 * 64);
}

/* Describes a packed tensor to the bulk copy engine. `extents` in elements, the contiguous dimension first. */
static CUresult encode_map(CUtensorMap *map, CUtensorMapDataType type, unsigned element_bytes, CUdeviceptr data,
    unsigned rank, const cuuint64_t *extents, const cuuint32_t *box, CUtensorMapSwizzle swizzle,
    CUtensorMapFloatOOBfill fill)
{
    static const cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
    cuuint64_t strides[5] = {0}; /* bytes, of all dimensions but the contiguous one */
    unsigned i;
    strides[0] = extents[0] * element_bytes;
    for (i = 1; i + 1 < rank; ++i) strides[i] = strides[i - 1] * extents[i];
    return cuTensorMapEncodeTiled(map, type, rank, (void *)(uintptr_t)data, extents, strides, box, element_strides,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
}

)";

constexpr std::string_view loaders = R"(static CUresult loaded(@name@_kernel *kernel, CUresult error)
{
    if (error != CUDA_SUCCESS) return error;
    error = cuModuleGetFunction(&kernel->function, kernel->module, "@entry@");
@allow@    if (error != CUDA_SUCCESS) cuModuleUnload(kernel->module);
    return error;
}

CUresult @name@_load(@name@_kernel *kernel)
{
    return loaded(kernel, cuModuleLoadData(&kernel->module, image.bytes));
}

CUresult @name@_load_file(@name@_kernel *kernel, const char *path)
{
    return loaded(kernel, cuModuleLoad(&kernel->module, path));
}

CUresult @name@_unload(@name@_kernel *kernel)
{
    return cuModuleUnload(kernel->module);
}

)";

constexpr std::string_view resident_ctas = R"(    CUdevice device;
    CUresult error = cuCtxGetDevice(&device);
    (void)kernel;
    if (error == CUDA_SUCCESS)
        error = cuDeviceGetAttribute(&resident, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    if (error != CUDA_SUCCESS) return error;
)";

constexpr std::string_view resident_clusters = R"(    CUlaunchAttribute cluster;
    CUlaunchConfig config;
    CUresult error;
    memset(&cluster, 0, sizeof cluster);
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = @x@;
    cluster.value.clusterDim.y = @y@;
    cluster.value.clusterDim.z = @z@;
    memset(&config, 0, sizeof config);
    config.gridDimX = @x@;
    config.gridDimY = @y@;
    config.gridDimZ = @z@;
    config.blockDimX = @threads@;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = @shared@;
    config.attrs = &cluster;
    config.numAttrs = 1;
    error = cuOccupancyMaxActiveClusters(&resident, kernel->function, &config);
    if (error != CUDA_SUCCESS) return error;
)";

constexpr std::string_view grid_function = R"(@signature@
{
    uint64_t tiles = (@rows@ + UINT64_C(@m@) - 1) / @m@ * ((@columns@ + UINT64_C(@n@) - 1) / @n@)@parts@;
    int resident = 0;
@resident@    *grid_x = (unsigned)(tiles < (uint64_t)resident ? tiles : (uint64_t)resident)@cluster@;
    return CUDA_SUCCESS;
}

)";

constexpr std::string_view launch_function = R"(@signature@
{
@locals@    void *arguments[@count@];
    CUlaunchConfig config;
@maps@@arguments@    memset(&config, 0, sizeof config);
    config.gridDimX = grid_x;
    config.gridDimY = grid_y;
    config.gridDimZ = grid_z;
@block@    config.sharedMemBytes = @shared@;
    config.hStream = stream;
@attributes@    return cuLaunchKernelEx(&config, kernel->function, arguments, NULL);
}
)";

constexpr std::string_view overlap =
    R"(    /* It may start beside the end of the kernel before it in the stream, and waits for that by itself. */
    memset(&attributes, 0, sizeof attributes);
    attributes.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes.value.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attributes;
    config.numAttrs = 1;
)";

std::string bytes_of(std::span<const std::byte> image) {
    std::string out;
    out.reserve(image.size() * 4);
    for (std::size_t i = 0; i < image.size(); ++i) {
        if (i % 24 == 0)
            out += i == 0 ? "    " : ",\n    ";
        else
            out += ',';
        fmt::format_to(std::back_inserter(out), "{}", std::to_integer<unsigned>(image[i]));
    }
    return out;
}

std::string image_source(std::span<const std::byte> image, bool is_ptx) {
    // The driver reads PTX to its NUL. A union, for an ELF file wants more than a byte's alignment.
    return fmt::format(
        "/* {} */\nstatic const union {{\n    unsigned char bytes[{}];\n    uint64_t aligned;\n}} image = "
        "{{{{\n{}{}}}}};\n\n",
        is_ptx ? "PTX, which the driver assembles: there was no ptxas" : "Machine code, an ELF file",
        image.size() + (is_ptx ? 1 : 0), bytes_of(image), is_ptx ? ",0" : "");
}

std::string allow_source(const Facts& facts) {
    std::string out;
    const auto set = [&](std::string_view attribute, std::int64_t value) {
        out += fmt::format(
            "    if (error == CUDA_SUCCESS)\n        error = cuFuncSetAttribute(kernel->function, {}, {});\n",
            attribute, value);
    };
    if (facts.launch.shared_bytes > default_dynamic_shared)
        set("CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", facts.launch.shared_bytes);
    if (facts.launch.non_portable_cluster) set("CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1);
    return out;
}

std::string grid_source(const Facts& facts) {
    const std::optional<LaunchRule::Tiles>& rule = facts.rule.tiles;
    if (!rule) return {};
    const Dim3 cluster = facts.program.cluster();
    const bool clusters = cluster.volume() > 1;
    return fill(grid_function, {{"signature", grid_signature(facts)},
                                {"rows", name_of(facts, rule->rows)},
                                {"columns", name_of(facts, rule->columns)},
                                {"m", std::to_string(rule->m)},
                                {"n", std::to_string(rule->n)},
                                {"parts", rule->parts > 1 ? fmt::format(" * {}", rule->parts) : ""},
                                {"resident", fill(clusters ? resident_clusters : resident_ctas,
                                                  {{"x", std::to_string(cluster.x)},
                                                   {"y", std::to_string(cluster.y)},
                                                   {"z", std::to_string(cluster.z)},
                                                   {"threads", std::to_string(facts.program.threads())},
                                                   {"shared", std::to_string(facts.launch.shared_bytes)}})},
                                {"cluster", clusters ? fmt::format(" * {}", cluster.volume()) : ""}});
}

std::string launch_source(const Facts& facts) {
    std::string locals;
    std::string maps;
    std::string arguments;
    for (std::size_t i = 0; i < facts.arguments.size(); ++i) {
        const Argument& argument = facts.arguments[i];
        if (argument.param->structure > 0) {
            arguments += fmt::format("    arguments[{}] = (void *){};\n", i, argument.name);
            continue;
        }
        if (!argument.param->box) {
            arguments += fmt::format("    arguments[{}] = &{};\n", i, argument.name);
            continue;
        }
        const TensorBox& box = *argument.param->box;
        const MapEnumerators enumerators = enumerators_of(box);
        const std::vector<std::pair<std::string_view, std::string>> values{
            {"name", argument.name},
            {"i", std::to_string(i)},
            {"rank", std::to_string(box.extents.size())},
            {"extents", contiguous_first(argument)},
            {"box", listed(box.extents)},
            {"type", std::string(enumerators.type)},
            {"bytes", std::to_string(bits(box.dtype) / 8)},
            {"swizzle", std::string(enumerators.swizzle)},
            {"fill", std::string(enumerators.fill)}};
        locals += fill(R"(    static const cuuint32_t @name@_box[@rank@] = {@box@};
    cuuint64_t @name@_extents[@rank@];
    unsigned char @name@_room[sizeof(CUtensorMap) + 63];
)",
                       values);
        for (std::size_t d = 0; d < argument.extents.size(); ++d)
            maps += fmt::format("    {}_extents[{}] = {};\n", argument.name, d,
                                argument.extents[argument.extents.size() - 1 - d]);
        maps += fill(
            R"(    error = encode_map(aligned_map(@name@_room), @type@, @bytes@, @name@, @rank@, @name@_extents, @name@_box,
        @swizzle@, @fill@);
    if (error != CUDA_SUCCESS) return error;
)",
            values);
        arguments += fill("    arguments[@i@] = aligned_map(@name@_room);\n", values);
    }
    if (!maps.empty()) locals += "    CUresult error;\n";
    if (facts.arguments.empty()) arguments = "    arguments[0] = NULL;\n";
    if (facts.launch.overlaps_previous) locals += "    CUlaunchAttribute attributes;\n";
    return fill(launch_function,
                {{"signature", launch_signature(facts)},
                 {"locals", locals},
                 {"count", std::to_string(std::max<std::size_t>(1, facts.arguments.size()))},
                 {"maps", maps},
                 {"arguments", arguments},
                 {"block", block_extents(facts.program.block())},
                 {"shared", std::to_string(facts.launch.shared_bytes)},
                 {"attributes", facts.launch.overlaps_previous ? std::string(overlap) : ""}});
}

}  // namespace

std::string header(const Facts& facts) {
    std::string grid;
    if (facts.rule.tiles)
        grid = fill(
            R"(/* The grid of @name@_launch, along x, for a matrix of @rows@ x @columns@: as many CTAs as it has tiles, or as run at
 * a time on the current device. */
@signature@;

)",
            {{"name", facts.name()},
             {"rows", name_of(facts, facts.rule.tiles->rows)},
             {"columns", name_of(facts, facts.rule.tiles->columns)},
             {"signature", grid_signature(facts)}});
    return fill(header_text, {{"name", facts.name()},
                              {"version", WGRUN_VERSION},
                              {"script", escape::comment(facts.script)},
                              {"grid", grid},
                              {"comment", launch_comment(facts, " *")},
                              {"launch", launch_signature(facts)}});
}

std::string source(const Facts& facts, std::span<const std::byte> image, bool is_ptx) {
    return fmt::format("/* {}: see {}.h. */\n#include \"{}.h\"\n\n#include <string.h>\n\n", facts.name(),
                       facts.name(), facts.name()) +
           image_source(image, is_ptx) + (facts.has_maps() ? std::string(encoder) : "") +
           fill(loaders, {{"name", facts.name()}, {"entry", facts.entry}, {"allow", allow_source(facts)}}) +
           grid_source(facts) + launch_source(facts);
}

}  // namespace wgrun::exporting::driver
