// wgrun lua FILE: kernels of a PTX text as a script that builds them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/check_ptx.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/launch_file.hpp"
#include "file/replacement.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/foreign.hpp"

namespace wgrun::cli {
namespace lua_detail {
namespace {

struct Asked {
    std::string file, kernel, launch, out;
};

/// Returns the launch that the option names, and in `name` the kernel that it launches.
LaunchFile launch_of(const Asked& asked, const ForeignModule& module, std::string& name) {
    LaunchFile launch = read_launch(asked.launch, module);
    if (name.empty()) name = launch.kernel;
    return launch;
}

std::string as_json(const TranslatedText& script) {
    const nlohmann::ordered_json json{{"script", script.text}, {"remarks", script.remarks}};
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Whether the kernel has more instructions than are allowed, which it says then.
bool is_too_large(const Request& request, const Kernel& kernel) {
    const std::uint64_t most = request.limits.program;
    std::uint64_t count = 0;
    for (const BasicBlock& block : kernel.program().blocks()) count += block.steps.size();
    if (most == 0 || count <= most) return false;
    const Diagnostic finding = plain_error(
        fmt::format("the kernel has {} instructions, and is not translated: {} are allowed", count, most),
        "a higher limit (--max-program)", kernel.program().where());
    print_findings(request, {&finding, 1});
    return true;
}

int translate(Request request, const Asked& asked) {
    request.file = asked.file;
    const std::optional<std::string> text = ptx_text(request);
    if (!text && request.file != "-" && !std::ifstream(request.file)) throw Unreadable(request.file);
    Results results(true);
    if (!text || (!is_ptx(*text) && !request.file.ends_with(".ptx"))) {
        remark(fmt::format("wgrun: {} is no PTX: a text begins with .version", request.name()));
        return Exit::not_assembled;
    }
    try {
        const ForeignModule module(request.name(), *text);
        std::string name = asked.kernel;
        std::optional<LaunchFile> launch;
        if (!asked.launch.empty()) launch = launch_of(asked, module, name);
        std::vector<std::string> names = name.empty() ? module.names() : std::vector{name};
        if (launch && names.size() != 1)
            throw ArgumentError(fmt::format("{}: `kernel` is missing: the text has {}", asked.launch,
                                            count_of(names.size(), "kernel")));
        for (const std::string& one : names)
            if (is_too_large(request, module.kernel(one))) return Exit::failed;
        const TranslatedText script = module.script(names, launch ? &launch->options : nullptr);
        for (const std::string& said : script.remarks) remark(fmt::format("{}: {}", request.name(), said));
        if (asked.out.empty()) {
            results.write(request.json ? as_json(script) : script.text);
            return results.finish() ? Exit::ok : Exit::failed;
        }
        file::replace(asked.out, script.text);
        return Exit::ok;
    } catch (const CheckError& error) {
        print_findings(request, error.findings());
        return Exit::not_assembled;
    }
}

}  // namespace
}  // namespace lua_detail

const Command lua_command{
    "lua", "Print the kernels of a PTX text as a script that builds them", Takes::text,
    [](Arguments& arguments) -> Command::Run {
        const auto asked = std::make_shared<lua_detail::Asked>();
        arguments.option("FILE", asked->file, "The PTX text; - is standard input").required();
        arguments.option("--kernel", asked->kernel, "Translate this kernel alone").unit("NAME");
        arguments
            .option("--launch", asked->launch,
                    "Describes a launch, which tells threads, clusters and boxes (JSON, docs/foreign.md)")
            .unit("FILE");
        arguments.option("-o,--output", asked->out, "Write the script to this file").unit("FILE");
        return [asked](const Request& request) { return lua_detail::translate(request, *asked); };
    }};

}  // namespace wgrun::cli
