// Where the PTX of others comes from: CUDA's own tools make it of a source, or take it out of a binary.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/disassemble.hpp"
#include "gpu/library.hpp"
#include "gpu/process.hpp"
#include "kernel/machine_code.hpp"
#include "wgrun/foreign.hpp"

namespace wgrun {
namespace {

std::string tool(const std::string& name, const std::string& file) {
    std::string path = gpu::find_program(name);
    if (path.empty())
        throw EnvironmentError("ENOENT", fmt::format("{}: no {} on the PATH or in a toolkit", file, name),
                               "set CUDA_HOME to the toolkit, or give the PTX itself");
    return path;
}

/// Returns what `cuobjdump -ptx` prints, without all that is no module for sm_90: lines that are left out are
/// empty, so that the others keep their numbers. Nothing: there is no such module.
std::string modules_of(std::string_view printed) {
    std::string out, module;
    bool inside = false, any = false;
    const auto end_module = [&] {
        const bool wanted = module.find(".target sm_90") != std::string::npos;
        any |= wanted;
        if (!wanted) std::erase_if(module, [](char c) { return c != '\n'; });
        out += std::exchange(module, {});
        inside = false;
    };
    while (!printed.empty()) {
        const std::size_t end = std::min(printed.find('\n'), printed.size() - 1);
        const std::string_view line = printed.substr(0, end + 1);
        printed.remove_prefix(end + 1);
        const bool begins = line.starts_with(".version");
        if (begins || line.starts_with("Fatbin ") || line.starts_with("member ")) end_module();
        inside |= begins;
        module += inside ? line : "\n";
    }
    end_module();
    return any ? out : std::string();
}

std::string printed_ptx(const std::string& path, const std::atomic<bool>* stop) {
    return gpu::run_process({tool("cuobjdump", path), "-ptx", path}, std::chrono::minutes(1), stop).output;
}

std::string of_binary(const std::string& path, const std::atomic<bool>* stop) {
    std::string text = modules_of(printed_ptx(path, stop));
    if (text.empty())
        throw EnvironmentError("ENOENT",
                               fmt::format("{} carries no PTX for sm_90; -gencode "
                                           "arch=compute_90a,code=[sm_90a,compute_90a] would put it there",
                                           path));
    return text;
}

std::string of_source(const std::string& path, const std::atomic<bool>* stop) {
    gpu::TemporaryFolder folder;
    const std::string to = folder.file("kernel.ptx").string();
    const gpu::ProcessResult run = gpu::run_process(
        {tool("nvcc", path), "-ptx", "-arch=sm_90a", "-std=c++17", "-lineinfo", path, "-o", to},
        std::chrono::minutes(10), stop);
    if (run.status != 0)
        throw EnvironmentError("EIO", fmt::format("nvcc does not compile {}:\n{}", path, run.output),
                               "nvcc -ptx -arch=sm_90a -lineinfo with its options, and check the PTX");
    std::ifstream file(to, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::vector<int> ptx_starts(const std::string& path, const std::atomic<bool>* stop) {
    std::vector<int> out;
    const std::string printed = printed_ptx(path, stop);
    int number = 0, last = 0;  // the last line that is not empty
    for (std::size_t at = 0; at < printed.size();) {
        const std::size_t end = std::min(printed.find('\n', at), printed.size());
        const std::string_view line = std::string_view(printed).substr(at, end - at);
        ++number;
        if (line.starts_with(".version")) out.push_back(last);
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) last = number;
        at = end + 1;
    }
    return out;
}

std::optional<std::string> ptx_from(const std::string& path, const std::atomic<bool>* stop) {
    if (path.ends_with(".cu")) return of_source(path, stop);
    if (gpu::is_binary(path)) return of_binary(path, stop);
    return std::nullopt;
}

}  // namespace wgrun
