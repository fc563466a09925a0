// wgrun new KIND FILE: writes a commented kernel to start from, one of the scripts of the guide.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/lua/stdlib.hpp"
#include "file/replacement.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace new_detail {
namespace {

struct Options {
    std::string kind;
    std::string file;
    bool force = false;
};

using lua::StdlibFile;

/// "elementwise" of "01-elementwise"; empty for scripts that are not steps of the guide.
std::string_view kind_of(const StdlibFile& script) {
    const std::size_t dash = script.name.find_first_not_of("0123456789");
    return dash == 0 || script.name[dash] != '-' ? std::string_view() : script.name.substr(dash + 1);
}

/// The first sentence of the first comment, after "Step N of the guide (...): ".
std::string summary_of(const StdlibFile& script) {
    std::string comment;
    for (std::string_view rest = script.text; rest.starts_with("--");
         rest.remove_prefix(rest.find('\n') + 1)) {
        const std::string_view line = rest.substr(2, rest.find('\n') - 2);
        comment += line;
        if (line.ends_with('.')) break;
    }
    const std::size_t colon = comment.find(": ");
    const std::size_t begin = colon == std::string::npos ? 0 : colon + 2;
    const std::size_t end = comment.find(". ", begin);
    return comment.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

int list(const Request& request) {
    std::string text = "wgrun new KIND [FILE] writes one of these:\n";
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const StdlibFile& script : lua::guide_files()) {
        const std::string_view kind = kind_of(script);
        if (kind.empty()) continue;
        text += fmt::format("  {:<16} {}\n", kind, summary_of(script));
        json.push_back({{"kind", kind}, {"summary", summary_of(script)}});
    }
    Results results(false);
    results.write(request.json ? json.dump(2) + "\n" : text);
    return results.finish() ? Exit::ok : Exit::failed;
}

/// The script, adapted to the name `file`.
std::string text_of(const StdlibFile& script, const std::string& file) {
    std::string text(script.text);
    const std::string own = fmt::format("scripts/guide/{}.lua", script.name);
    for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + file.size()))
        text.replace(at, own.size(), file);
    return text;
}

int write_new(const Request& request, const Options& options) {
    if (options.kind.empty()) return list(request);
    std::vector<std::string_view> kinds;
    const StdlibFile* found = nullptr;
    for (const StdlibFile& script : lua::guide_files()) {
        kinds.push_back(kind_of(script));
        if (kind_of(script) == options.kind && !options.kind.empty()) found = &script;
    }
    if (found == nullptr) {
        remark(fmt::format("wgrun: there is no kind `{}`{} (wgrun new lists the kinds)", options.kind,
                           nearest(options.kind, kinds)));
        return Exit::usage;
    }
    const std::string file = options.file.empty() ? options.kind + ".lua" : options.file;
    if (!options.force && std::filesystem::exists(std::filesystem::symlink_status(file))) {
        remark(fmt::format("wgrun: {} already exists (--force replaces it)", file));
        return Exit::failed;
    }
    file::replace(file, text_of(*found, file));
    Results results(false);
    results.write(request.json
                      ? nlohmann::ordered_json{{"file", file}, {"kind", options.kind}}.dump(2) + "\n"
                      : fmt::format("{0}\nnext: wgrun {0}; wgrun check --dynamic {0}\n", printable(file)));
    return results.finish() ? Exit::ok : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option("KIND", options->kind, "The kind of kernel; without it, list them all");
    arguments.option("FILE", options->file, "The script to write (KIND.lua)");
    arguments.flag("--force", options->force, "Replace FILE if it exists");
    return [options](const Request& request) { return write_new(request, *options); };
}

}  // namespace
}  // namespace new_detail

const Command new_command{"new", "Write a commented kernel to start from", Takes::nothing,
                          new_detail::declare};

}  // namespace wgrun::cli
