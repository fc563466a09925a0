// wgrun ptx FILE, wgrun cuda FILE: the text of every kernel of a script. No kernel runs.
#include <memory>

#include "bindings/cli/command.hpp"
#include "bindings/cli/print_kernels.hpp"

namespace wgrun::cli {
namespace text_detail {
namespace {

using Text = const std::string& (Kernel::*)();

struct Named {
    std::string name, text;
};

struct Texts {
    Text text;
    std::vector<Named> kernels;
    std::vector<Diagnostic> findings;
};

void add_text(Kernel& kernel, void* context) {
    auto& texts = *static_cast<Texts*>(context);
    // What a translated script is wrong about, its text is wrong about already.
    if (!kernel.program().translated()) {
        const std::vector<Diagnostic>& findings = kernel.check();
        texts.findings.insert(texts.findings.end(), findings.begin(), findings.end());
        if (has_errors(findings)) return;
    }
    texts.kernels.push_back({kernel.program().name(), (kernel.*texts.text)()});
}

void text_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    for_each_kernel(L, outcome, add_text, context);
}

int print_texts(const Request& request, Text text) {
    Results results(true);
    Texts texts{text, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, text_body, &texts);
    return print_kernels(
        results, request, outcome, texts.findings, texts.kernels,
        [](const Named& kernel) -> nlohmann::ordered_json {
            return {{"name", kernel.name}, {"text", kernel.text}};
        },
        [](const Named& kernel) { return kernel.text; });
}

template <Text plain, Text guarded, Text lines>
Command::Run declare(Arguments& arguments) {
    const auto lined = std::make_shared<bool>(false);
    arguments.flag("--lines", *lined,
                   "Name the script's lines, for assemblers and profilers (docs/debugging.md)");
    const auto asked = std::make_shared<bool>(false);
    arguments.flag("--guarded", *asked, "Print the guarded build, which reports hangs (docs/hangs.md)")
        .excludes("--lines");
    return [asked, lined](const Request& request) {
        return print_texts(request, *lined ? lines : *asked ? guarded : plain);
    };
}

}  // namespace
}  // namespace text_detail

const Command ptx_command{"ptx", "Print the PTX of every kernel of a script", Takes::script,
                          text_detail::declare<&Kernel::ptx, &Kernel::guarded_ptx, &Kernel::ptx_with_lines>};
const Command cuda_command{
    "cuda", "Print the CUDA C++ of every kernel of a script", Takes::script,
    text_detail::declare<&Kernel::cuda, &Kernel::guarded_cuda, &Kernel::cuda_with_lines>};

}  // namespace wgrun::cli
