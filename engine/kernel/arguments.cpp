#include "kernel/arguments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "wgrun/count_of.hpp"
#include "wgrun/device_tensor.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

using isa::Type;

void check_integer(const Program& program, std::size_t i, std::int64_t value, Type type) {
    const bool any_sign = program.params()[i].either_sign;
    const int width = isa::bits(type);
    if (width == 64) return;
    const bool negative_fits = isa::is_signed(type);
    const std::int64_t lo = negative_fits || any_sign ? -(std::int64_t{1} << (width - 1)) : 0;
    const std::int64_t hi = (std::int64_t{1} << (negative_fits && !any_sign ? width - 1 : width)) - 1;
    if (value < lo || value > hi)
        throw wrong_argument(program, i, fmt::format("{} does not fit {}", value, isa::to_string(type)));
}

void check_least(const Program& program, std::size_t i, std::int64_t value) {
    const Param& param = program.params()[i];
    if (!param.is_enough(value))
        throw wrong_argument(
            program, i, fmt::format("{}, and the kernel is declared for {} and more", value, param.least),
            "launch it with more, or leave `least` out of k:param");
}

/// A tensor that a tensor map is to describe: cuTensorMapEncodeTiled's limits that depend on it.
void check_mapped(const Program& program, std::size_t i, Dtype dtype, const TensorShape& shape,
                  const TensorBox& box) {
    if (dtype != box.dtype)
        throw wrong_argument(
            program, i,
            fmt::format("a tensor of {} is expected, not of {}", to_string(box.dtype), to_string(dtype)));
    if (shape.size() != box.extents.size())
        throw wrong_argument(program, i,
                             fmt::format("a tensor of {} is expected, as its tensor map's box has "
                                         "them, not {}",
                                         count_of(box.extents.size(), "dimension"), shape.size()),
                             {}, rules::WG_TMA_04);
    for (std::int64_t extent : shape)
        if (extent < 1)
            throw wrong_argument(program, i, "a tensor map cannot describe an empty tensor", {},
                                 rules::WG_TMA_04);
    const std::int64_t line = shape.back() * bits(box.dtype) / 8;
    constexpr std::int64_t unit = sm_90a.tensor_maps.unit;
    if (shape.size() > 1 && line % unit != 0)
        throw wrong_argument(
            program, i,
            fmt::format("rows of {} {} elements are {}, but a tensor map needs a multiple of {}",
                        shape.back(), to_string(box.dtype), count_of(line, "byte"), unit),
            fmt::format("rows of {}, the last ones padding",
                        count_of((line / unit + 1) * unit * 8 / bits(box.dtype), "element")),
            rules::WG_TMA_04);
}

/// A tensor map begins where its tensor does, whose memory a device may have as the host has it.
void check_start(const Program& program, std::size_t i, const std::byte* start) {
    constexpr auto unit = static_cast<std::uintptr_t>(sm_90a.tensor_maps.unit);
    const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(start) % unit;
    if (behind == 0) return;
    throw wrong_argument(program, i,
                         fmt::format("it begins {} after a multiple of {}, where no tensor map can begin",
                                     count_of(behind, "byte"), unit),
                         "pass a copy of it, which begins at a multiple of 16", rules::WG_TMA_04);
}

