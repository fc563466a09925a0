#include "bindings/cli/kernel_input.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>

#include "wgrun/tile.hpp"

namespace wgrun::cli {
namespace kernel_input_detail {
namespace {

using Value = JsonValue;

constexpr std::string_view schema = "spverify.kernel-input/v1";
constexpr std::int64_t object_bytes = std::int64_t{16} << 20;

class Reader {
  public:
    Reader(const Value& file, const ForeignModule& module, LaunchFile& out) : file_(file), out_(out) {
        file.has_only({"schema", "entry", "launch", "declarations", "arguments", "tma_descriptors",
                       "shape_arrays", "assumptions", "branch_decisions", "data_branch_loop_iterations",
                       "address_invariants"});
        // What their analysis is told about values decides nothing where the kernel runs.
        if (file.has("shape_arrays") && !file.at("shape_arrays").list().empty())
            throw ArgumentError(fmt::format("{}: memory that holds shapes is not made", file.place()));
        if (file.has("entry")) out.kernel = file.at("entry").string();
        if (out.kernel.empty() && module.names().size() != 1) file.at("entry");
        if (out.kernel.empty()) out.kernel = module.names().front();
        params_ = parameters_of(module, out.kernel);
    }

    void read() {
        launch(file_.at("launch"));
        for (const Value& given : list("declarations")) declare(given);
        for (const Value& given : list("tma_descriptors")) describe(given);
        for (const Value& given : list("arguments")) assign(given);
        for (std::size_t i = 0; i < params_.size(); ++i) out_.options.args.push_back(argument(i));
    }

  private:
    /// A place of the parameter space: a parameter, and bytes from its start.
    using Place = std::pair<std::size_t, std::int64_t>;
    using Bytes = std::vector<std::byte>;

    std::vector<Value> list(const char* key) const {
        return file_.has(key) ? file_.at(key).list() : std::vector<Value>{};
    }

    void launch(const Value& given) {
        given.has_only({"grid_dim", "block_dim", "cluster_dim", "dynamic_shared_bytes"});
        RunOptions& options = out_.options;
        options.grid = given.at("grid_dim").extents();
        options.block = given.at("block_dim").extents();
        if (given.has("cluster_dim")) options.cluster = given.at("cluster_dim").extents();
        if (given.has("dynamic_shared_bytes")) options.shared = given.at("dynamic_shared_bytes").integer();
        if (options.cluster && options.cluster->volume() == 1) options.cluster.reset();
    }

    /// A parameter is named by its place in the list, or by its name in the text.
    Place place(const Value& given) const {
        const Value parameter = given.at("parameter");
        const std::int64_t offset = given.has("offset") ? given.at("offset").integer() : 0;
        for (std::size_t i = 0; i < params_.size(); ++i) {
            const bool meant = parameter.json().is_string()
                                   ? is_called(params_[i], parameter.string())
                                   : parameter.integer() == static_cast<std::int64_t>(i);
            if (!meant) continue;
            if (offset < 0 || offset >= params_[i].bytes())
                given.at("offset").refuse("a byte of the parameter");
            return {i, offset};
        }
        parameter.refuse("a parameter of " + out_.kernel);
    }

    /// Programs call parameters as texts do, without "param_" and "NAME_param_".
    static bool is_called(const Param& param, std::string_view name) {
        const std::size_t end = name.rfind("param_");
        return param.name == name || (end != std::string_view::npos &&
                                      param.name == name.substr(end + std::string_view("param_").size()));
    }

    void declare(const Value& given) {
        given.has_only({"parameter", "offset", "type", "space", "object", "name"});
        const Place where = place(given);
        if (given.has("name")) fields_[given.at("name").string()] = {where, given.at("type").string()};
        if (given.at("type").string() == "pointer")
            objects_[where] = given.has("object") ? given.at("object").string() : std::string();
    }

