// wgrun export FILE -o FOLDER: every kernel of a script, or one, for programs without wgrun. No kernel runs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/export.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::cli {
namespace export_detail {
namespace {

struct Options {
    std::string folder;  ///< the folder for the files
    std::string kernel;  ///< this one; empty: all
};

struct Work {
    const Options& options;
    std::vector<Diagnostic> findings;
    std::vector<Exported> written;
};

/// Prints the findings of the kernels to be written; true if there is an error among them.
bool check_kernels(const std::vector<Export>& kernels, std::vector<Diagnostic>& findings) {
    bool wrong = false;
    for (const Export& wanted : kernels)
        for (const Diagnostic& finding : wanted.kernel->check()) {
            findings.push_back(finding);
            wrong = wrong || finding.severity == Severity::error;
        }
    return wrong;
}

void write_kernels(const std::string& file, std::vector<Export>& kernels, Work& work) {
    const std::string& wanted = work.options.kernel;
    std::vector<std::string_view> names;
    names.reserve(kernels.size());
    for (const Export& made : kernels) names.push_back(made.kernel->program().name());
    if (names.empty()) throw ArgumentError(file + " makes no kernel, so there is nothing to export");
    const std::string unknown =
        fmt::format("{} makes no kernel `{}`{}", file, wanted, nearest(wanted, names));
    std::erase_if(kernels, [&](const Export& made) {
        return !wanted.empty() && made.kernel->program().name() != wanted;
    });
    if (kernels.empty()) throw ArgumentError(unknown);
    if (!check_kernels(kernels, work.findings)) work.written = export_kernels(kernels, work.options.folder);
}

void export_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& work = *static_cast<Work*>(context);
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    if (outcome.code != Exit::ok) return;
    auto& kernels = lua::held<std::vector<Export>>(L);
    lua::push_kernels(L);
    const int list = lua_gettop(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, list, i);  // the list keeps it
        lua::add_export(L, lua_gettop(L), kernels);
        lua_pop(L, 1);
    }
    lua::guarded(L, [&] { write_kernels(request.name(), kernels, work); });
}

std::string listing(const std::string& folder, const Exported& written) {
    std::string out;
    for (const ExportedFile& file : written.files)
        out += (std::filesystem::path(folder) / file.name).string() + "\n";
    return out;
}

nlohmann::ordered_json to_json(const Exported& written) {
    nlohmann::ordered_json out = {
        {"name", written.name}, {"files", nlohmann::ordered_json::array()}, {"registers", nullptr}};
    for (const ExportedFile& file : written.files) out["files"].push_back(file.name);
    if (written.registers) out["registers"] = *written.registers;
    if (!written.no_cubin.empty()) out["no_cubin"] = written.no_cubin;
    return out;
}

int export_files(const Request& request, const Options& options) {
    Results results(true);
    Work work{options, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, export_body, &work);
    work.findings.insert(work.findings.end(), outcome.findings.begin(), outcome.findings.end());
    if (request.json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::parse(wgrun::to_json(work.findings));
        json["folder"] = options.folder;
        json["kernels"] = nlohmann::ordered_json::array();
        for (const Exported& written : work.written) json["kernels"].push_back(to_json(written));
        results.write(json.dump(2) + "\n");
    } else {
        print_findings(request, work.findings);
        for (const Exported& written : work.written) {
            results.write(listing(options.folder, written));
            if (!written.no_cubin.empty())
                remark(fmt::format("wgrun: no {}.cubin, {}.c holds PTX: {}", written.name, written.name,
                                   written.no_cubin));
        }
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    if (outcome.code != Exit::ok) return outcome.code;
    return work.written.empty() ? Exit::failed : Exit::ok;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option("-o", options->folder, "Folder for the files").unit("FOLDER").required();
    arguments.option("--kernel", options->kernel, "Export only this kernel").unit("NAME");
    return [options](const Request& request) { return export_files(request, *options); };
}

}  // namespace
}  // namespace export_detail

const Command export_command{"export",
                             "Write the kernels of a script, and host code, for programs without wgrun",
                             Takes::script, export_detail::declare};

}  // namespace wgrun::cli
