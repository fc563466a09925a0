// CUDA C++ to machine code through libnvrtc.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/nvrtc_process.hpp"
#include "gpu/worker_process.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::gpu {

namespace {

constexpr int invalid_option = 5;
constexpr int compilation_failed = 6;

struct LoadedNvrtc {
    Nvrtc functions{};
    Part part;
};

LoadedNvrtc load_nvrtc() {
    constexpr std::array<std::string_view, 3> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    Library library = open_library(names, toolkit_library_folders());
    if (!library.part) {
        const std::vector<std::string> wheels = wheel_library_folders();
        if (Library found = open_library(names, wheels); found.part || !wheels.empty()) library = found;
    }
    LoadedNvrtc loaded{{}, library.part};
    if (!loaded.part) return loaded;
    Nvrtc& f = loaded.functions;
    const bool complete =
        library.bind(f.get_error_string, "nvrtcGetErrorString") && library.bind(f.version, "nvrtcVersion") &&
        library.bind(f.create_program, "nvrtcCreateProgram") &&
        library.bind(f.destroy_program, "nvrtcDestroyProgram") &&
        library.bind(f.compile_program, "nvrtcCompileProgram") &&
        library.bind(f.get_log_size, "nvrtcGetProgramLogSize") &&
        library.bind(f.get_log, "nvrtcGetProgramLog") &&
        library.bind(f.get_cubin_size, "nvrtcGetCUBINSize") && library.bind(f.get_cubin, "nvrtcGetCUBIN");
    if (!complete) {
        loaded.part.missing = fmt::format("{} is older than CUDA 12.0", loaded.part.path);
        return loaded;
    }
    int major = 0;
    int minor = 0;
    f.version(&major, &minor);
    loaded.part.version = fmt::format("{}.{}", major, minor);
    // NVRTC opens its built-in functions by name alone, and a wheel's folder is none where the loader looks:
    // once open, they are found. Where this one is not beside it, NVRTC looks for itself.
    const std::string builtins = fmt::format("libnvrtc-builtins.so.{}", loaded.part.version);
    ::dlopen((std::filesystem::path(loaded.part.path).parent_path() / builtins).c_str(),
             RTLD_NOW | RTLD_LOCAL);
    return loaded;
}

class NvrtcProgram {
  public:
    NvrtcProgram(const Nvrtc& nvrtc, const std::string& text) : nvrtc_(nvrtc) {
        check(nvrtc_.create_program(&handle_, text.c_str(), "kernel.cu", 0, nullptr, nullptr));
    }
    ~NvrtcProgram() { nvrtc_.destroy_program(&handle_); }
    NvrtcProgram(const NvrtcProgram&) = delete;
    NvrtcProgram& operator=(const NvrtcProgram&) = delete;

    int compile(std::span<const char* const> options) {
        return nvrtc_.compile_program(handle_, static_cast<int>(options.size()), options.data());
    }

    void check(int result) const {
        if (result != 0)
            throw EnvironmentError("EFAULT", fmt::format("NVRTC: {}", nvrtc_.get_error_string(result)));
    }

