#include "wgrun/own_files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "file/lock.hpp"
#include "file/replacement.hpp"
#include "file/trusted.hpp"
#include "gpu/cache.hpp"

namespace wgrun {
namespace {

constexpr std::uint64_t largest_own = 64 << 20;  // bytes
constexpr auto patience = std::chrono::seconds(10);

file::Descriptor folder_of(const std::filesystem::path& path) {
    const std::filesystem::path parent = path.parent_path();
    const char* name = parent.empty() ? "." : parent.c_str();
    file::Descriptor folder(::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) throw EnvironmentError("EIO", std::string(name) + ": " + std::strerror(errno));
    return folder;
}

}  // namespace

std::string own_folder(const std::string& name) { return gpu::Cache::standard().folder(name).string(); }

std::string read_own(const std::string& path) {
    const file::TrustedFile file = file::open_trusted(AT_FDCWD, path.c_str());
    if (!file && file.why.empty()) return {};
    auto text = file::read_all(file, largest_own);
    if (!text)
        throw EnvironmentError("EACCES", path + " is not used: " + (file ? "it is too large" : file.why));
    return std::move(*text);
}

struct OwnUpdate::State {
    explicit State(std::string file)
        : path(std::move(file)),
          folder(folder_of(path)),
          lock(folder.get(), patience),
          text(read_own(path)) {}

    std::string path;
    file::Descriptor folder;
    file::FolderLock lock;
    std::string text;
};

OwnUpdate::OwnUpdate(std::string path) : state_(std::make_unique<State>(std::move(path))) {}
OwnUpdate::OwnUpdate(OwnUpdate&&) noexcept = default;
OwnUpdate& OwnUpdate::operator=(OwnUpdate&&) noexcept = default;
OwnUpdate::~OwnUpdate() = default;

const std::string& OwnUpdate::text() const { return state_->text; }

void OwnUpdate::write(std::string_view changed) {
    file::Replacement file(state_->folder.get(), std::filesystem::path(state_->path).filename().string(),
                           file::Durable::yes);
    file.write(changed);
    file.complete();
}

}  // namespace wgrun
