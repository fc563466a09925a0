#include "wgrun/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "diag/json_writer.hpp"
#include "gpu/compile.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/target.hpp"

namespace wgrun {

CtasPerSm ctas_per_sm(const AssemblyReport& report, int threads) {
    const Target::Residents residents =
        sm_90a.residents(threads, report.static_shared + report.dynamic_shared, report.registers);
    const std::pair<std::int64_t, std::string_view> limits[] = {{residents.by_registers, "registers"},
                                                                {residents.by_shared, "shared memory"},
                                                                {residents.by_threads, "threads"},
                                                                {residents.by_ctas, "CTAs"}};
    const auto least = std::min_element(std::begin(limits), std::end(limits),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    return {static_cast<int>(least->first), least->second};
}

const std::string& ptxas_version() {
    static const std::string version = gpu::find_ptxas(true).version;  // a process
    return version;
}

std::string assembler_version(const AssemblyReport& report) {
    return report.assembler == "ptxas" ? ptxas_version() : std::string();
}

std::string to_text(const AssemblyReport& report, const Program& program) {
    const CtasPerSm ctas = ctas_per_sm(report, program.threads());
    const std::string version = assembler_version(report);
    std::string text = fmt::format("{} ({}, {}{}{})\n", program.name(), count_of(program.threads(), "thread"),
                                   report.assembler, version.empty() ? "" : " ", version);
    text += fmt::format("  registers      {} a thread (the program's values need at least {})\n",
                        report.registers, report.estimated);
    text +=
        fmt::format("  shared memory  {}\n", count_of(report.static_shared + report.dynamic_shared, "byte"));
    text += fmt::format("  occupancy      {} an SM, {} of {} warps; {} set the limit\n",
                        count_of(ctas.count, "CTA"), ctas.count * sm_90a.warps_of(program.threads()),
                        sm_90a.sm_warps(), ctas.limited_by);
    text += report.spill_stores + report.spill_loads == 0
                ? "  spills         none\n"
                : fmt::format("  spills         {} stored, {} loaded\n",
                              count_of(report.spill_stores, "byte"), count_of(report.spill_loads, "byte"));
    for (const std::string& note : report.notes) text += fmt::format("  note           {}\n", note);
    return text;
}

std::string to_json(const AssemblyReport& report, const Program& program) {
    const CtasPerSm ctas = ctas_per_sm(report, program.threads());
    JsonWriter json;
    json.begin('{');
    json.member("kernel", program.name());
    json.member("threads", program.threads());
    json.member("assembler", report.assembler);
    json.member("assembler_version", assembler_version(report));
    json.member("registers", report.registers);
    json.member("estimated", report.estimated);
    json.member("static_shared", report.static_shared);
    json.member("dynamic_shared", report.dynamic_shared);
    json.member("spill_stores", report.spill_stores);
    json.member("spill_loads", report.spill_loads);
    json.member("ctas_per_sm", ctas.count);
    json.member("limited_by", ctas.limited_by);
    json.key("notes");
    json.begin('[');
    for (const std::string& note : report.notes) json.value(note);
    json.end(']');
    json.end('}');
    return json.take();
}

}  // namespace wgrun
