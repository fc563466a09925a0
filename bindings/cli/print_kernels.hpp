// How commands print what they have found out about each kernel of a script.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {

/// Prints the findings, those of the outcome last, and of each kernel to_text(kernel), or with --json one
/// object that has to_object(kernel) in its list `kernels`. Returns the exit code.
template <class Kernel, class ToObject, class ToText>
int print_kernels(Results& results, const Request& request, const Outcome& outcome,
                  std::vector<Diagnostic> findings, const std::vector<Kernel>& kernels, ToObject to_object,
                  ToText to_text) {
    findings.insert(findings.end(), outcome.findings.begin(), outcome.findings.end());
    if (request.json) {
        auto json = nlohmann::ordered_json::parse(to_json(findings));
        json["kernels"] = nlohmann::ordered_json::array();
        for (const Kernel& kernel : kernels) json["kernels"].push_back(to_object(kernel));
        results.write(json.dump(2) + "\n");
    } else {
        print_findings(request, findings);
        for (const Kernel& kernel : kernels) results.write(to_text(kernel));
    }
    return conclude(results, outcome, findings);
}

}  // namespace wgrun::cli
