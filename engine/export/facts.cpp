#include "export/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "diag/escape.hpp"
#include "kernel/launch_spec.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::exporting {
namespace {

// Names that a parameter cannot have in the launch functions: keywords of C and C++, and names that these
// use.
constexpr std::string_view taken[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
    "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    // macros
    "NULL", "EOF", "linux", "unix",
    // the launch functions' own
    "arguments", "attributes", "cluster", "clusters", "config", "device", "error", "grid", "grid_x", "grid_y",
    "grid_z", "kernel", "resident", "room", "stream", "tiles", "map", "most", "encode_map", "aligned_map",
    "dim3", "memset", "TensorMap"};

class Names {
  public:
    explicit Names(const Program& program)
        : prefix_(program.name() + "_"), used_(std::begin(taken), std::end(taken)) {
        // A parameter that can keep its name keeps it, even if extents before it would use that name.
        for (const Param& param : program.params()) own_.insert(param.name);
    }

    std::string parameter(const std::string& name) {
        // cuda.h and the exported functions have names of these forms.
        const bool foreign = name.starts_with("CU") || name.starts_with("cu") || name.starts_with("_") ||
                             name.starts_with(prefix_);
        return unique(foreign ? name + "_" : name, foreign);
    }
    std::string extent(const std::string& wanted) { return unique(wanted, true); }

    /// Of a tensor map: the launch functions have local variables of these endings.
    std::string map_parameter(const std::string& wanted) {
        std::string name = parameter(wanted);
        const auto clashes = [&](std::string_view ending) {
            return own_.contains(name + std::string(ending)) || used_.contains(name + std::string(ending));
        };
        constexpr std::string_view endings[] = {"_map", "_box", "_extents", "_room"};
        while (std::ranges::any_of(endings, clashes)) name = unique(name + "_", true);
        for (const std::string_view ending : endings) used_.insert(name + std::string(ending));
        return name;
    }

  private:
    std::string unique(std::string name, bool avoid_parameters) {
        while (used_.contains(name) || (avoid_parameters && own_.contains(name))) {
            name += '_';
            avoid_parameters = true;
        }
        used_.insert(name);
        return name;
    }

    std::string prefix_;
    std::set<std::string, std::less<>> used_, own_;
};

std::vector<std::string> extents_of(const std::string& name, std::size_t rank, Names& names) {
    if (rank == 1) return {names.extent(name + "_length")};
    if (rank == 2) return {names.extent(name + "_rows"), names.extent(name + "_columns")};
    std::vector<std::string> out;
    for (std::size_t i = 0; i < rank; ++i) out.push_back(names.extent(fmt::format("{}_extent{}", name, i)));
    return out;
}

}  // namespace

bool Facts::has_maps() const {
    return std::ranges::any_of(arguments, [](const Argument& a) { return a.param->box.has_value(); });
}

Facts facts_of(const Program& program, const LaunchRule& rule,
               const std::optional<Kernel::TextLaunch>& text) {
    const isa::PtxVersion least = program.min_ptx();
    Facts facts{program,
                rule,
                {},
                {},
                config_of(program, {}),
                text ? text->entry : program.name(),
                text ? text->version : fmt::format("{}.{}", least.major, least.minor)};
    if (text) facts.launch.shared_bytes = text->dynamic_shared;
    if (program.where())
        facts.script = fmt::format("{}:{}", program.where().file.base(), program.where().line);
    else
        facts.script = "a script";
    Names names(program);
    for (const Param& param : program.params())
        if (!param.variable)
            facts.arguments.push_back(
                {&param, param.box ? names.map_parameter(param.name) : names.parameter(param.name), {}, {}});
    for (Argument& argument : facts.arguments) {
        if (argument.param->box)
            argument.extents = extents_of(argument.name, argument.param->box->extents.size(), names);
        for (const auto& [name, note] : rule.notes)
            if (name == argument.param->name) argument.note = note;
    }
    return facts;
}

const std::string& name_of(const Facts& facts, std::string_view name) {
    return std::ranges::find(facts.arguments, name,
                             [](const Argument& a) -> std::string_view { return a.param->name; })
        ->name;
}

