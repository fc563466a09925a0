#include "bindings/cli/launch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "bindings/cli/input.hpp"
#include "bindings/cli/json_value.hpp"
#include "bindings/cli/kernel_input.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::cli {
namespace launch_file_detail {
namespace {

using Json = nlohmann::json;
using Value = JsonValue;

class Reader {
  public:
    Reader(LaunchFile& out, std::filesystem::path folder, const ForeignModule& module)
        : out_(out), folder_(std::move(folder)), module_(module) {}

    void read(const Value& launch) {
        launch.has_only({"$schema", "kernel", "grid", "block", "cluster", "shared", "tensors", "arguments"});
        if (launch.has("kernel")) out_.kernel = launch.at("kernel").string();
        RunOptions& options = out_.options;
        options.grid = launch.at("grid").extents();
        if (launch.has("block")) options.block = launch.at("block").extents();
        if (launch.has("cluster")) options.cluster = launch.at("cluster").extents();
        if (launch.has("shared")) options.shared = launch.at("shared").integer();
        if (launch.has("tensors")) {
            const Value tensors = launch.at("tensors");
            if (!tensors.json().is_object()) tensors.refuse("an object: names and tensors");
            for (const auto& [name, value] : tensors.json().items())
                named_[name] = &tensor({value, tensors.place() + "." + name});
        }
        for (const Value& value : launch.at("arguments").list()) options.args.push_back(argument(value));
    }

  private:
    Tensor& tensor(const Value& value) {
        value.has_only({"dtype", "shape", "fill", "seed", "file"});
        if (value.has("file")) {
            const std::optional<Dtype> dtype =
                value.has("dtype") ? std::optional(value.at("dtype").dtype()) : std::nullopt;
            return out_.tensors.emplace_back(Tensor::load(folder_ / value.at("file").string(), dtype));
        }
        const Dtype dtype = value.at("dtype").dtype();
        TensorShape shape = value.at("shape").integers();
        const std::string fill = value.has("fill") ? value.at("fill").string() : "random";
        const std::int64_t seed = value.has("seed") ? value.at("seed").integer()
                                                    : static_cast<std::int64_t>(out_.tensors.size()) + 1;
        if (fill == "zeros") return out_.tensors.emplace_back(Tensor::zeros(dtype, std::move(shape)));
        if (fill != "random") value.at("fill").refuse(R"("random" or "zeros"; or `file`)");
        return out_.tensors.emplace_back(
            Tensor::randn(std::move(shape), dtype, static_cast<std::uint64_t>(seed)));
    }

    /// A tensor by its name, or described where it is passed.
    Tensor& passed(const Value& value) {
        if (!value.json().is_string()) return tensor(value);
        const auto found = named_.find(value.string());
        if (found == named_.end()) value.refuse("the name of one of `tensors`");
        return *found->second;
    }

    wgrun::Argument argument(const Value& value) {
        if (value.json().is_number_integer()) return value.integer();
        if (value.json().is_number()) return value.json().get<double>();
        if (value.has("pointer") || value.has("map")) return view(value);
        if (value.has("struct")) return structure(value);
        if (value.has("bits")) return number_of(value);
        return &passed(value);
    }

    TensorView view(const Value& value) {
        if (value.has("map")) return map(value);
        value.has_only({"pointer", "offset"});
        return {&passed(value.at("pointer")), value.has("offset") ? value.at("offset").integer() : 0};
    }

    TensorView map(const Value& value) {
        value.has_only({"map", "box", "swizzle", "dtype", "nan_fill", "steps", "lower", "upper", "extents",
                        "strides", "offset"});
        Tensor& tensor = passed(value.at("map"));
        TensorView out{&tensor, value.has("offset") ? value.at("offset").integer() : 0};
        TensorBox& box = out.box.emplace();
        box.dtype = value.has("dtype") ? value.at("dtype").dtype() : tensor.dtype();
        box.extents = value.at("box").integers();
        if (value.has("swizzle")) box.swizzle = parse_swizzle_mode(value.at("swizzle").string());
        if (value.has("nan_fill")) {
            if (!value.at("nan_fill").json().is_boolean()) value.at("nan_fill").refuse("true or false");
            box.nan_fill = value.at("nan_fill").json().get<bool>();
        }
        if (value.has("steps")) box.steps = value.at("steps").integers();
        if (value.has("lower") || value.has("upper"))
            box.pixels = {value.at("lower").integers(), value.at("upper").integers()};
        if (value.has("extents")) out.extents = value.at("extents").integers();
        if (value.has("strides")) out.strides = value.at("strides").integers();
        try {
            complete_map(out);
        } catch (const ArgumentError& error) {
            throw ArgumentError(fmt::format("{}: {}", value.place(), error.what()));
        }
        return out;
    }

