#include "gpu/disassemble.hpp"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "gpu/library.hpp"
#include "gpu/process.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

std::string disassemble(std::span<const std::byte> cubin, const std::atomic<bool>* stop, bool lines) {
    const std::string program = find_program("nvdisasm");
    if (program.empty())
        throw EnvironmentError("ENOENT", "nvdisasm was not found on the PATH or in a toolkit's bin folder",
                               "install the CUDA toolkit, or set CUDA_HOME to it");
    TemporaryFolder folder;
    const std::filesystem::path input = folder.file("kernel.cubin");
    std::ofstream file(input, std::ios::binary);
    file.write(reinterpret_cast<const char*>(cubin.data()), static_cast<std::streamsize>(cubin.size()));
    file.close();
    if (!file) throw EnvironmentError("EIO", "cannot write " + input.string());
    std::vector<std::string> command = {program, "-c", input.string()};
    if (lines) command.insert(command.begin() + 2, "-g");
    ProcessResult run = run_process(command, std::chrono::minutes(1), stop);
    if (run.status != 0)
        throw EnvironmentError("EIO", fmt::format("nvdisasm failed ({}): {}", run.status, run.output));
    return std::move(run.output);
}

}  // namespace wgrun::gpu