std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
    std::string out;
    for (;;) {
        const std::size_t at = text.find('@');
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + 1);
        const std::size_t end = text.find('@');
        const auto value =
            std::ranges::find(values, text.substr(0, end), [](const auto& v) { return v.first; });
        out += value->second;
        text.remove_prefix(end + 1);
    }
}

std::string script_type(const Param& param) {
    const std::string_view constant = param.constant ? "const " : "";
    if (param.box) return fmt::format("{}tensor of {}", constant, to_string(param.box->dtype));
    if (param.pointee) return fmt::format("{}{}*", constant, to_string(*param.pointee));
    if (param.structure > 0)
        return fmt::format("structure of {}, aligned to {}", count_of(param.structure, "byte"),
                           param.align());
    return std::string(isa::to_string(param.type));
}

std::string launch_comment(const Facts& facts, std::string_view prefix) {
    const Dim3 cluster = facts.program.cluster();
    std::string out = fmt::format("{}  grid: CTAs", prefix);
    if (cluster.volume() > 1)
        out += fmt::format(", a whole number of clusters of {} x {} x {}", cluster.x, cluster.y, cluster.z);
    if (facts.rule.tiles) out += fmt::format("; {}_grid computes it", facts.name());
    out += '\n';
    for (const Argument& argument : facts.arguments) {
        out += fmt::format("{}  {}: {}", prefix, argument.name, script_type(*argument.param));
        if (argument.param->box)
            out += fmt::format(", packed, of {}: its extents in elements, the last one contiguous",
                               fmt::join(argument.extents, " x "));
        if (argument.param->least > 0) out += fmt::format("; at least {}", argument.param->least);
        if (!argument.note.empty()) out += fmt::format("; {}", escape::comment(argument.note));
        out += '\n';
    }
    return out;
}

MapEnumerators enumerators_of(const TensorBox& box) {
    // In the order of TensorMapType and of SwizzleMode.
    constexpr std::array<std::string_view, 13> types{
        "CU_TENSOR_MAP_DATA_TYPE_UINT8",       "CU_TENSOR_MAP_DATA_TYPE_UINT16",
        "CU_TENSOR_MAP_DATA_TYPE_UINT32",      "CU_TENSOR_MAP_DATA_TYPE_INT32",
        "CU_TENSOR_MAP_DATA_TYPE_UINT64",      "CU_TENSOR_MAP_DATA_TYPE_INT64",
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT16",     "CU_TENSOR_MAP_DATA_TYPE_FLOAT32",
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT64",     "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
        "CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ", "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32",
        "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ"};
    constexpr std::array<std::string_view, 4> swizzles{
        "CU_TENSOR_MAP_SWIZZLE_NONE", "CU_TENSOR_MAP_SWIZZLE_32B", "CU_TENSOR_MAP_SWIZZLE_64B",
        "CU_TENSOR_MAP_SWIZZLE_128B"};
    if (box.pixels || !box.steps.empty())
        throw ArgumentError("an exported launch makes tensor maps of boxes, without steps");
    const gpu::TensorMapSpec spec = map_spec(box, TensorShape(box.extents.size(), 1), 0);
    return {types.at(static_cast<std::size_t>(spec.type)),
            swizzles.at(static_cast<std::size_t>(spec.swizzle)),
            spec.nan_fill ? "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA"
                          : "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"};
}

std::string wrapped(const std::vector<std::string>& declarations, std::string_view indent) {
    constexpr std::size_t width = 116;
    std::string out;
    std::size_t column = width;
    for (const std::string& declaration : declarations) {
        if (!out.empty()) out += ',';
        if (column + declaration.size() + 2 > width) {
            out += fmt::format("\n{}", indent);
            column = indent.size();
        } else {
            out += ' ';
        }
        out += declaration;
        column += declaration.size() + 2;
    }
    return out;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
    return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string contiguous_first(const Argument& argument) {
    const std::vector<std::string> reversed(argument.extents.rbegin(), argument.extents.rend());
    return fmt::format("{}", fmt::join(reversed, ", "));
}

}  // namespace wgrun::exporting
