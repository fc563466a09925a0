// Kernels that others have made are checked as scripts are: the same rules, the same exit codes.
#include "bindings/cli/check_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/decided.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/launch_file.hpp"
#include "wgrun/foreign.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::cli {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const {
        if (file != stdin) std::fclose(file);
    }
};

std::string contents(const std::string& name) {
    errno = 0;
    const std::unique_ptr<std::FILE, CloseFile> file(name == "-" ? stdin : std::fopen(name.c_str(), "rb"));
    std::string text;
    char piece[1 << 16];
    while (file != nullptr && std::ferror(file.get()) == 0) {
        const std::size_t read = std::fread(piece, 1, sizeof piece, file.get());
        text.append(piece, read);
        if (read == 0) break;
    }
    if (file == nullptr || std::ferror(file.get()) != 0)
        throw EnvironmentError("ENOENT", "cannot read " + name + ": " + std::strerror(errno));
    return text;
}

/// Whatever the file is called.
bool begins_as_ptx(const std::string& name) {
    std::array<char, 1 << 14> begin{};
    std::ifstream file(name, std::ios::binary);
    file.read(begin.data(), begin.size());
    return is_ptx({begin.data(), static_cast<std::size_t>(file.gcount())});
}

std::string counted(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Long names, as those of C++ templates are, are cut.
std::string shown(const std::string& name) {
    constexpr std::size_t longest = 72;
    return printable(name.size() <= longest ? name : name.substr(0, longest - 3) + "...");
}

std::string describe(const Request& request, const ForeignKernel& kernel) {
    std::string out = fmt::format("{}:{}: {}: {}", request.file, kernel.where.line, shown(kernel.name),
                                  counted(kernel.instructions, "instruction"));
    if (kernel.unread > 0) out += fmt::format(", {} not checked", kernel.unread);
    out += '\n';
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(kernel.opcodes.size(), most); ++i) {
        const auto& [opcode, lines] = kernel.opcodes[i];
        out += fmt::format("  not checked: {} ({})\n", opcode,
                           lines.size() == 1
                               ? fmt::format("line {}", lines[0])
                               : fmt::format("{} times, first in line {}", lines.size(), lines[0]));
    }
    if (kernel.opcodes.size() > most) out += fmt::format("  and {} more\n", kernel.opcodes.size() - most);
    for (const std::string& sentence : kernel.undecided) out += fmt::format("  not decided: {}\n", sentence);
    return out;
}

std::string as_json(const ForeignText& text, std::span<const Diagnostic> findings) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(findings));
    json["kernels"] = nlohmann::ordered_json::array();
    for (const ForeignKernel& kernel : text.kernels) {
        nlohmann::ordered_json unread = nlohmann::ordered_json::object();
        for (const auto& [opcode, lines] : kernel.opcodes) unread[opcode] = lines;
        json["kernels"].push_back({{"name", kernel.name},
                                   {"line", kernel.where.line},
                                   {"instructions", kernel.instructions},
                                   {"unread", std::move(unread)},
                                   {"undecided", kernel.undecided}});
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Adds those findings that are not there yet.
void add(std::vector<Diagnostic>& findings, std::span<const Diagnostic> others) {
    for (const Diagnostic& other : others) {
        const bool known = std::ranges::any_of(findings, [&](const Diagnostic& finding) {
            return finding.rule == other.rule && finding.where == other.where &&
                   (!other.rule.empty() || finding.message == other.message);
        });
        if (!known) findings.push_back(other);
    }
}

/// Runs the launch on the simulator, once for each seed, and adds what the runs find, and what the checker
/// finds now that it knows the launch. A run that ends with errors is the last one.
/// Returns what was run, as a line.
std::string add_dynamic(const Request& request, std::string name, std::string text,
                        const PtxLaunches& launches, std::vector<Diagnostic>& findings) {
    const ForeignModule module(std::move(name), std::move(text));
    std::string ran;
    for (int seed = 1; seed <= launches.seeds; ++seed) {
        LaunchFile launch = read_launch(launches.file, module);
        if (launch.kernel.empty() && module.names().size() != 1)
            throw ArgumentError(fmt::format("{}: `kernel` is missing: the text has {} kernels", launches.file,
                                            module.names().size()));
        Kernel kernel = module.kernel(launch.kernel.empty() ? module.names().front() : launch.kernel);
        RunOptions& options = launch.options;
        options.backend = Backend::sim;
        options.seed = static_cast<std::uint64_t>(seed);
        options.numerics = request.numerics;
        options.unchecked = true;  // what the checker finds is told besides
        kernel.fit(options);
        add(findings, kernel.check());
        ran = fmt::format("{}: {} on the simulator\n", shown(kernel.program().name()),
                          counted(static_cast<std::size_t>(seed), "schedule"));
        try {
            kernel.run(options);
            add(findings, kernel.take_remarks());
        } catch (const CheckError& error) {
            add(findings, error.findings());
            return ran;
        } catch (const ArgumentError& error) {
            add(findings, {&error.finding(), 1});
            return ran;
        }
    }
    return ran;
}

}  // namespace

std::optional<std::string> ptx_text(Request& request) {
    if (request.file.ends_with(".ptx")) return contents(request.file);
    if (request.file != "-") {
        if (std::optional<std::string> made = ptx_from(request.file)) return made;
        return begins_as_ptx(request.file) ? std::optional(contents(request.file)) : std::nullopt;
    }
    if (request.text) return {};
    std::string text = contents(request.file);
    if (is_ptx(text)) return text;
    request.text = std::move(text);
    return {};
}

int check_ptx_text(const Request& request, std::string text, PtxReport report, const PtxLaunches& launches,
                   Results& results) {
    const std::string name = request.file == "-" ? "stdin" : request.file;
    const ForeignText checked = check_ptx(name, text);
    std::vector<Diagnostic> findings = checked.errors;
    for (const ForeignKernel& kernel : checked.kernels)
        findings.insert(findings.end(), kernel.findings.begin(), kernel.findings.end());
    std::string ran;
    if (!launches.file.empty() && checked.errors.empty())
        ran = add_dynamic(request, name, std::move(text), launches, findings);
    const auto errors =
        static_cast<std::size_t>(std::ranges::count(findings, Severity::error, &Diagnostic::severity));
    if (report == PtxReport::json) {
        results.write(as_json(checked, findings));
    } else if (report == PtxReport::sarif) {
        results.write(to_sarif(findings));
    } else {
        print_findings(request, findings);
        for (const ForeignKernel& kernel : checked.kernels) results.write(describe(request, kernel));
        results.write(ran);
        results.write(fmt::format("{}: {}, {}, {}\n", request.file, counted(checked.kernels.size(), "kernel"),
                                  counted(errors, "error"), counted(findings.size() - errors, "remark")));
        if (launches.file.empty() && errors == 0 && !checked.kernels.empty())
            results.write(fmt::format("  {}\n", left_to_a_run("a launch (--dynamic --launch FILE)")));
    }
    if (!results.finish()) return Exit::failed;
    if (!checked.errors.empty()) return Exit::not_assembled;
    return errors > 0 ? Exit::failed : Exit::ok;
}

}  // namespace wgrun::cli
