#include "bindings/cli/kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bindings/cli/host.hpp"
#include "bindings/cli/verdicts.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {
namespace {

/// Places in the PTX of a script's kernel become places of the script; the PTX's line becomes a note.
void place_in_script(KeptKernel& kernel, const std::string& file, const std::vector<Where>& lines) {
    const auto script = [&](Where where) -> Where {
        if (where.file != FileName(file) || where.line < 1) return where;
        const auto at = static_cast<std::size_t>(where.line) - 1;
        return at < lines.size() && lines[at] ? lines[at] : kernel.where;
    };
    for (Diagnostic& finding : kernel.findings) {
        const Where of_ptx = finding.where;
        finding.where = script(of_ptx);
        for (Note& note : finding.notes) note.where = script(note.where);
        finding.facts.push_back({"ptx_line", static_cast<std::int64_t>(of_ptx.line)});
        finding.notes.insert(finding.notes.begin(),
                             {finding.where, fmt::format("line {} of its PTX", of_ptx.line)});
    }
    kernel.verdict.where = script(kernel.verdict.where);
    for (Where& place : kernel.places) place = script(place);
}

}  // namespace

std::vector<KeptKernel> kept_of_script(Kernel& kernel, const sass::Listing& listing, bool performance) {
    const std::string file = kernel.program().name() + ".ptx";
    std::vector<KeptKernel> out = kept_of_text(file, kernel.ptx(), listing, {}, performance);
    for (KeptKernel& one : out) {
        one.where = kernel.program().where();
        place_in_script(one, file, kernel.ptx_lines());
    }
    return out;
}

bool take_machine_code(Request& request, std::string& file) {
    if (has_machine_code_alone(request.file)) return true;  // such files are looked at one after the other
    std::vector<std::string> others;
    for (const std::string& one : request.args) {
        if (!carries_machine_code(one) && !has_machine_code_alone(one)) {
            others.push_back(one);
        } else if (!file.empty() || !others.empty()) {
            remark("wgrun: machine code stands behind its only text: FILE CUBIN");
            return false;
        } else {
            file = one;
        }
    }
    request.args = std::move(others);
    return true;
}

void KeptCode::add(Kernel& kernel, const std::atomic<bool>* stop) {
    std::ranges::move(
        kept_of_script(kernel,
                       file_.empty() ? machine_code_of(kernel.ptx(), {}, stop) : machine_code_in(file_, stop),
                       performance_),
        std::back_inserter(kernels_));
}

void KeptCode::add(const std::string& name, const std::string& text) {
    const bool carried = !file_.empty() && name.starts_with(file_);
    std::ranges::move(kept_of_text(name, text, file_.empty() ? machine_code_of(text) : machine_code_in(file_),
                                   carried ? ptx_starts(file_) : std::vector<int>(), performance_),
                      std::back_inserter(kernels_));
}

void KeptCode::add_alone(const std::string& path) {
    std::ranges::move(kept_alone(path, machine_code_in(path)), std::back_inserter(kernels_));
}

void KeptCode::add_findings(FindingSet& findings) const {
    for (const KeptKernel& kernel : kernels_) findings.add_wordings(kernel.findings);
}

void KeptCode::add_verdict(const std::string& kernel, std::vector<Verdict>& verdicts) const {
    for (auto one = kernels_.rbegin(); one != kernels_.rend(); ++one) {
        if (one->kernel != kernel) continue;
        verdicts.push_back(one->verdict);
        return;
    }
}

std::string KeptCode::text() const {
    std::string out;
    for (const KeptKernel& kernel : kernels_)
        out += fmt::format("{}: {} of machine code, {}, {} and {} compared\n", printable(kernel.kernel),
                           count_of(kernel.instructions, "instruction"), count_of(kernel.products, "product"),
                           count_of(kernel.compared, "operation"), count_of(kernel.values, "value"));
    return out;
}

void KeptCode::add_to(nlohmann::ordered_json& json) const {
    auto& list = json["machine_code"];
    if (list.is_null()) list = nlohmann::ordered_json::array();
    for (const KeptKernel& kernel : kernels_)
        list.push_back({{"kernel", kernel.kernel},
                        {"file", kernel.where.file},
                        {"line", kernel.where.line},
                        {"instructions", kernel.instructions},
                        {"products", kernel.products},
                        {"compared", kernel.compared},
                        {"values", kernel.values},
                        {"verdict", to_string(kernel.verdict.kind)}});
}

int check_machine_code(const Request& request, bool strict, Results& results) {
    KeptCode code;
    code.add_alone(request.file);
    for (const std::string& file : request.args) code.add_alone(file);
    FindingSet findings;
    code.add_findings(findings);
    int judged = Exit::ok;
    for (const KeptKernel& kernel : code.kernels())
        if (strict) judged = strict_code({&kernel.verdict, 1}, judged);
    if (request.json) {
        auto json = nlohmann::ordered_json::parse(to_json(findings.list()));
        json["kernels"] = nlohmann::ordered_json::array();
        for (const KeptKernel& kernel : code.kernels())
            json["kernels"].push_back({{"name", kernel.kernel},
                                       {"file", kernel.where.file},
                                       {"line", kernel.where.line},
                                       {"verdicts", verdicts_as_json({&kernel.verdict, 1})}});
        code.add_to(json);
        results.write(json.dump(2) + "\n");
    } else {
        print_findings(request, findings.list());
        results.write(code.text());
        for (const KeptKernel& kernel : code.kernels())
            results.write(to_text(printable(kernel.kernel), {&kernel.verdict, 1}));
    }
    if (!results.finish() || has_errors(findings.list())) return Exit::failed;
    return judged;
}

}  // namespace wgrun::cli
