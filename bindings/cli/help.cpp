// wgrun help [NAME]: the documentation of a function, a type, a method, an option table or an instruction.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/docs.hpp"
#include "bindings/lua/guard.hpp"
#include "file/replacement.hpp"
#include "wgrun/lua.hpp"

namespace wgrun::cli {
namespace help_detail {
namespace {

using lua::Documentation;
using lua::Entry;

struct Options {
    std::string name;
    std::string markdown, annotations;  ///< folders for pages; empty: none
};

/// Writes the pages into the folder, and keeps other files there.
void write_pages(const std::vector<lua::Page>& pages, const std::string& folder) {
    for (const lua::Page& page : pages) {
        const std::filesystem::path path = std::filesystem::path(folder) / page.path;
        std::error_code failed;
        std::filesystem::create_directories(path.parent_path(), failed);
        if (failed)
            throw EnvironmentError("EIO",
                                   fmt::format("{}: {}", path.parent_path().string(), failed.message()));
        file::Replacement out(path, file::Durable::no);
        out.write(page.text);
        out.complete();
    }
}

nlohmann::ordered_json list_of(const std::vector<lua::Described>& list) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const lua::Described& one : list) {
        nlohmann::ordered_json object;
        if (!one.name.empty()) object["name"] = one.name;
        object["type"] = one.type;
        object["optional"] = one.optional;
        if (!one.fallback.empty()) object["default"] = one.fallback;
        if (!one.text.empty()) object["text"] = one.text;
        out.push_back(std::move(object));
    }
    return out;
}

/// Empty fields are absent.
nlohmann::ordered_json to_object(const Entry& entry) {
    nlohmann::ordered_json out{{"name", entry.name}, {"kind", lua::to_string(entry.kind)}};
    if (entry.kind != lua::MemberKind::type) out["signature"] = entry.signature();
    out["summary"] = entry.summary();
    out["text"] = entry.text;
    const auto add = [&](const char* key, const std::vector<lua::Described>& list) {
        if (!list.empty()) out[key] = list_of(list);
    };
    add("arguments", entry.params);
    add("options", entry.options);
    add("results", entry.results);
    add("fields", entry.fields);
    for (const auto& [key, text] : {std::pair{"raises", &entry.raises},
                                    {"example", &entry.example},
                                    {"ptx", &entry.ptx},
                                    {"section", &entry.section},
                                    {"executed_by", &entry.executed_by}})
        if (!text->empty()) out[key] = *text;
    if (!entry.forms.empty()) out["forms"] = entry.forms;
    if (!entry.see.empty()) out["see"] = entry.see;
    return out;
}

/// One entry, or a list of all.
std::string json_of(const Documentation& docs, const Entry* entry) {
    if (entry != nullptr) return to_object(*entry).dump(2) + '\n';
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Entry& one : docs.all()) all.push_back(to_object(one));
    return all.dump(2) + '\n';
}

struct Asked {
    const Request& request;
    const Options& options;
    std::string text;
    std::string problem;
};

void look_up(lua_State* L, const Request&, Outcome&, void* context) {
    Asked& asked = *static_cast<Asked*>(context);
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    const Documentation& docs = lua::documentation(L);
    lua::guarded(L, [&] {
        const Options& options = asked.options;
        if (!options.markdown.empty()) write_pages(lua::markdown_pages(docs), options.markdown);
        if (!options.annotations.empty()) write_pages(lua::annotation_pages(docs), options.annotations);
        if (!options.markdown.empty() || !options.annotations.empty()) return;
        const std::string& name = asked.options.name;
        if (asked.request.json && (name.empty() || docs.find(name) != nullptr)) {
            asked.text = json_of(docs, docs.find(name));
            return;
        }
        try {
            asked.text = lua::help_text(docs, name, 0, {"wgrun help", "wgrun help NAME"});
        } catch (const ArgumentError& error) {
            asked.problem = error.what();
        }
    });
}

int help(const Request& request, const Options& options) {
    Asked asked{request, options, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, look_up, &asked);
    if (outcome.code != Exit::ok) {
        print_findings(request, outcome.findings);
        return outcome.code;
    }
    if (!asked.problem.empty()) {
        remark("wgrun: " + asked.problem);
        return Exit::usage;
    }
    Results results(false);
    results.write(asked.text);
    return results.finish() ? Exit::ok : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option(
        "NAME", options->name,
        "Such as wg.tile, tile, tile:offset, k:loop, k:wgmma_fence; or words: multicast, bank conflict");
    arguments.option("--markdown", options->markdown, "Write docs/api.md and docs/api/ below this folder")
        .unit("FOLDER");
    arguments
        .option("--annotations", options->annotations,
                "Write annotations for the Lua language server into this folder")
        .unit("FOLDER");
    return [options](const Request& request) { return help(request, *options); };
}

}  // namespace
}  // namespace help_detail

const Command help_command{"help", "Describe a function, type, method or instruction, or list them",
                           Takes::nothing, help_detail::declare};

}  // namespace wgrun::cli
