// wgrun record: runs a program, and keeps the launches that it makes through the CUDA driver. What keeps them
// is a library that the loader loads first (bindings/record).
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bindings/cli/command.hpp"

namespace wgrun::cli {
namespace record_detail {
namespace {

namespace fs = std::filesystem;

/// The library lies beside the tool, or where both are installed. Empty: in neither place.
std::string library() {
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& path : {folder, folder / WGRUN_LIBRARIES_FROM_TOOLS})
        if (fs::exists(path / "libwgrun_record.so")) return (path / "libwgrun_record.so").lexically_normal();
    return {};
}

int record(const Request& request, const std::string& folder) {
    const std::string preloaded = library();
    if (preloaded.empty()) {
        remark("wgrun: libwgrun_record.so is missing, which is built and installed with the tool");
        return Exit::usage;
    }
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        remark(fmt::format("wgrun: cannot make the folder {}: {}", folder, error.message()));
        return Exit::usage;
    }
    const char* before = std::getenv("LD_PRELOAD");
    const std::string all = preloaded + (before == nullptr || *before == 0 ? "" : fmt::format(":{}", before));
    ::setenv("LD_PRELOAD", all.c_str(), 1);
    ::setenv("WGRUN_RECORD", fs::absolute(folder).c_str(), 1);
    std::vector<std::string> words = request.args;
    words.insert(words.begin(), request.file);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    remark(fmt::format("wgrun: cannot run {}: {}", request.file, std::strerror(errno)));
    return Exit::usage;
}

Command::Run declare(Arguments& arguments) {
    const auto folder = std::make_shared<std::string>("launches");
    arguments.option("--to", *folder, "The folder for the launches").unit("FOLDER").shows_default();
    return [folder](const Request& request) { return record(request, *folder); };
}

}  // namespace
}  // namespace record_detail

const Command record_command{"record",
                             "Run a program, and keep the launches that it makes through the CUDA driver",
                             Takes::program, record_detail::declare};

}  // namespace wgrun::cli
