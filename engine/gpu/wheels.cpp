#include "gpu/wheels.hpp"

#include <filesystem>
#include <sstream>
#include <system_error>

#include "gpu/library.hpp"
#include "gpu/process.hpp"

namespace wgrun::gpu {
namespace {

namespace fs = std::filesystem;

// CUDA 13 has one folder for all of its wheels, CUDA 12 one for each.
constexpr const char* layouts[] = {"nvidia/cu13",          "nvidia/cuda_nvcc",      "nvidia/cuda_nvrtc",
                                   "nvidia/cuda_nvdisasm", "nvidia/cuda_cuobjdump", "triton/backends/nvidia"};

std::vector<std::string> find_wheels() {
    const std::string python = find_on_path("python3");
    if (python.empty()) return {};
    std::vector<std::string> roots;
    try {
        const ProcessResult asked =
            run_process({python, "-c", "import sys; print(*sys.path, sep='\\n')"}, std::chrono::seconds(5));
        if (asked.status != 0) return {};
        std::istringstream folders(asked.output);
        for (std::string folder; std::getline(folders, folder);)
            for (const char* layout : layouts) {
                const fs::path root = fs::path(folder) / layout;
                std::error_code ignored;
                // Programs must not be run from the working folder, which sys.path may begin with.
                if (root.is_absolute() && fs::is_directory(root, ignored)) roots.push_back(root.string());
            }
    } catch (const EnvironmentError&) {  // a python3 that does not start, or hangs, has no wheels
    }
    return roots;
}

}  // namespace

const std::vector<std::string>& wheel_roots() {
    static const std::vector<std::string> roots = find_wheels();
    return roots;
}

}  // namespace wgrun::gpu
