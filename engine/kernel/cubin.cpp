// Machine code of a kernel, by any available assembler.
#include <fmt/format.h>

#include "gpu/driver.hpp"
#include "gpu/host_module.hpp"
#include "kernel/assembler_notes.hpp"
#include "kernel/kernel_state.hpp"
#include "program/printing.hpp"

namespace wgrun {
namespace {

// By the driver in the current context, or else in that of the first sm_90 device.
gpu::Cubin assemble_by_driver(const std::string& ptx) {
    const gpu::HostDriver& driver = gpu::host_driver();
    gpu::abi::Handle current = nullptr;
    driver.context_get_current(&current);
    if (current != nullptr) return gpu::driver_assemble(gpu::HostContext(driver, -1), ptx);
    const gpu::DeviceList list = gpu::list_devices(*driver.base);
    if (!list.chosen) throw EnvironmentError("ENODEV", fmt::format("no GPU: {}", list.why_none));
    return gpu::driver_assemble(gpu::HostContext(driver, list.devices[*list.chosen].ordinal), ptx);
}

}  // namespace

std::vector<std::byte> Kernel::cubin(Assembler assembler) {
    refuse_messages(program(), "machine code alone");
    const auto by = [&](Assembler which) {
        switch (which) {
            case Assembler::driver: return assemble_by_driver(ptx()).image;
            case Assembler::nvrtc: return gpu::nvrtc_compile(cuda()).image;
            default: return gpu::ptxas_assemble(ptx()).image;
        }
    };
    try {
        if (assembler != Assembler::any) return by(assembler);
        std::string missing;
        for (const Assembler which : {Assembler::ptxas, Assembler::driver, Assembler::nvrtc}) {
            try {
                return by(which);
            } catch (const EnvironmentError& error) {
                if (error.code() != "ENOENT" && error.code() != "ENODEV") throw;
                missing += (missing.empty() ? "" : "; ") + std::string(error.what());
            }
        }
        throw EnvironmentError("ENOENT", "no assembler is available: " + missing);
    } catch (gpu::CompileError& error) {
        error.finding().where = place_of_error(error.log(), state_->now().texts.ptx_lines(), program());
        throw;
    }
}

}  // namespace wgrun
