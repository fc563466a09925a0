#include "export/manifest.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/json_writer.hpp"
#include "gpu/sha256.hpp"
#include "wgrun/version.hpp"

namespace wgrun::exporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "wgrun-export";
constexpr int format_version = 1;

void add(JsonWriter& out, std::string_view name, const std::vector<std::int64_t>& numbers) {
    out.key(name);
    out.begin('[');
    for (const std::int64_t number : numbers) out.value(number);
    out.end(']');
}

void add_flag(JsonWriter& out, std::string_view name, bool value) {
    out.key(name);
    out.verbatim(value ? "true" : "false");
}

template <class Number>
void add_known(JsonWriter& out, std::string_view name, const std::optional<Number>& value) {
    out.key(name);
    out.verbatim(value ? std::to_string(*value) : "null");
}

void add_argument(JsonWriter& out, const Argument& argument) {
    const Param& param = *argument.param;
    out.begin('{');
    out.member("name", param.name);
    out.member("c_name", argument.name);
    if (param.box) {
        constexpr std::string_view swizzles[] = {"none", "32B", "64B", "128B"};
        out.member("kind", std::string_view("tensor_map"));
        out.member("type", to_string(param.box->dtype));
        add_flag(out, "const", param.constant);
        out.key("extents");
        out.begin('[');
        for (const std::string& extent : argument.extents) out.value(extent);
        out.end(']');
        add(out, "box", param.box->extents);
        out.member("swizzle", swizzles[static_cast<std::size_t>(param.box->swizzle)]);
        out.member("outside", std::string_view(param.box->nan_fill ? "nan" : "zero"));
    } else if (param.pointee) {
        out.member("kind", std::string_view("pointer"));
        out.member("type", to_string(*param.pointee));
        add_flag(out, "const", param.constant);
    } else if (param.structure > 0) {
        out.member("kind", std::string_view("structure"));
        out.member("bytes", param.structure);
        out.member("align", param.align());
    } else {
        out.member("kind", std::string_view("scalar"));
        out.member("type", isa::to_string(param.type));
        if (param.least > 0) out.member("least", param.least);
    }
    if (!argument.note.empty()) out.member("note", argument.note);
    out.end('}');
}

void add_grid(JsonWriter& out, const std::optional<LaunchRule::Tiles>& rule) {
    out.key("grid");
    out.begin('{');
    out.member("rule", std::string_view(rule ? "persistent_tiles" : "caller"));
    if (rule) {
        out.member("rows", rule->rows);
        out.member("columns", rule->columns);
        add(out, "tile", {rule->m, rule->n});
        out.member("parts", rule->parts);
    }
    out.end('}');
}

}  // namespace

std::string manifest(const Facts& facts, const Assembled& assembled, const std::vector<File>& files) {
    const Program& program = facts.program;
    const Dim3 cluster = program.cluster();
    JsonWriter out;
    out.begin('{');
    out.member("format", format_name);
    out.member("format_version", format_version);
    out.member("wgrun", std::string_view(WGRUN_VERSION));
    out.member("script", facts.script);
    out.member("name", program.name());
    out.member("target", sm_90a.name);
    out.member("ptx_version", facts.ptx_version);
    out.member("threads", program.threads());
    add(out, "cluster", {cluster.x, cluster.y, cluster.z});
    add_flag(out, "non_portable_cluster", facts.launch.non_portable_cluster);
    add_flag(out, "overlaps_previous", facts.launch.overlaps_previous);
    out.member("shared_bytes", facts.launch.shared_bytes);
    add_grid(out, facts.rule.tiles);
    if (facts.entry != program.name()) out.member("entry", facts.entry);
    out.key("arguments");
    out.begin('[');
    for (const Argument& argument : facts.arguments) add_argument(out, argument);
    out.end(']');
    std::optional<int> registers, spilled;
    if (assembled.report) {
        registers = assembled.report->registers;
        spilled = assembled.report->spill_store_bytes;
    }
    add_known(out, "registers", registers);
    add_known(out, "spill_bytes", spilled);
    if (!assembled.missing.empty()) out.member("no_cubin", assembled.missing);
    out.key("files");
    out.begin('[');
    for (const File& file : files) {
        out.begin('{');
        out.member("name", file.name);
        out.member("bytes", file.content.size());
        out.member("sha256", gpu::sha256(file.content));
        out.end('}');
    }
    out.end(']');
    out.end('}');
    return out.take() + "\n";
}

std::optional<std::vector<Listed>> files_of_manifest(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != Json(format_name)) return std::nullopt;
    std::vector<Listed> out;
    const auto files = json.find("files");
    if (files == json.end() || !files->is_array()) return std::nullopt;
    for (const Json& file : *files) {
        if (!file.is_object()) return std::nullopt;
        const Json name = file.value("name", Json());
        const Json hash = file.value("sha256", Json());
        if (!name.is_string() || !hash.is_string()) return std::nullopt;
        out.push_back({name.get<std::string>(), hash.get<std::string>()});
    }
    return out;
}

}  // namespace wgrun::exporting
