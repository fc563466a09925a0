#include "bindings/cli/codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "gpu/error_codes.hpp"
#include "kernel/assembler_notes.hpp"

namespace wgrun::cli {
namespace {

/// What the assembler does about it, by the rule that reports it.
std::string consequence(const AssemblerCode& code) {
    if (code.rule == &rules::WG_PERF_02) return fmt::format("the assembler inserts {}", code.message);
    if (code.rule == &rules::WG_PERF_03) return fmt::format("setmaxnreg has no effect: {}", code.message);
    return fmt::format("the wgmma are serialized: {}", code.message);
}

ExplainedCode explained(const AssemblerCode& code) {
    const std::string meaning = consequence(code);
    const std::string_view in_ptx = code.fix_in_ptx.empty() ? code.fix : code.fix_in_ptx;
    std::string text = fmt::format("{} (a note of ptxas, {}): {}\n\ncause: {}\nfix: {}\n", code.code,
                                   code.rule->id, meaning, code.cause, code.fix);
    if (in_ptx != code.fix) text += fmt::format("in PTX: {}\n", in_ptx);
    text += fmt::format(
        "\n`wgrun check --assemble FILE` names the lines; `wgrun explain {}` says what it costs.\n",
        code.rule->id);
    return {std::move(text),
            {{"code", code.code},
             {"rule", code.rule->id},
             {"meaning", meaning},
             {"cause", code.cause},
             {"fix", code.fix},
             {"fix_in_ptx", in_ptx}}};
}

ExplainedCode explained(const gpu::ErrorCode& code) {
    std::string names;
    if (!code.name.empty()) names = fmt::format("CUDA_ERROR_{}", code.name);
    if (!code.runtime.empty()) names += fmt::format("{}cudaError{}", names.empty() ? "" : ", ", code.runtime);
    std::string text =
        fmt::format("{} (error {} of CUDA): {}\n\ncause: {}\n", names, code.number, code.meaning, code.cause);
    if (!code.remedy.empty()) text += fmt::format("fix: {}\n", code.remedy);
    return {std::move(text),
            {{"code", names},
             {"number", code.number},
             {"meaning", code.meaning},
             {"cause", code.cause},
             {"fix", code.remedy}}};
}

}  // namespace

std::optional<ExplainedCode> explain_code(std::string_view word) {
    std::string upper(word);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const std::span<const AssemblerCode> notes = assembler_codes();
    const auto note = std::ranges::find(notes, upper, &AssemblerCode::code);
    if (note != notes.end()) return explained(*note);
    if (const gpu::ErrorCode* error = gpu::find_error(word)) return explained(*error);
    return {};
}

}  // namespace wgrun::cli