void check_view(const Program& program, std::size_t i, const TensorView& view) {
    std::size_t bytes = 0;
    if (auto* const* host = std::get_if<Tensor*>(&view.tensor)) {
        bytes = (*host)->size_bytes();
        if (view.box) check_start(program, i, std::as_const(**host).data() + view.offset);
        if ((*host)->read_only())
            throw wrong_argument(program, i, "the tensor is read-only", "pass t:copy()");
    } else {
        const DeviceTensor& device = *std::get<DeviceTensor*>(view.tensor);
        if (device.closed()) throw wrong_argument(program, i, "the tensor is closed");
        bytes = static_cast<std::size_t>(bits(device.dtype()) / 8);
        for (const std::int64_t extent : device.shape()) bytes *= static_cast<std::size_t>(extent);
    }
    if (view.offset < 0 || std::cmp_greater(view.offset, bytes))
        throw wrong_argument(program, i, fmt::format("byte {} of a tensor of {}", view.offset, bytes));
    if (!view.box) return;
    check_box(*view.box);
    if (view.extents.size() != view.box->extents.size() || view.strides.size() + 1 != view.extents.size())
        throw wrong_argument(program, i,
                             fmt::format("a box of {}, of a tensor of {} with {} strides",
                                         count_of(view.box->extents.size(), "dimension"), view.extents.size(),
                                         view.strides.size()),
                             {}, rules::WG_TMA_04);
    std::int64_t last = view.offset + bits(view.box->dtype) / 8;
    for (std::size_t d = 0; d < view.extents.size(); ++d) {
        const std::int64_t stride = d == 0 ? bits(view.box->dtype) / 8 : view.strides[d - 1];
        constexpr Target::TensorMaps limits = sm_90a.tensor_maps;
        constexpr std::int64_t most = limits.stride;
        if (view.extents[d] < 1 || view.extents[d] > limits.extent || stride < 0 || stride >= most ||
            (d > 0 && stride % limits.unit != 0))
            throw wrong_argument(
                program, i,
                fmt::format("dimension {} has {}, {} apart: 1 to 2^32 elements and strides "
                            "of a multiple of {} bytes are possible",
                            d, count_of(view.extents[d], "element"), count_of(stride, "byte"), limits.unit),
                {}, rules::WG_TMA_04);
        if (view.extents[d] - 1 > (most - last) / std::max<std::int64_t>(stride, 1)) last = most;
        last = std::min(last + (view.extents[d] - 1) * stride, most);
    }
    if (std::cmp_greater(last, bytes))
        throw wrong_argument(
            program, i,
            fmt::format("the tensor map describes {}, the tensor has {}", count_of(last, "byte"), bytes), {},
            rules::WG_TMA_04);
}

void check_structure(const Program& program, std::size_t i, const Structure& structure) {
    const Param& param = program.params()[i];
    if (param.structure != structure.bytes)
        throw wrong_argument(program, i,
                             param.structure == 0
                                 ? std::string("no structure is expected")
                                 : fmt::format("a structure of {} is expected, not of {}",
                                               count_of(param.structure, "byte"), structure.bytes));
    for (const Structure::Part& part : structure.parts) {
        std::size_t bytes = sizeof(std::uint64_t);
        if (const auto* view = std::get_if<TensorView>(&part.value)) {
            check_view(program, i, *view);
            if (view->box) bytes = sizeof(gpu::TensorMap::bytes);
        } else {
            bytes = std::get<std::vector<std::byte>>(part.value).size();
        }
        if (part.offset < 0 || std::cmp_greater(bytes, structure.bytes) ||
            part.offset > structure.bytes - static_cast<std::int64_t>(bytes))
            throw wrong_argument(program, i,
                                 fmt::format("{} at byte {} of a structure of {}", count_of(bytes, "byte"),
                                             part.offset, structure.bytes));
    }
}

void check_argument(const Program& program, std::size_t i, const Argument& arg) {
    if (const auto* tensor = std::get_if<Tensor*>(&arg)) {
        check_memory(program, i, {(*tensor)->dtype(), &(*tensor)->shape()});
        if (program.params()[i].box) check_start(program, i, std::as_const(**tensor).data());
        if ((*tensor)->read_only() && !program.params()[i].constant)
            throw wrong_argument(program, i, "the tensor is read-only, and the parameter is not const",
                                 "declare the parameter const, or pass t:copy()");
    } else if (const auto* device = std::get_if<DeviceTensor*>(&arg)) {
        if ((*device)->closed()) throw wrong_argument(program, i, "the tensor is closed");
        check_memory(program, i, {(*device)->dtype(), &(*device)->shape()});
    } else if (const auto* view = std::get_if<TensorView>(&arg)) {
        check_view(program, i, *view);
        const Param& param = program.params()[i];
        const bool open_map = param.type == Type::tensormap && !param.box;
        // A number of 64 bits may be the address of a map in memory.
        const bool address = isa::bits(param.type) == 64 && !isa::is_float(param.type) && !param.pointee &&
                             param.structure == 0;
        if (view->box ? !open_map && !address && param.box != view->box : !param.pointee && !param.any)
            throw wrong_argument(program, i,
                                 fmt::format("{} is not what the parameter takes",
                                             view->box ? "a tensor map that the launch makes" : "a pointer"));
    } else if (const auto* structure = std::get_if<Structure>(&arg)) {
        check_structure(program, i, *structure);
    } else if (const auto* integer = std::get_if<std::int64_t>(&arg)) {
        check_number(program, i, *integer);
    } else {
        check_number(program, i, std::get<double>(arg));
    }
}

}  // namespace

