#include "kernel/arguments.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace wgrun {
namespace {

using isa::Type;

std::string place(const Program& program, std::size_t i) {
    return fmt::format("kernel {}, argument {} ({})", program.name(), i + 1, program.params()[i].name);
}

void check_integer(const std::string& where, std::int64_t value, Type type) {
    const int width = isa::bits(type);
    if (width == 64) return;
    const bool negative_fits = isa::is_signed(type);
    const std::int64_t lo = negative_fits ? -(std::int64_t{1} << (width - 1)) : 0;
    const std::int64_t hi = (std::int64_t{1} << (negative_fits ? width - 1 : width)) - 1;
    if (value < lo || value > hi)
        throw ArgumentError(fmt::format("{}: {} does not fit {}", where, value, isa::to_string(type)));
}

constexpr const char* tensor_map_rule = "WG-TMA-04";

/// A tensor that a tensor map is to describe: cuTensorMapEncodeTiled's limits that depend on it.
void check_mapped(const std::string& where, const Tensor& tensor, const TensorBox& box) {
    if (tensor.dtype() != box.dtype)
        throw ArgumentError(fmt::format("{}: a {} tensor is expected, not {}", where, to_string(box.dtype),
                                        to_string(tensor.dtype())));
    const std::vector<std::int64_t>& shape = tensor.shape();
    if (shape.size() != box.extents.size())
        throw ArgumentError(fmt::format("{}: a tensor of {} dimensions is expected, as its tensor map's "
                                        "box has them, not {}",
                                        where, box.extents.size(), shape.size()),
                            {}, tensor_map_rule);
    for (std::int64_t extent : shape)
        if (extent < 1)
            throw ArgumentError(where + ": a tensor map cannot describe an empty tensor", {},
                                tensor_map_rule);
    const std::int64_t line = shape.back() * bits(box.dtype) / 8;
    constexpr std::int64_t unit = 16;  // bytes
    if (shape.size() > 1 && line % unit != 0)
        throw ArgumentError(
            fmt::format("{}: rows of {} {} elements are {} bytes; a tensor map needs a multiple of {}", where,
                        shape.back(), to_string(box.dtype), line, unit),
            fmt::format("rows of {} elements, the last ones padding",
                        (line / unit + 1) * unit * 8 / bits(box.dtype)),
            tensor_map_rule);
}

void check_argument(const Program& program, std::size_t i, const Argument& arg) {
    const Param& param = program.params()[i];
    const std::string where = place(program, i);
    if (const auto* tensor = std::get_if<Tensor*>(&arg)) {
        if (param.box) return check_mapped(where, **tensor, *param.box);
        if (!param.pointee)
            throw ArgumentError(fmt::format("{}: a number of type {} is expected, not a tensor", where,
                                            isa::to_string(param.type)));
        if ((*tensor)->dtype() != *param.pointee)
            throw ArgumentError(fmt::format("{}: a tensor of {} is expected, not of {}", where,
                                            to_string(*param.pointee), to_string((*tensor)->dtype())));
        return;
    }
    if (param.pointee || param.box)
        throw ArgumentError(fmt::format("{}: a tensor of {} is expected, not a number", where,
                                        to_string(param.pointee ? *param.pointee : param.box->dtype)));
    if (const auto* integer = std::get_if<std::int64_t>(&arg)) {
        if (!isa::is_float(param.type)) check_integer(where, *integer, param.type);
    } else if (!isa::is_float(param.type)) {
        throw ArgumentError(fmt::format("{}: an integer of type {} is expected, not {}", where,
                                        isa::to_string(param.type), std::get<double>(arg)));
    }
}

std::uint64_t raw_number(const Argument& arg, Type type) {
    const auto* integer = std::get_if<std::int64_t>(&arg);
    if (!isa::is_float(type)) return static_cast<std::uint64_t>(*integer);
    const double value = integer ? static_cast<double>(*integer) : std::get<double>(arg);
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

void check_arguments(const Program& program, const RunOptions& options) {
    if (options.args.size() != program.params().size()) {
        std::string names;
        for (const Param& param : program.params()) names += (names.empty() ? "" : ", ") + param.name;
        throw ArgumentError(fmt::format("kernel {} takes {} arguments ({}), not {}", program.name(),
                                        program.params().size(), names, options.args.size()));
    }
    for (std::size_t i = 0; i < options.args.size(); ++i) check_argument(program, i, options.args[i]);
    const Dim3 grid = options.grid, cluster = program.cluster();
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535)
        throw ArgumentError(
            fmt::format("kernel {}: grid {{{}, {}, {}}}: extents of 1 to 2147483647, 65535 and 65535",
                        program.name(), grid.x, grid.y, grid.z));
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        throw ArgumentError(
            fmt::format("kernel {}: grid {{{}, {}, {}}} is not a whole number of clusters {{{}, {}, {}}}",
                        program.name(), grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
}

std::vector<std::uint64_t> raw_arguments(const Program& program, const std::vector<Argument>& args,
                                         const std::vector<std::uint64_t>& addresses) {
    std::vector<std::uint64_t> raw;
    std::size_t next = 0;
    for (std::size_t i = 0; i < args.size(); ++i)
        raw.push_back(std::holds_alternative<Tensor*>(args[i])
                          ? addresses[next++]
                          : raw_number(args[i], program.params()[i].type));
    return raw;
}

MapGeometry geometry_of(const Tensor& tensor) {
    const std::vector<std::int64_t>& shape = tensor.shape();
    MapGeometry out;
    out.extents.assign(shape.rbegin(), shape.rend());
    std::int64_t stride = bits(tensor.dtype()) / 8;
    for (std::size_t d = 0; d + 1 < out.extents.size(); ++d) out.strides.push_back(stride *= out.extents[d]);
    return out;
}

std::vector<Tensor*> tensors_of(const std::vector<Argument>& args) {
    std::vector<Tensor*> out;
    for (const Argument& arg : args)
        if (const auto* tensor = std::get_if<Tensor*>(&arg)) out.push_back(*tensor);
    return out;
}

}  // namespace wgrun
