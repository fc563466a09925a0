// Kernels: their properties, their text, and their launches.
#include <array>

#include "bindings/c/convert.hpp"
#include "bindings/c/findings.hpp"
#include "bindings/c/state.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/verdicts.hpp"
#include "bindings/c/with_kernel.hpp"

namespace wgrun::c {
namespace {

int kind_of_parameter(const Param& param) {
    if (param.box) return WGRUN_TENSOR_MAP;
    if (param.pointee) return WGRUN_POINTER;
    return isa::is_float(param.type) ? WGRUN_REAL_PARAMETER : WGRUN_INTEGER_PARAMETER;
}

std::string type_of(const Param& param) {
    if (param.box) return std::string(to_string(param.box->dtype));
    if (!param.pointee) return std::string(isa::to_string(param.type));
    return (param.constant ? "const " : "") + std::string(to_string(*param.pointee)) + "*";
}

int swizzle_bytes(SwizzleMode mode) { return mode == SwizzleMode::none ? 0 : 16 << static_cast<int>(mode); }

void give_text(const std::string& made, const char** text, std::size_t* length) {
    result(text, "text") = made.c_str();
    if (length != nullptr) *length = made.size();
}

Assembler assembler_of(int assembler) {
    switch (assembler) {
        case WGRUN_ANY_ASSEMBLER: return Assembler::any;
        case WGRUN_PTXAS: return Assembler::ptxas;
        case WGRUN_DRIVER: return Assembler::driver;
        case WGRUN_NVRTC: return Assembler::nvrtc;
        default: refuse_argument("assembler " + std::to_string(assembler) + ": not a wgrun_assembler");
    }
}

}  // namespace

KernelRef::KernelRef(std::shared_ptr<Run> of, Kernel& made)
    : run(std::move(of)), kernel(&made), file(made.program().where().file) {
    for (const Param& param : made.program().params()) types.push_back(type_of(param));
}

}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_kernel_close(wgrun_kernel* kernel) {
    return answer([&] { close_handle(Kind::kernel, kernel); });
}

int wgrun_kernel_info_get(wgrun_kernel* kernel, wgrun_kernel_info* info) {
    return with_kernel(kernel, [&](KernelRef& ref) {
        const wgrun::Program& program = ref.kernel->program();
        wgrun_kernel_info out{};
        out.name = program.name().c_str();
        out.file = ref.file.c_str();
        out.line = program.where().line;
        out.threads = program.threads();
        const wgrun::Dim3 cluster = program.cluster();
        out.cluster[0] = cluster.x, out.cluster[1] = cluster.y, out.cluster[2] = cluster.z;
        out.shared_bytes = program.shared_bytes();
        out.parameter_count = program.params().size();
        write_struct(info, out, "info");
    });
}

int wgrun_kernel_parameter(wgrun_kernel* kernel, size_t index, wgrun_parameter* parameter) {
    return with_kernel(kernel, [&](KernelRef& ref) {
        const std::vector<wgrun::Param>& params = ref.kernel->program().params();
        if (index >= params.size())
            refuse_argument("parameter " + std::to_string(index) + " of " + std::to_string(params.size()));
        const wgrun::Param& param = params[index];
        wgrun_parameter out{};
        out.name = param.name.c_str();
        out.type = ref.types[index].c_str();
        out.kind = kind_of_parameter(param);
        if (param.box) {
            out.dtype = number_of(param.box->dtype);
            out.box_rank = static_cast<int>(param.box->extents.size());
            std::copy(param.box->extents.begin(), param.box->extents.end(), out.box);
            out.swizzle = swizzle_bytes(param.box->swizzle);
        } else if (param.pointee) {
            out.dtype = number_of(*param.pointee);
        }
        out.is_const = param.constant ? 1 : 0;
        write_struct(parameter, out, "parameter");
    });
}

int wgrun_kernel_check(wgrun_kernel* kernel, const wgrun_launch* launch, wgrun_findings** findings) {
    return with_work(kernel, [&](KernelRef& ref) {
        give_findings(findings,
                      launch == nullptr ? ref.kernel->check() : ref.kernel->check(launch_of(launch)));
    });
}

int wgrun_kernel_verdicts(wgrun_kernel* kernel, wgrun_verdicts** verdicts) {
    return wgrun_kernel_verdicts_given(kernel, nullptr, verdicts);
}

int wgrun_kernel_verdicts_given(wgrun_kernel* kernel, const wgrun_assumptions* given,
                                wgrun_verdicts** verdicts) {
    return with_work(kernel, [&](KernelRef& ref) {
        result(verdicts, "verdicts");
        const wgrun::Assumptions assumptions = read_assumptions(given);
        for (const auto& number : assumptions.numbers)
            if (!names_number(ref.kernel->program(), number.first))
                refuse_argument("given->numbers: the kernel has no number `" + number.first + "`");
        give_handle(verdicts, std::make_shared<Verdicts>(ref.kernel->verdicts(assumptions)));
    });
}

int wgrun_kernel_ptx(wgrun_kernel* kernel, const char** text, size_t* length) {
    return with_work(kernel, [&](KernelRef& ref) { give_text(ref.kernel->ptx(), text, length); });
}

int wgrun_kernel_cuda(wgrun_kernel* kernel, const char** text, size_t* length) {
    return with_work(kernel, [&](KernelRef& ref) { give_text(ref.kernel->cuda(), text, length); });
}

int wgrun_kernel_cubin(wgrun_kernel* kernel, int assembler, const void** image, size_t* bytes) {
    return with_work(kernel, [&](KernelRef& ref) {
        result(image, "image");
        result(bytes, "bytes");
        ref.cubin = ref.kernel->cubin(assembler_of(assembler));
        *image = ref.cubin.data();
        *bytes = ref.cubin.size();
    });
}

int wgrun_kernel_load(wgrun_kernel* kernel, int backend, int device) {
    return with_work(kernel, [&](KernelRef& ref) {
        if (backend < WGRUN_AUTO || backend > WGRUN_SIM)
            refuse_argument("backend " + std::to_string(backend) + ": not a wgrun_backend");
        ref.kernel->load(static_cast<wgrun::Backend>(backend), device);
    });
}

int wgrun_kernel_launch(wgrun_kernel* kernel, const wgrun_launch* launch) {
    return with_kernel(kernel, [&](KernelRef& ref) { ref.kernel->launch(launch_of(launch)); });
}

int wgrun_kernel_simulate(wgrun_kernel* kernel, const wgrun_launch* launch) {
    return with_work(kernel, [&](KernelRef& ref) {
        wgrun::HostSimulation run = launch_of(launch);
        const wgrun::lua::Limits& limits = ref.engine().limits;
        run.limits = {limits.time, limits.simulation_steps};
        try {
            ref.kernel->simulate(run);
        } catch (const wgrun::EnvironmentError& error) {
            if (error.code() != "ETIMEDOUT") throw;
            throw wgrun::Error("ELIMIT", error.finding());  // the only limit of time that a simulation has
        }
    });
}

}  // extern "C"
