#include "gpu/disassemble.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "gpu/library.hpp"
#include "gpu/process.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

Part find_nvdisasm() {
    Part part;
    part.missing = cuda_switched_off();
    if (!part) return part;
    part.path = find_program("nvdisasm");
    if (part.path.empty())
        part.missing = fmt::format("no nvdisasm on the PATH, in {}/bin, or in a wheel of python3",
                                   fmt::join(toolkit_roots(), "/bin, "));
    return part;
}

std::string disassemble(std::span<const std::byte> cubin, const std::atomic<bool>* stop, bool lines) {
    const Part found = find_nvdisasm();
    if (!found)
        throw EnvironmentError("ENOENT", fmt::format("nvdisasm was not found: {}", found.missing),
                               "pip install nvidia-cuda-nvdisasm, or set CUDA_HOME to the toolkit");
    const std::string& program = found.path;
    TemporaryFolder folder;
    const std::filesystem::path input =
        folder.file("kernel.cubin", {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    std::vector<std::string> command = {program, "-c", input.string()};
    if (lines) command.insert(command.begin() + 2, "-g");
    ProcessResult run = run_process(command, std::chrono::minutes(1), stop);
    if (run.status != 0)
        throw EnvironmentError("EIO", fmt::format("nvdisasm failed ({}): {}", run.status, run.output));
    return std::move(run.output);
}

}  // namespace wgrun::gpu
