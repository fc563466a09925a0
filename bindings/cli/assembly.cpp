#include "bindings/cli/assembly.hpp"

#include <fmt/format.h>

#include "bindings/cli/host.hpp"
#include "kernel/assembler_faults.hpp"
#include "wgrun/assembly.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::cli {

void Assembly::add(Kernel& kernel, const std::string& name, const std::atomic<bool>* stop,
                   FindingSet& findings) {
    try {
        AssemblyReport report = kernel.report(stop);
        findings.add_wordings(report.findings);
        if (const auto version = assembler_version_of(assembler_version(report)))
            findings.add_wordings(faults_hitting(kernel.program(), *version));
        reports.emplace_back(name, std::move(report));
    } catch (const EnvironmentError& error) {
        if (error.code() == "ECOMPILE" || error.code() == "EINTR") throw;
        if (error.code() == "ETIMEDOUT") throw EnvironmentError("ECOMPILE", error.what());
        missing = error.what();
    }
}

std::string Assembly::text() const {
    std::string out;
    for (const auto& [name, report] : reports) {
        const std::string version = assembler_version(report);
        out += fmt::format("{}: {} a thread (estimate: {}), {} of shared memory, {} spilled ({})\n",
                           printable(name), count_of(report.registers, "register"), report.estimated,
                           count_of(report.static_shared + report.dynamic_shared, "byte"),
                           count_of(report.spill_stores, "byte"),
                           version.empty() ? report.assembler : report.assembler + " " + version);
    }
    if (!missing.empty()) out += fmt::format("not assembled: {}\n", missing);
    return out;
}

void Assembly::add_to(nlohmann::ordered_json& json) const {
    json["assembly"] = nlohmann::ordered_json::array();
    for (const auto& [name, report] : reports)
        json["assembly"].push_back({{"kernel", name},
                                    {"assembler", report.assembler},
                                    {"assembler_version", assembler_version(report)},
                                    {"registers", report.registers},
                                    {"estimated", report.estimated},
                                    {"spill_stores", report.spill_stores},
                                    {"spill_loads", report.spill_loads},
                                    {"static_shared", report.static_shared},
                                    {"dynamic_shared", report.dynamic_shared}});
    if (!missing.empty()) json["not_assembled"] = missing;
}

}  // namespace wgrun::cli