    /// A number by its bits, as a program has passed it: the parameter tells its type.
    wgrun::Argument number_of(const Value& value) {
        value.has_only({"bits"});
        const std::size_t place = out_.options.args.size();
        if (params_.empty() && (!out_.kernel.empty() || module_.names().size() == 1))
            params_ = parameters_of(module_, out_.kernel.empty() ? module_.names().front() : out_.kernel);
        const std::int64_t bits = value.at("bits").integer();
        const isa::Type type = place < params_.size() ? params_[place].type : isa::Type::b64;
        if (type == isa::Type::f64) return std::bit_cast<double>(bits);
        if (type == isa::Type::f32)
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        return bits;
    }

    Structure structure(const Value& value) {
        value.has_only({"struct", "parts"});
        Structure out;
        out.bytes = value.at("struct").integer();
        for (const Value& part : value.at("parts").list()) {
            part.has_only({"at", "value", "bytes"});
            Structure::Part& made = out.parts.emplace_back();
            made.offset = part.at("at").integer();
            const Value given = part.at("value");
            if (given.json().is_number()) {
                made.value = number(given, part.has("bytes") ? part.at("bytes").integer() : 4);
                continue;
            }
            const wgrun::Argument argument = this->argument(given);
            if (const auto* tensor = std::get_if<Tensor*>(&argument))
                made.value = TensorView{*tensor};
            else if (const auto* view = std::get_if<TensorView>(&argument))
                made.value = *view;
            else
                given.refuse("a number, a tensor, a pointer or a map");
        }
        return out;
    }

    static std::vector<std::byte> number(const Value& value, std::int64_t bytes) {
        const auto raw = [](const auto& number) {
            const auto* first = reinterpret_cast<const std::byte*>(&number);
            return std::vector<std::byte>(first, first + sizeof number);
        };
        if (!value.json().is_number_integer()) {
            if (bytes != 4 && bytes != 8) value.refuse("4 or 8 `bytes` for a number with a point");
            const auto real = value.json().get<double>();
            return bytes == 8 ? raw(real) : raw(static_cast<float>(real));
        }
        const std::int64_t integer = value.integer();
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) value.refuse("1, 2, 4 or 8 `bytes`");
        const std::int64_t end = bytes == 8 ? INT64_MAX : std::int64_t{1} << (8 * bytes);
        if (bytes < 8 && (integer >= end || integer < -end / 2))
            value.refuse(fmt::format("a number that fits {} `bytes`", bytes));
        std::vector<std::byte> out = raw(integer);
        out.resize(static_cast<std::size_t>(bytes));
        return out;
    }

    LaunchFile& out_;
    std::filesystem::path folder_;
    const ForeignModule& module_;
    std::map<std::string, Tensor*> named_;
    std::vector<Param> params_;
};

/// "launch.json:3: no JSON: ..."
std::string place_and_reason(const std::string& file, const std::string& text,
                             const Json::parse_error& error) {
    const std::size_t read = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
    const std::string_view said = error.what();  // "[json...] parse error at line 3, column 1: ..."
    return fmt::format("{}:{}: no JSON: {}", file, line, said.substr(said.find(": ") + 2));
}

}  // namespace
}  // namespace launch_file_detail

std::vector<Param> parameters_of(const ForeignModule& module, const std::string& kernel) {
    std::vector<Param> out;
    const Kernel made = module.kernel(kernel);
    for (const Param& param : made.program().params())
        if (!param.variable) out.push_back(param);
    return out;
}

LaunchFile read_launch(const std::string& file, const ForeignModule& module) {
    const std::string text = contents(file);
    launch_file_detail::Json json;
    try {
        json = launch_file_detail::Json::parse(text);
    } catch (const launch_file_detail::Json::parse_error& error) {
        throw ArgumentError(launch_file_detail::place_and_reason(file, text, error));
    }
    LaunchFile out;
    const std::string name = std::filesystem::path(file).filename().string();
    if (is_kernel_input(json)) {
        read_kernel_input({json, name}, module, out);
        return out;
    }
    launch_file_detail::Reader(out, std::filesystem::path(file).parent_path(), module).read({json, name});
    return out;
}

}  // namespace wgrun::cli
