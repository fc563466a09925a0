#include "gpu/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "gpu/wheels.hpp"

namespace wgrun::gpu {

namespace fs = std::filesystem;

namespace {

constexpr const char* usual_root = "/usr/local/cuda";

std::string path_of(void* handle) {
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
    return map->l_name;
}

std::string in_folder(std::string_view folder, std::string_view name) {
    return folder.empty() ? std::string(name) : (fs::path(folder) / name).string();
}

}  // namespace

std::string cuda_switched_off() {
    const char* value = std::getenv("WGRUN_CUDA");
    return value != nullptr && std::string_view(value) == "off" ? "switched off by WGRUN_CUDA=off" : "";
}

std::vector<std::string> toolkit_roots() {
    std::vector<std::string> roots;
    const auto add = [&](const char* root) {  // only once, since messages about missing files list them
        if (root != nullptr && *root != '\0' && std::ranges::find(roots, root) == roots.end())
            roots.emplace_back(root);
    };
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) add(std::getenv(variable));
    add(usual_root);
    return roots;
}

std::vector<std::string> toolkit_library_folders() {
    std::vector<std::string> folders;
    for (const std::string& root : toolkit_roots()) {
        if (root == usual_root) folders.emplace_back();
        for (const char* below : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
            folders.push_back(in_folder(root, below));
    }
    return folders;
}

std::vector<std::string> wheel_library_folders() {
    std::vector<std::string> folders;
    for (const std::string& root : wheel_roots()) folders.push_back(in_folder(root, "lib"));
    return folders;
}

Library open_library(std::span<const std::string_view> names, std::span<const std::string> folders) {
    Library library;
    std::string broken;  // an error of an existing file says more than a missing file
    for (const std::string& folder : folders) {
        for (const std::string_view name : names) {
            const std::string path = in_folder(folder, name);
            library.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library.handle != nullptr) {
                library.part.path = path_of(library.handle);
                return library;
            }
            const char* why = ::dlerror();
            std::error_code ignored;
            if (why != nullptr && broken.empty() && fs::exists(path, ignored)) broken = why;
        }
    }
    std::vector<std::string> places;
    for (const std::string& folder : folders) places.push_back(folder.empty() ? "the loader's path" : folder);
    library.part.missing = broken.empty()
                               ? fmt::format("no {} in {}", fmt::join(names, " or "), fmt::join(places, ", "))
                               : broken;
    return library;
}

void* Library::find(const char* symbol) const {
    return handle == nullptr ? nullptr : ::dlsym(handle, symbol);
}

namespace {

// The first folder that contains the program.
std::string program_in(const std::vector<std::string>& folders, const std::string& name) {
    for (const std::string& folder : folders) {
        std::string path = in_folder(folder, name);
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

std::vector<std::string> bins(const std::vector<std::string>& roots) {
    std::vector<std::string> folders;
    for (const std::string& root : roots) folders.push_back(in_folder(root, "bin"));
    return folders;
}

}  // namespace

std::string find_on_path(const std::string& name) {
    std::vector<std::string> folders;
    if (const char* path = std::getenv("PATH")) {
        std::istringstream parts(path);
        for (std::string folder; std::getline(parts, folder, ':');)
            if (!folder.empty()) folders.push_back(folder);  // an empty part would mean the working folder
    }
    return program_in(folders, name);
}

std::string find_program(const std::string& name) {
    if (std::string path = find_on_path(name); !path.empty()) return path;
    if (std::string path = program_in(bins(toolkit_roots()), name); !path.empty()) return path;
    return program_in(bins(wheel_roots()), name);
}

}  // namespace wgrun::gpu