    /// The driver's box is what the copied elements span; without steps there is nothing to tell.
    static void read_steps(std::vector<std::int64_t> steps, TensorBox& box) {
        if (std::ranges::all_of(steps, [](std::int64_t step) { return step == 1; })) return;
        for (std::size_t d = 1; d < std::min(steps.size(), box.extents.size()); ++d)
            if (steps[d] > 1) box.extents[d] = (box.extents[d] + steps[d] - 1) / steps[d];
        box.steps = std::move(steps);
    }

    void describe(const Value& given) {
        given.has_only({"parameter", "offset", "element_type", "rank", "global_shape", "global_strides_bytes",
                        "box_shape", "element_strides", "swizzle", "interleave", "oob_fill", "object",
                        "base_byte_offset", "pixel_box_lower_corner", "pixel_box_upper_corner"});
        const Place where = place(given);
        for (const char* key : {"global_shape", "box_shape"}) (void)given.at(key);
        TensorBox box;
        box.dtype = given.at("element_type").dtype();
        box.extents = given.at("box_shape").integers();
        if (given.has("swizzle")) box.swizzle = parse_swizzle_mode(given.at("swizzle").string());
        if (given.has("interleave") && given.at("interleave").string() != "none")
            given.at("interleave").refuse("\"none\"");
        if (given.has("element_strides")) read_steps(given.at("element_strides").integers(), box);
        if (given.has("pixel_box_lower_corner")) {
            box.pixels = {given.at("pixel_box_lower_corner").integers(),
                          given.at("pixel_box_upper_corner").integers()};
        }
        if (given.has("oob_fill")) box.nan_fill = given.at("oob_fill").string() == "nan";
        TensorView view;
        view.extents = given.at("global_shape").integers();
        if (view.extents.empty() ||
            std::ranges::any_of(view.extents, [](std::int64_t n) { return n < 1 || n > INT32_MAX; }))
            given.at("global_shape").refuse("extents from 1");
        if (given.has("global_strides_bytes")) view.strides = given.at("global_strides_bytes").integers();
        view.box = box;
        complete_map(view);
        if (view.strides.size() + 1 != view.extents.size())
            given.at("global_strides_bytes").refuse("one stride less than the rank");
        if (given.has("base_byte_offset")) view.offset = given.at("base_byte_offset").integer();
        constexpr std::int64_t most = std::int64_t{4} << 30;
        const std::int64_t stride = view.strides.empty() ? bits(box.dtype) / 8 : view.strides.back();
        const std::int64_t size = stride > most ? 0 : stride * view.extents.back();
        if (view.offset < 0 || size < 1 || size > most - view.offset)
            given.refuse("a tensor of at most 4 GiB");
        std::string object = given.has("object") ? given.at("object").string() : std::string();
        view.tensor = &memory(where, std::move(object), box.dtype, (size + view.offset + 7) / 8 * 8);
        if (std::get<Tensor*>(view.tensor)->bytes().size() < static_cast<std::size_t>(size + view.offset))
            given.refuse("the largest tensor of an object before the others");
        view.box = std::move(box);
        maps_.insert_or_assign(where, std::move(view));
    }

    void assign(const Value& given) {
        if (given.has("field")) {
            given.has_only({"field", "value"});
            const auto found = fields_.find(given.at("field").string());
            if (found == fields_.end()) given.at("field").refuse("the name of one of `declarations`");
            values_[found->second.first] = number(given.at("value"), found->second.second);
            return;
        }
        given.has_only({"parameter", "offset", "type", "value"});
        values_[place(given)] = number(given.at("value"), given.at("type").string());
    }

