#include "kernel/arguments.hpp"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "wgrun/device_tensor.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using isa::Type;

/// The place of an argument, for messages: formatted only if there is one.
class Place {
  public:
    Place(const Program& program, std::size_t i) : program_(program), i_(i) {}
    std::string text() const {
        return fmt::format("kernel {}, argument {} ({})", program_.name(), i_ + 1,
                           program_.params()[i_].name);
    }

  private:
    const Program& program_;
    std::size_t i_;
};

void check_integer(const Place& where, std::int64_t value, Type type) {
    const int width = isa::bits(type);
    if (width == 64) return;
    const bool negative_fits = isa::is_signed(type);
    const std::int64_t lo = negative_fits ? -(std::int64_t{1} << (width - 1)) : 0;
    const std::int64_t hi = (std::int64_t{1} << (negative_fits ? width - 1 : width)) - 1;
    if (value < lo || value > hi)
        throw ArgumentError(fmt::format("{}: {} does not fit {}", where.text(), value, isa::to_string(type)));
}

/// A tensor that a tensor map is to describe: cuTensorMapEncodeTiled's limits that depend on it.
void check_mapped(const Place& where, Dtype dtype, const TensorShape& shape, const TensorBox& box) {
    if (dtype != box.dtype)
        throw ArgumentError(fmt::format("{}: a {} tensor is expected, not {}", where.text(),
                                        to_string(box.dtype), to_string(dtype)));
    if (shape.size() != box.extents.size())
        throw rules::refusal(
            rules::WG_TMA_04,
            fmt::format("{}: a tensor of {} dimensions is expected, as its tensor map's box has "
                        "them, not {}",
                        where.text(), box.extents.size(), shape.size()));
    for (std::int64_t extent : shape)
        if (extent < 1)
            throw rules::refusal(
                rules::WG_TMA_04,
                fmt::format("{}: a tensor map cannot describe an empty tensor", where.text()));
    const std::int64_t line = shape.back() * bits(box.dtype) / 8;
    constexpr std::int64_t unit = 16;  // bytes
    if (shape.size() > 1 && line % unit != 0)
        throw rules::refusal(
            rules::WG_TMA_04,
            fmt::format("{}: rows of {} {} elements are {} bytes, but a tensor map needs a multiple of {}",
                        where.text(), shape.back(), to_string(box.dtype), line, unit),
            fmt::format("rows of {} elements, the last ones padding",
                        (line / unit + 1) * unit * 8 / bits(box.dtype)));
}

void check_argument(const Program& program, std::size_t i, const Argument& arg) {
    if (const auto* tensor = std::get_if<Tensor*>(&arg)) {
        check_memory(program, i, {(*tensor)->dtype(), &(*tensor)->shape()});
        if ((*tensor)->read_only() && !program.params()[i].constant)
            throw ArgumentError(fmt::format("{}: the tensor is read-only, and the parameter is not const",
                                            Place(program, i).text()),
                                "declare the parameter const, or pass t:copy()");
    } else if (const auto* device = std::get_if<DeviceTensor*>(&arg)) {
        if ((*device)->closed())
            throw ArgumentError(fmt::format("{}: the tensor is closed", Place(program, i).text()));
        check_memory(program, i, {(*device)->dtype(), &(*device)->shape()});
    } else if (const auto* integer = std::get_if<std::int64_t>(&arg)) {
        check_number(program, i, *integer);
    } else {
        check_number(program, i, std::get<double>(arg));
    }
}

}  // namespace

