#include "gpu/nvrtc_process.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/compile.hpp"
#include "gpu/process.hpp"
#include "gpu/protocol.hpp"
#include "gpu/worker_process.hpp"

namespace wgrun::gpu {
namespace {

// Files of the folder. Options are separated by zero bytes, which none of them can hold.
constexpr const char* text_file = "kernel.cu";
constexpr const char* options_file = "options";
constexpr const char* log_file = "log";
constexpr const char* image_file = "kernel.cubin";
constexpr const char* result_file = "result";  // written last

constexpr std::chrono::minutes patience(10);

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

NvrtcAnswer nvrtc_apart(const std::string& program, const std::string& text,
                        const std::vector<std::string>& options) {
    TemporaryFolder folder;
    folder.file(text_file, text);
    std::string list;
    for (const std::string& option : options) list.append(option).push_back('\0');
    folder.file(options_file, list);
    const std::filesystem::path log = folder.file(log_file), image = folder.file(image_file),
                                result = folder.file(result_file);
    const ProcessResult run =
        run_process({program, worker_command, protocol, nvrtc_command, folder.path().string()}, patience,
                    Patience::current().stop);
    const std::string code = read_file(result);
    if (run.status != 0 || code.empty())
        throw EnvironmentError(
            "EFAULT", fmt::format("NVRTC: its process {}{}{}",
                                  run.status < 0 ? fmt::format("was ended by signal {}", -run.status)
                                                 : fmt::format("ended with exit code {}", run.status),
                                  run.output.empty() ? "" : ": ", run.output));
    NvrtcAnswer answer{std::stoi(code), read_file(log), {}};
    const std::string bytes = read_file(image);
    const auto view = std::as_bytes(std::span(bytes));
    answer.image.assign(view.begin(), view.end());
    return answer;
}

int nvrtc_main(const char* folder) {
    // The parent's thread waits for this process; if the parent is gone, the answer is not needed.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "wgrun-nvrtc");
    try {
        const std::filesystem::path in(folder);
        const NvrtcLibrary nvrtc = find_nvrtc();
        if (nvrtc.functions == nullptr)
            throw EnvironmentError("ENOENT", fmt::format("NVRTC was not found: {}", nvrtc.part.missing));
        std::vector<std::string> options;
        std::string list = read_file(in / options_file);
        for (std::size_t at = 0; at < list.size(); at += options.back().size() + 1)
            options.emplace_back(list.c_str() + at);
        const NvrtcAnswer answer = nvrtc_here(*nvrtc.functions, read_file(in / text_file), options);
        write_file(in / log_file, answer.log);
        write_file(in / image_file,
                   {reinterpret_cast<const char*>(answer.image.data()), answer.image.size()});
        write_file(in / result_file, std::to_string(answer.result));
        return 0;
    } catch (const std::exception& error) {
        std::fputs(error.what(), stderr);
        return 1;
    }
}

}  // namespace wgrun::gpu
