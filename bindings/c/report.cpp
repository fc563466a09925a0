// The assembler's report on a kernel.
#include "bindings/c/findings.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/with_kernel.hpp"
#include "wgrun/assembly.hpp"

using namespace wgrun::c;

extern "C" {

int wgrun_kernel_report(wgrun_kernel* kernel, wgrun_report* report, wgrun_findings** findings) {
    return with_limited_work(kernel, [&](KernelRef& ref) {
        write_struct(report, wgrun_report{}, "report");
        const wgrun::Program& program = ref.kernel->program();
        const wgrun::AssemblyReport made = ref.kernel->report();
        ref.assembler = made.assembler;
        ref.assembler_version = wgrun::assembler_version(made);
        ref.report_json = wgrun::to_json(made, program);
        const wgrun::CtasPerSm ctas = wgrun::ctas_per_sm(made, program.threads());
        wgrun_report out{};
        out.threads = program.threads();
        out.registers = made.registers;
        out.estimated = made.estimated;
        out.spill_stores = made.spill_stores;
        out.spill_loads = made.spill_loads;
        out.static_shared = made.static_shared;
        out.dynamic_shared = made.dynamic_shared;
        out.ctas_per_sm = ctas.count;
        out.limited_by = ctas.limited_by.data();  // constants, which end with NUL
        out.assembler = ref.assembler.c_str();
        out.assembler_version = ref.assembler_version.c_str();
        out.json = ref.report_json.c_str();
        if (findings != nullptr) give_findings(findings, made.findings);
        write_struct(report, out, "report");
    });
}

}  // extern "C"
