#include "export/manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gpu/sha256.hpp"
#include "wgrun/version.hpp"

namespace wgrun::exporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "wgrun-export";
constexpr int format_version = 1;

Json argument_json(const Argument& argument) {
    const Param& param = *argument.param;
    Json out = {{"name", param.name}, {"c_name", argument.name}};
    if (param.box) {
        constexpr std::string_view swizzles[] = {"none", "32B", "64B", "128B"};
        out["kind"] = "tensor_map";
        out["type"] = to_string(param.box->dtype);
        out["const"] = param.constant;
        out["extents"] = argument.extents;
        out["box"] = param.box->extents;
        out["swizzle"] = swizzles[static_cast<std::size_t>(param.box->swizzle)];
        out["outside"] = param.box->nan_fill ? "nan" : "zero";
    } else if (param.pointee) {
        out["kind"] = "pointer";
        out["type"] = to_string(*param.pointee);
        out["const"] = param.constant;
    } else if (param.structure > 0) {
        out["kind"] = "structure";
        out["bytes"] = param.structure;
        out["align"] = param.align();
    } else {
        out["kind"] = "scalar";
        out["type"] = isa::to_string(param.type);
    }
    if (!argument.note.empty()) out["note"] = argument.note;
    return out;
}

Json grid_json(const std::optional<LaunchRule::Tiles>& rule) {
    if (!rule) return {{"rule", "caller"}};
    return {{"rule", "persistent_tiles"},
            {"rows", rule->rows},
            {"columns", rule->columns},
            {"tile", {rule->m, rule->n}},
            {"parts", rule->parts}};
}

}  // namespace

std::string manifest(const Facts& facts, const Assembled& assembled, const std::vector<File>& files) {
    const Program& program = facts.program;
    const Dim3 cluster = program.cluster();
    Json out = {{"format", format_name},
                {"format_version", format_version},
                {"wgrun", WGRUN_VERSION},
                {"script", facts.script},
                {"name", program.name()},
                {"target", sm_90a.name},
                {"ptx_version", facts.ptx_version},
                {"threads", program.threads()},
                {"cluster", {cluster.x, cluster.y, cluster.z}},
                {"non_portable_cluster", facts.launch.non_portable_cluster},
                {"overlaps_previous", facts.launch.overlaps_previous},
                {"shared_bytes", facts.launch.shared_bytes},
                {"grid", grid_json(facts.rule.tiles)}};
    if (facts.entry != program.name()) out["entry"] = facts.entry;
    out["arguments"] = Json::array();
    for (const Argument& argument : facts.arguments) out["arguments"].push_back(argument_json(argument));
    out["registers"] = nullptr;
    out["spill_bytes"] = nullptr;
    if (assembled.report) {
        out["registers"] = assembled.report->registers;
        out["spill_bytes"] = assembled.report->spill_store_bytes;
    }
    if (!assembled.missing.empty()) out["no_cubin"] = assembled.missing;
    out["files"] = Json::array();
    for (const File& file : files)
        out["files"].push_back(
            {{"name", file.name}, {"bytes", file.content.size()}, {"sha256", gpu::sha256(file.content)}});
    // A file name may hold any bytes.
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