ArgumentError wrong_argument(const Program& program, std::size_t i, std::string_view what, std::string fix,
                             const Rule& rule) {
    return rules::refusal(
        rule,
        fmt::format("kernel {}, argument {} ({}): {}", program.name(), i + 1, program.params()[i].name, what),
        std::move(fix));
}

std::uint64_t raw_number(Number number, Type type) {
    const auto* integer = std::get_if<std::int64_t>(&number);
    if (!isa::is_float(type)) return static_cast<std::uint64_t>(*integer);
    const double value = integer ? static_cast<double>(*integer) : std::get<double>(number);
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

void check_memory(const Program& program, std::size_t i, const PassedMemory& memory) {
    const Param& param = program.params()[i];
    if (param.box) {
        if (memory.shape == nullptr) throw wrong_argument(program, i, "its shape is needed for a tensor map");
        return check_mapped(program, i, memory.dtype.value_or(param.box->dtype), *memory.shape, *param.box);
    }
    if (param.structure > 0)
        throw wrong_argument(
            program, i,
            fmt::format("a structure of {} is expected, not a tensor", count_of(param.structure, "byte")));
    if (param.any) return;
    if (param.type == Type::tensormap)
        throw wrong_argument(program, i, "the kernel leaves the box of its tensor map to the launch",
                             "wg.tensor_map(tensor, { box = { ... } })");
    if (!param.pointee)
        throw wrong_argument(
            program, i,
            fmt::format("a number of type {} is expected, not a tensor", isa::to_string(param.type)));
    if (memory.dtype && *memory.dtype != *param.pointee)
        throw wrong_argument(program, i,
                             fmt::format("a tensor of {} is expected, not of {}", to_string(*param.pointee),
                                         to_string(*memory.dtype)));
}

void check_number(const Program& program, std::size_t i, Number number) {
    const Param& param = program.params()[i];
    if (param.structure > 0)
        throw wrong_argument(
            program, i,
            fmt::format("a structure of {} is expected, not a number", count_of(param.structure, "byte")));
    if (param.pointee || param.box)
        throw wrong_argument(program, i,
                             fmt::format("a tensor of {} is expected, not a number",
                                         to_string(param.pointee ? *param.pointee : param.box->dtype)));
    if (param.type == Type::tensormap)
        throw wrong_argument(program, i, "a tensor map is expected, not a number");
    if (isa::is_float(param.type)) return;
    const auto* integer = std::get_if<std::int64_t>(&number);
    if (integer == nullptr)
        throw wrong_argument(program, i,
                             fmt::format("an integer of type {} is expected, not {}",
                                         isa::to_string(param.type), std::get<double>(number)));
    check_integer(program, i, *integer, param.type);
    check_least(program, i, *integer);
}

void check_arguments(const Program& program, const RunOptions& options) {
    const auto check = [&](const std::vector<Argument>& args) {
        check_count(program, args.size());
        for (std::size_t i = 0; i < args.size(); ++i) check_argument(program, i, args[i]);
    };
    check(options.args);
    std::ranges::for_each(options.further_devices, check);
    check_grid(program, options.grid);
}

void check_count(const Program& program, std::size_t given) {
    const std::size_t wanted = program.passed_params();
    if (given == wanted) return;
    std::string names;
    for (std::size_t i = 0; i < wanted; ++i) names += (i == 0 ? "" : ", ") + program.params()[i].name;
    // A list that ends in nil is shorter than it looks.
    std::string fix =
        fmt::format("args = {{ {} }}: a list in the order of the parameters, without names", names);
    if (given > 0 && given < wanted)
        fix = fmt::format("args = {{ {} }}; argument {} ({}) is missing, or nil", names, given + 1,
                          program.params()[given].name);
    throw rules::refusal(rules::WG_FORM_05,
                         fmt::format("kernel {} takes {} ({}), not {}", program.name(),
                                     count_of(wanted, "argument"), names, given),
                         fix);
}

void check_grid(const Program& program, Dim3 grid) {
    const Dim3 cluster = program.cluster();
    constexpr std::int64_t columns = sm_90a.grid_columns, rows = sm_90a.grid_rows;
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > columns || grid.y > rows || grid.z > rows)
        throw rules::refusal(rules::WG_FORM_04,
                             fmt::format("kernel {}: grid {{{}, {}, {}}}: extents must be 1 to {}, {} and {}",
                                         program.name(), grid.x, grid.y, grid.z, columns, rows, rows));
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        throw rules::refusal(
            rules::WG_FORM_04,
            fmt::format("kernel {}: grid {{{}, {}, {}}} is not a whole number of clusters {{{}, {}, {}}}",
                        program.name(), grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    if (program.grid_like(grid) != grid) {
        const Dim3 only = program.grid_sizes();
        const auto text = [](std::uint32_t size) { return size == 0 ? "any" : std::to_string(size); };
        throw rules::refusal(
            rules::WG_FORM_04,
            fmt::format("kernel {}: grid {{{}, {}, {}}}: the kernel is declared for {{{}, {}, {}}} alone",
                        program.name(), grid.x, grid.y, grid.z, text(only.x), text(only.y), text(only.z)),
            "launch it with such a grid, or leave `grid` out of wg.kernel");
    }
}

void complete_map(TensorView& view) {
    const auto shape_of = [](const auto* tensor) -> const TensorShape& { return tensor->shape(); };
    const Dtype dtype = view.box->dtype;
    if (TensorBox& box = *view.box; box.pixels && box.extents.size() == 2)
        box.extents.resize(box.pixels->lower.size() + 2, 1);
    if (view.extents.empty()) {
        const TensorShape& shape = std::visit(shape_of, view.tensor);
        view.extents.assign(shape.rbegin(), shape.rend());
    }
    std::int64_t stride = bits(dtype) / 8;
    if (stride < 1)
        throw ArgumentError(
            fmt::format("a tensor map of {}: its elements have less than a byte", to_string(dtype)));
    if (!view.strides.empty()) return;
    for (std::size_t d = 0; d + 1 < view.extents.size(); ++d) {
        if (view.extents[d] < 1 || view.extents[d] > INT64_MAX / stride)
            throw ArgumentError(fmt::format("a tensor map of {}", count_of(view.extents[d], "element")));
        view.strides.push_back(stride *= view.extents[d]);
    }
}

MapGeometry geometry_of(Dtype dtype, const TensorShape& shape) {
    MapGeometry out;
    out.extents.assign(shape.rbegin(), shape.rend());
    std::int64_t stride = bits(dtype) / 8;
    for (std::size_t d = 0; d + 1 < out.extents.size(); ++d) out.strides.push_back(stride *= out.extents[d]);
    return out;
}

const TensorShape& PassedTensor::shape() const { return host != nullptr ? host->shape() : device->shape(); }

namespace {

PassedTensor passed(const TensorView& view) {
    if (auto* const* host = std::get_if<Tensor*>(&view.tensor)) return {*host, nullptr};
    return {nullptr, std::get<DeviceTensor*>(view.tensor)};
}

PassedMap map_of(const TensorView& view, std::uint64_t address) {
    return {0, address + static_cast<std::uint64_t>(view.offset), {view.extents, view.strides}, *view.box};
}

void write_structure(const Structure& structure, const std::vector<std::uint64_t>& addresses,
                     std::size_t& next, RawArgument& out) {
    out.structure.resize(static_cast<std::size_t>(structure.bytes));
    for (const Structure::Part& part : structure.parts) {
        std::byte* const to = out.structure.data() + part.offset;
        if (const auto* bytes = std::get_if<std::vector<std::byte>>(&part.value)) {
            std::memcpy(to, bytes->data(), bytes->size());
            continue;
        }
        const auto& view = std::get<TensorView>(part.value);
        const std::uint64_t address = addresses[next++] + static_cast<std::uint64_t>(view.offset);
        if (view.box) {
            out.maps.push_back(map_of(view, addresses[next - 1]));
            out.maps.back().offset = part.offset;
        } else {
            std::memcpy(to, &address, sizeof address);
        }
    }
}

}  // namespace

std::vector<RawArgument> raw_arguments(const Program& program, const std::vector<Argument>& args,
                                       const std::vector<std::uint64_t>& addresses) {
    std::vector<RawArgument> out(args.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const Param& param = program.params()[i];
        RawArgument& raw = out[i];
        if (const auto* structure = std::get_if<Structure>(&args[i])) {
            write_structure(*structure, addresses, next, raw);
        } else if (const auto* view = std::get_if<TensorView>(&args[i])) {
            raw.value = addresses[next++] + static_cast<std::uint64_t>(view->offset);
            if (view->box) raw.maps.push_back(map_of(*view, addresses[next - 1]));
            raw.in_memory = view->box && param.type != Type::tensormap;
        } else if (const std::optional<PassedTensor> tensor = passed_tensor(args[i])) {
            raw.value = addresses[next++];
            if (param.box)
                raw.maps.push_back(
                    {0, raw.value, geometry_of(param.box->dtype, tensor->shape()), *param.box});
        } else if (const auto* integer = std::get_if<std::int64_t>(&args[i])) {
            raw.value = raw_number(*integer, param.type);
        } else {
            raw.value = raw_number(std::get<double>(args[i]), param.type);
        }
    }
    return out;
}

std::optional<PassedTensor> passed_tensor(const Argument& argument) {
    if (const auto* tensor = std::get_if<Tensor*>(&argument)) return PassedTensor{*tensor, nullptr};
    if (const auto* tensor = std::get_if<DeviceTensor*>(&argument)) return PassedTensor{nullptr, *tensor};
    if (const auto* view = std::get_if<TensorView>(&argument)) return passed(*view);
    return std::nullopt;
}

std::vector<PassedTensor> passed_tensors(const Argument& argument) {
    std::vector<PassedTensor> out;
    if (const std::optional<PassedTensor> tensor = passed_tensor(argument)) out.push_back(*tensor);
    if (const auto* structure = std::get_if<Structure>(&argument))
        for (const Structure::Part& part : structure->parts)
            if (const auto* view = std::get_if<TensorView>(&part.value)) out.push_back(passed(*view));
    return out;
}

std::vector<PassedTensor> passed_tensors(const std::vector<Argument>& args) {
    std::vector<PassedTensor> out;
    for (const Argument& arg : args) std::ranges::move(passed_tensors(arg), std::back_inserter(out));
    return out;
}

namespace {

void for_each_view(std::vector<Argument>& args, const std::function<void(TensorView&)>& f) {
    for (Argument& arg : args) {
        if (auto* view = std::get_if<TensorView>(&arg)) f(*view);
        if (auto* structure = std::get_if<Structure>(&arg))
            for (Structure::Part& part : structure->parts)
                if (auto* view = std::get_if<TensorView>(&part.value)) f(*view);
    }
}

}  // namespace

std::vector<std::vector<Argument>*> of_devices(RunOptions& options) {
    std::vector<std::vector<Argument>*> out{&options.args};
    for (std::vector<Argument>& args : options.further_devices) out.push_back(&args);
    return out;
}

void for_each_tensor(std::vector<Argument>& args, const std::function<void(Tensor*&)>& f) {
    for (Argument& arg : args)
        if (auto** tensor = std::get_if<Tensor*>(&arg)) f(*tensor);
    for_each_view(args, [&](TensorView& view) {
        if (auto** tensor = std::get_if<Tensor*>(&view.tensor)) f(*tensor);
    });
}

void move_to_simulator(std::vector<Argument>& args) {
    for (Argument& arg : args)
        if (auto* const* tensor = std::get_if<DeviceTensor*>(&arg)) arg = &(*tensor)->on_simulator();
    for_each_view(args, [](TensorView& view) {
        if (auto* const* tensor = std::get_if<DeviceTensor*>(&view.tensor))
            view.tensor = &(*tensor)->on_simulator();
    });
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