    std::string log() const {
        std::size_t bytes = 0;
        check(nvrtc_.get_log_size(handle_, &bytes));
        std::string log(bytes, '\0');
        check(nvrtc_.get_log(handle_, log.data()));
        log.resize(log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
        return log;
    }

    std::vector<std::byte> cubin() const {
        std::size_t bytes = 0;
        check(nvrtc_.get_cubin_size(handle_, &bytes));
        std::vector<std::byte> image(bytes);
        check(nvrtc_.get_cubin(handle_, reinterpret_cast<char*>(image.data())));
        return image;
    }

  private:
    const Nvrtc& nvrtc_;
    abi::Handle handle_ = nullptr;
};

// The toolkit's headers (cuda_bf16.h), beside the library's folder or two above it.
std::string include_folder(const std::string& library) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    for (const char* way : {"../include", "../../../include"}) {
        const fs::path folder = fs::weakly_canonical(fs::path(library).parent_path() / way, ignored);
        if (fs::exists(folder / "cuda_bf16.h", ignored)) return folder.string();
    }
    return {};
}

// From 12.9 on, NVRTC has a cache of its own, and what comes from it has no log: the notes of ptxas are
// missing.
std::string_view without_own_cache(std::string_view version) {
    int major = 0;
    int minor = 0;
    const auto dot = version.find('.');
    std::from_chars(version.data(), version.data() + dot, major);
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
    return std::pair(major, minor) >= std::pair(12, 9) ? "--no-cache" : "";
}

// The library of functions that device code calls, which NVRTC opens by itself.
std::string builtins_of(const Part& nvrtc) {
    const std::filesystem::path folder = std::filesystem::path(nvrtc.path).parent_path();
    return (folder / ("libnvrtc-builtins.so." + nvrtc.version)).string();
}

// Files that the text includes are not part of the key (the toolkit's own come with the library that is).
bool reads_other_files(std::span<const std::string> options) {
    constexpr std::array<std::string_view, 5> prefixes = {"-I", "--include-path", "-include", "--pre-include",
                                                          "-use-pch"};
    return std::ranges::any_of(options, [&](const std::string& option) {
        return std::ranges::any_of(prefixes,
                                   [&](std::string_view prefix) { return option.starts_with(prefix); });
    });
}

}  // namespace

NvrtcLibrary find_nvrtc() {
    if (const std::string off = cuda_switched_off(); !off.empty()) return {nullptr, {"", "", off}};
    static const LoadedNvrtc loaded = load_nvrtc();
    return {loaded.part ? &loaded.functions : nullptr, loaded.part};
}

NvrtcAnswer nvrtc_here(const Nvrtc& nvrtc, const std::string& text, const std::vector<std::string>& options) {
    NvrtcProgram program(nvrtc, text);
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const std::string& option : options) pointers.push_back(option.c_str());
    NvrtcAnswer answer;
    answer.result = program.compile(pointers);
    answer.log = program.log();
    if (answer.result == compilation_failed || answer.result == invalid_option) return answer;
    program.check(answer.result);
    answer.image = program.cubin();
    return answer;
}

Cubin nvrtc_compile(std::string_view cuda_text, std::span<const std::string> options) {
    const std::string text = source_text(cuda_text, "CUDA C++");
    const NvrtcLibrary nvrtc = find_nvrtc();
    if (nvrtc.functions == nullptr)
        throw EnvironmentError("ENOENT", fmt::format("NVRTC was not found: {}", nvrtc.part.missing),
                               "pip install nvidia-cuda-nvrtc, or set CUDA_HOME to the toolkit");

    std::vector<std::string> all = {fmt::format("--gpu-architecture={}", architecture), "--std=c++17",
                                    "--ptxas-options=-v"};
    if (const std::string_view option = without_own_cache(nvrtc.part.version); !option.empty())
        all.emplace_back(option);
    if (text.find("__int128") != std::string::npos) all.emplace_back("--device-int128");
    const std::string include = include_folder(nvrtc.part.path);
    if (!include.empty()) all.push_back("--include-path=" + include);
    all.insert(all.end(), options.begin(), options.end());

    const Cache cache =
        reads_other_files(options) ? Cache::off("the text may include files") : Cache::standard();
    const std::string key =
        Cache::key({"nvrtc", file_identity(nvrtc.part.path), file_identity(builtins_of(nvrtc.part)),
                    file_identity(include + "/cuda_bf16.h"), fmt::format("{}", fmt::join(all, "\n")), text});
    if (auto found = cache.find(key)) return {std::move(found->image), parse_log(found->log), true};

    const Progress progress(Progress::Is::work, "NVRTC compiles " + kernel_of(cuda_text, "__global__ "));
    const Part worker = find_worker();
    NvrtcAnswer answer =
        worker ? nvrtc_apart(worker.path, text, all) : nvrtc_here(*nvrtc.functions, text, all);
    if (answer.result != 0) throw CompileError("nvrtc", parse_log(answer.log));
    Cache::Entry entry{std::move(answer.log), std::move(answer.image)};
    cache.store(key, entry);
    return {std::move(entry.image), parse_log(entry.log), false};
}

}  // namespace wgrun::gpu
