// PTX to machine code without a GPU, through a ptxas process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/process.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::gpu {

namespace {

std::string version_of(const std::string& path) {
    const ProcessResult asked = run_process({path, "--version"}, std::chrono::seconds(10));
    const std::size_t at = asked.output.rfind(", V");  // "Cuda compilation tools, release 13.0, V13.0.88"
    if (at == std::string::npos) return {};
    const std::string version = asked.output.substr(at + 3);
    return version.substr(0, version.find_first_not_of("0123456789."));
}

// The log without the temporary folder, which changes from run to run.
std::string without(std::string text, const std::string& folder) {
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
        text.erase(at, folder.size());
    return text;
}

std::vector<std::byte> read_image(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

Part find_ptxas(bool ask_version) {
    Part part;
    part.missing = cuda_switched_off();
    if (!part) return part;
    part.path = find_program("ptxas");
    if (part.path.empty()) {
        part.missing = fmt::format("no ptxas on the PATH, in {}/bin, or in a wheel of python3",
                                   fmt::join(toolkit_roots(), "/bin, "));
        return part;
    }
    if (!ask_version) return part;
    try {
        part.version = version_of(part.path);
    } catch (const EnvironmentError& error) {
        part.missing = error.what();
    }
    return part;
}

Cubin ptxas_assemble(std::string_view ptx, std::span<const std::string> options,
                     std::chrono::milliseconds timeout, const std::atomic<bool>* stop) {
    const std::string text = source_text(ptx, "PTX");
    const Part ptxas = find_ptxas(false);
    if (!ptxas)
        throw EnvironmentError("ENOENT", fmt::format("ptxas was not found: {}", ptxas.missing),
                               "pip install nvidia-cuda-nvcc, or set CUDA_HOME to the toolkit");
    const Cache cache = Cache::standard();
    const std::string key = Cache::key({"ptxas", file_identity(ptxas.path), architecture,
                                        fmt::format("{}", fmt::join(options, "\n")), text});
    if (auto found = cache.find(key)) return {std::move(found->image), parse_log(found->log), true};

    const Progress progress(Progress::Is::work, "ptxas assembles " + kernel_of(ptx, ".entry "));
    TemporaryFolder folder;
    const std::filesystem::path input = folder.file("kernel.ptx", text);
    const std::filesystem::path output = folder.file("kernel.cubin");
    std::vector<std::string> command = {ptxas.path, fmt::format("-arch={}", architecture), "-v"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {input.string(), "-o", output.string()});
    const ProcessResult run = run_process(command, timeout, stop);

    Cache::Entry entry{without(run.output, folder.path().string() + "/"), read_image(output)};
    AssemblerLog log = parse_log(entry.log);
    if (run.status != 0 || entry.image.empty()) {
        if (run.status < 0) log.text += fmt::format("ended by signal {}", -run.status);
        throw CompileError("ptxas", std::move(log));
    }
    cache.store(key, entry);
    return {std::move(entry.image), std::move(log), false};
}

}  // namespace wgrun::gpu
