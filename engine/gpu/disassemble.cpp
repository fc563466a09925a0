#include "gpu/disassemble.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/library.hpp"
#include "gpu/process.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

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

std::string disassemble(std::span<const std::byte> cubin, const std::atomic<bool>* stop, bool lines,
                        std::chrono::milliseconds limit) {
    constexpr std::size_t most = 512 << 20;
    const Part found = find_nvdisasm();
    if (!found)
        throw EnvironmentError("ENOENT", fmt::format("nvdisasm was not found: {}", found.missing),
                               "pip install nvidia-cuda-nvdisasm, or set CUDA_HOME to the toolkit");
    TemporaryFolder folder;
    const std::filesystem::path input =
        folder.file("kernel.cubin", {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    std::vector<std::string> command = {found.path, "-c"};
    if (lines) command.insert(command.end(), {"-hex", "-g", "-gp"});
    command.push_back(input.string());
    ProcessResult run = run_process(command, limit, stop, most);
    if (run.status != 0)
        throw EnvironmentError("EIO", fmt::format("nvdisasm failed ({}): {}", run.status, run.output));
    if (run.output.size() >= most) throw EnvironmentError("EIO", "nvdisasm prints more than 512 MiB");
    return std::move(run.output);
}

bool is_binary(const std::string& path) {
    std::array<char, 4> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    const std::string_view magic(begin.data(), begin.size());
    return file && (magic ==
                        "\x7f"
                        "ELF" ||
                    magic == "\x50\xed\x55\xba" || magic == "!<ar");
}

bool is_cubin(const std::string& path) {
    constexpr unsigned char cuda = 190;  // e_machine: EM_CUDA
    std::array<char, 20> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    return file &&
           std::string_view(begin.data(), 4) ==
               "\x7f"
               "ELF" &&
           static_cast<unsigned char>(begin[18]) == cuda && begin[19] == 0;
}

std::vector<std::vector<std::byte>> cubins_of(const std::string& path, const std::atomic<bool>* stop) {
    if (is_cubin(path)) return {bytes_of(path)};
    const std::string program = find_program("cuobjdump"), env = find_on_path("env");
    if (program.empty())
        throw EnvironmentError("ENOENT",
                               fmt::format("{}: no cuobjdump on the PATH, in a toolkit, or in a wheel", path),
                               "pip install nvidia-cuda-cuobjdump, or set CUDA_HOME to the toolkit");
    if (env.empty()) throw EnvironmentError("ENOENT", "no env on the PATH");
    // cuobjdump writes to the folder that it runs in.
    TemporaryFolder folder;
    const ProcessResult run = run_process({env, "-C", folder.path().string(), program, "-xelf", "all",
                                           std::filesystem::absolute(path).string()},
                                          std::chrono::minutes(1), stop);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
        if (entry.path().filename().string().find("sm_90") != std::string::npos)
            files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<std::vector<std::byte>> out;
    for (const std::filesystem::path& file : files) out.push_back(bytes_of(file));
    if (out.empty())
        throw EnvironmentError("ENOENT", fmt::format("{} carries no machine code for sm_90", path),
                               run.output);
    return out;
}

}  // namespace wgrun::gpu