    /// The bytes of a number of a type of PTX, or of the null pointer.
    static Bytes number(const Value& given, const std::string& type) {
        const auto raw = [](auto number, std::size_t bytes) {
            Bytes out(sizeof number);
            std::memcpy(out.data(), &number, sizeof number);
            out.resize(bytes);
            return out;
        };
        if (type == "pointer") {
            if (!given.json().is_null()) given.refuse("null");
            return Bytes(8);
        }
        if (type == "f32" && given.json().is_number()) return raw(given.json().get<float>(), 4);
        if (type == "f64" && given.json().is_number()) return raw(given.json().get<double>(), 8);
        const std::size_t bits = type.size() < 2 ? 0 : static_cast<std::size_t>(std::atoi(type.c_str() + 1));
        const bool integer = (type[0] == 'u' || type[0] == 's' || type[0] == 'b') && bits >= 8 && bits <= 64;
        if (!integer || !std::has_single_bit(bits))
            given.refuse("a value of a type that is one of u8 to b64, f32 and f64");
        return raw(given.integer(), bits / 8);
    }

    /// The memory of an object; of one without a name, that of the place.
    Tensor& memory(Place where, std::string object, Dtype dtype, std::int64_t bytes) {
        if (object.empty()) object = fmt::format("{}:{}", where.first, where.second);
        const auto [found, made] = memory_.try_emplace(std::move(object), nullptr);
        if (!made) return *found->second;
        const TensorShape shape{bytes * 8 / wgrun::bits(dtype)};
        const bool bare = dtype == Dtype::u8;
        found->second = &out_.tensors.emplace_back(bare ? Tensor::zeros(dtype, shape)
                                                        : Tensor::randn(shape, dtype, memory_.size()));
        return *found->second;
    }

    TensorView pointer(Place where) {
        const auto declared = objects_.find(where);
        const std::string object = declared == objects_.end() ? std::string() : declared->second;
        return {&memory(where, object, Dtype::u8, object_bytes)};
    }

    wgrun::Argument argument(std::size_t index) {
        const Param& param = params_[index];
        const auto missing = [&](const char* what) {
            throw ArgumentError(fmt::format("{}: {} parameter `{}`", file_.place(), what, param.name));
        };
        if (param.type == isa::Type::tensormap) {
            const auto found = maps_.find({index, 0});
            if (found == maps_.end()) missing("`tma_descriptors` has none for");
            return found->second;
        }
        if (param.structure > 0) return structure(index);
        const auto found = values_.find({index, 0});
        if (found == values_.end()) {
            if (param.bytes() != 8) missing("`arguments` has no value for");
            return pointer({index, 0});
        }
        std::uint64_t bits = 0;
        std::memcpy(&bits, found->second.data(), std::min(found->second.size(), sizeof bits));
        if (param.type == isa::Type::f32)
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        if (param.type == isa::Type::f64) return std::bit_cast<double>(bits);
        return static_cast<std::int64_t>(bits);
    }

    Structure structure(std::size_t index) {
        Structure out;
        out.bytes = params_[index].structure;
        for (const auto& [where, bytes] : values_)
            if (where.first == index) out.parts.push_back({where.second, bytes});
        for (const auto& [where, map] : maps_)
            if (where.first == index) out.parts.push_back({where.second, map});
        for (const auto& [where, object] : objects_)
            if (where.first == index && !values_.contains(where))
                out.parts.push_back({where.second, pointer(where)});
        return out;
    }

    const Value& file_;
    LaunchFile& out_;
    std::vector<Param> params_;
    std::map<std::string, std::pair<Place, std::string>> fields_;  ///< names: places and types
    std::map<Place, std::string> objects_;                         ///< of pointers; empty: one of its own
    std::map<Place, TensorView> maps_;
    std::map<Place, Bytes> values_;
    std::map<std::string, Tensor*> memory_;  ///< by object
};

}  // namespace
}  // namespace kernel_input_detail

bool is_kernel_input(const nlohmann::json& json) {
    return json.is_object() && json.value("schema", nlohmann::json()) == kernel_input_detail::schema;
}

void read_kernel_input(const JsonValue& file, const ForeignModule& module, LaunchFile& out) {
    kernel_input_detail::Reader(file, module, out).read();
}

}  // namespace wgrun::cli