std::uint64_t raw_number(Number number, Type type) {
    const auto* integer = std::get_if<std::int64_t>(&number);
    if (!isa::is_float(type)) return static_cast<std::uint64_t>(*integer);
    const double value = integer ? static_cast<double>(*integer) : std::get<double>(number);
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

void check_memory(const Program& program, std::size_t i, const PassedMemory& memory) {
    const Param& param = program.params()[i];
    const Place where(program, i);
    if (param.box) {
        if (memory.shape == nullptr)
            throw ArgumentError(fmt::format("{}: its shape is needed for a tensor map", where.text()));
        return check_mapped(where, memory.dtype.value_or(param.box->dtype), *memory.shape, *param.box);
    }
    if (param.structure > 0)
        throw ArgumentError(fmt::format("{}: a structure of {} bytes is expected, not a tensor", where.text(),
                                        param.structure));
    if (!param.pointee)
        throw ArgumentError(fmt::format("{}: a number of type {} is expected, not a tensor", where.text(),
                                        isa::to_string(param.type)));
    if (memory.dtype && *memory.dtype != *param.pointee)
        throw ArgumentError(fmt::format("{}: a tensor of {} is expected, not of {}", where.text(),
                                        to_string(*param.pointee), to_string(*memory.dtype)));
}

void check_number(const Program& program, std::size_t i, Number number) {
    const Param& param = program.params()[i];
    const Place where(program, i);
    if (param.structure > 0)
        throw ArgumentError(fmt::format("{}: a structure of {} bytes is expected, not a number", where.text(),
                                        param.structure));
    if (param.pointee || param.box)
        throw ArgumentError(fmt::format("{}: a tensor of {} is expected, not a number", where.text(),
                                        to_string(param.pointee ? *param.pointee : param.box->dtype)));
    if (isa::is_float(param.type)) return;
    const auto* integer = std::get_if<std::int64_t>(&number);
    if (integer == nullptr)
        throw ArgumentError(fmt::format("{}: an integer of type {} is expected, not {}", where.text(),
                                        isa::to_string(param.type), std::get<double>(number)));
    check_integer(where, *integer, param.type);
}

void check_arguments(const Program& program, const RunOptions& options) {
    check_count(program, options.args.size());
    for (std::size_t i = 0; i < options.args.size(); ++i) check_argument(program, i, options.args[i]);
    check_grid(program, options.grid);
}

void check_count(const Program& program, std::size_t given) {
    if (given == program.params().size()) return;
    std::string names;
    for (const Param& param : program.params()) names += (names.empty() ? "" : ", ") + param.name;
    // A list that ends in nil is shorter than it looks.
    std::string fix =
        fmt::format("args = {{ {} }}: a list in the order of the parameters, without names", names);
    if (given > 0 && given < program.params().size())
        fix = fmt::format("args = {{ {} }}; argument {} ({}) is missing, or nil", names, given + 1,
                          program.params()[given].name);
    throw ArgumentError(
        fmt::format("kernel {} takes {} argument{} ({}), not {}", program.name(), program.params().size(),
                    program.params().size() == 1 ? "" : "s", names, given),
        fix);
}

void check_grid(const Program& program, Dim3 grid) {
    const Dim3 cluster = program.cluster();
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535)
        throw ArgumentError(
            fmt::format("kernel {}: grid {{{}, {}, {}}}: extents must be 1 to 2147483647, 65535 and 65535",
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
    for (std::size_t i = 0; i < args.size(); ++i) {
        const isa::Type type = program.params()[i].type;
        if (passed_tensor(args[i]))
            raw.push_back(addresses[next++]);
        else if (const auto* integer = std::get_if<std::int64_t>(&args[i]))
            raw.push_back(raw_number(*integer, type));
        else
            raw.push_back(raw_number(std::get<double>(args[i]), type));
    }
    return raw;
}

MapGeometry geometry_of(Dtype dtype, const TensorShape& shape) {
    MapGeometry out;
    out.extents.assign(shape.rbegin(), shape.rend());
    std::int64_t stride = bits(dtype) / 8;
    for (std::size_t d = 0; d + 1 < out.extents.size(); ++d) out.strides.push_back(stride *= out.extents[d]);
    return out;
}

const TensorShape& PassedTensor::shape() const { return host != nullptr ? host->shape() : device->shape(); }

std::optional<PassedTensor> passed_tensor(const Argument& argument) {
    if (const auto* tensor = std::get_if<Tensor*>(&argument)) return PassedTensor{*tensor, nullptr};
    if (const auto* tensor = std::get_if<DeviceTensor*>(&argument)) return PassedTensor{nullptr, *tensor};
    return std::nullopt;
}

std::vector<PassedTensor> passed_tensors(const std::vector<Argument>& args) {
    std::vector<PassedTensor> out;
    for (const Argument& arg : args)
        if (const std::optional<PassedTensor> passed = passed_tensor(arg)) out.push_back(*passed);
    return out;
}

void move_to_simulator(std::vector<Argument>& args) {
    for (Argument& arg : args)
        if (auto* const* tensor = std::get_if<DeviceTensor*>(&arg)) arg = &(*tensor)->on_simulator();
}

check::LaunchSizes sizes_of(const RunOptions& options) {
    check::LaunchSizes sizes{options.grid, {}};
    for (const Argument& argument : options.args) {
        const auto* integer = std::get_if<std::int64_t>(&argument);
        sizes.params.push_back(integer != nullptr ? *integer : 0);
    }
    return sizes;
}

}  // namespace wgrun
