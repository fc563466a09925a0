// wgrun sass FILE: the machine code of every kernel of a script, under the script's lines. No kernel runs.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>

#include "bindings/cli/command.hpp"
#include "bindings/cli/print_kernels.hpp"
#include "gpu/disassemble.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace sass_detail {
namespace {

using Json = nlohmann::ordered_json;

/// An instruction, or, if `address` is empty, a label.
struct Line {
    std::string address;  ///< in hexadecimal, bytes from the kernel's beginning
    std::string text;
    std::string file;  ///< of the script; empty if the assembler names none
    int line = 0;
};

struct Disassembled {
    std::string kernel;
    std::vector<Line> lines;
};

struct Visit {
    const std::atomic<bool>* stop;
    std::vector<Disassembled> kernels;
    std::vector<Diagnostic> findings;
};

/// The text between `before` and `after`, if both occur.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const std::size_t from = text.find(before);
    if (from == std::string_view::npos) return {};
    const std::size_t begin = from + before.size(), end = text.find(after, begin);
    return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin);
}

std::string_view trimmed(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

/// The output of nvdisasm, without directives and the padding at the end of the code.
std::vector<Line> read(const std::string& printed) {
    std::vector<Line> out;
    std::string file;
    int line = 0;
    std::istringstream input(printed);
    for (std::string row; std::getline(input, row);) {
        const std::string_view text = trimmed(row);
        if (text.starts_with("//## File")) {
            file = between(text, "\"", "\"");
            line = std::atoi(text.substr(std::min(text.size(), text.rfind("line ") + 5)).data());
        } else if (text.starts_with("/*")) {
            const std::string_view address = between(text, "/*", "*/");
            const std::string_view rest = trimmed(text.substr(address.size() + 4));
            const std::string_view instruction = rest.substr(0, rest.rfind(';'));
            if (instruction != "NOP" && !instruction.empty())
                out.push_back({std::string(address), std::string(trimmed(instruction)), file, line});
        } else if (text.starts_with(".L") && text.ends_with(":")) {
            out.push_back({"", std::string(text), file, line});
        }
    }
    while (!out.empty() && out.back().address.empty()) out.pop_back();
    return out;
}

void disassemble_kernel(Kernel& kernel, void* context) {
    auto& visit = *static_cast<Visit*>(context);
    const std::vector<Diagnostic>& findings = kernel.check();
    visit.findings.insert(visit.findings.end(), findings.begin(), findings.end());
    if (has_errors(findings)) return;
    const std::string options[] = {"-lineinfo"};
    const gpu::Cubin cubin = gpu::ptxas_assemble(kernel.ptx_with_lines(), options);
    visit.kernels.push_back({kernel.program().name(), read(gpu::disassemble(cubin.image, visit.stop, true))});
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    static_cast<Visit*>(context)->stop = &lua::session(L).stop;
    for_each_kernel(L, outcome, disassemble_kernel, context);
}

/// The lines of scripts, read once.
class Sources {
  public:
    std::string line(const std::string& file, int number) {
        const auto [found, added] = files_.try_emplace(file);
        if (added) {
            std::ifstream input(file);
            for (std::string line; std::getline(input, line);) found->second.push_back(std::move(line));
        }
        const bool here = number >= 1 && static_cast<std::size_t>(number) <= found->second.size();
        return here ? std::string(trimmed(found->second[static_cast<std::size_t>(number) - 1]))
                    : std::string();
    }

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

std::string to_text(const Disassembled& kernel, Sources& sources) {
    std::string text = fmt::format("{}\n", kernel.kernel);
    const Line* before = nullptr;
    for (const Line& line : kernel.lines) {
        const bool moved = before == nullptr || before->file != line.file || before->line != line.line;
        if (moved && !line.address.empty()) {
            text += fmt::format("{}:{}: {}\n", line.file, line.line,
                                printable(sources.line(line.file, line.line)));
            before = &line;
        }
        text += line.address.empty() ? fmt::format("  {}\n", line.text)
                                     : fmt::format("    {}  {}\n", line.address, line.text);
    }
    return text;
}

Json to_object(const Disassembled& kernel) {
    Json instructions = Json::array();
    for (const Line& line : kernel.lines)
        instructions.push_back(
            {{"address", line.address}, {"text", line.text}, {"file", line.file}, {"line", line.line}});
    return {{"kernel", kernel.kernel}, {"instructions", std::move(instructions)}};
}

int sass(const Request& request) {
    Results results(true);
    Visit visit{nullptr, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, body, &visit);
    Sources sources;
    return print_kernels(results, request, outcome, visit.findings, visit.kernels, to_object,
                         [&](const Disassembled& kernel) { return to_text(kernel, sources); });
}

}  // namespace
}  // namespace sass_detail

const Command sass_command{"sass",
                           "Print the machine code of every kernel of a script under the script's lines",
                           Takes::script, [](Arguments&) -> Command::Run { return sass_detail::sass; }};

}  // namespace wgrun::cli
