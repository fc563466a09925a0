// Files that appear in a folder together, or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "export/manifest.hpp"

namespace wgrun::exporting {

/// One kernel's files. `manifest` is the last to change; what the manifest that it replaces lists and `files`
/// lacks is removed.
struct Bundle {
    std::span<const File> files;
    const File& manifest;
};

/// Writes the bundles into `folder`, which is made when it is not there; its parent must exist. On failure
/// everything is as it was. EnvironmentError: EEXIST for a file of one of these names that no manifest there
/// lists, or that has changed since; EACCES, ENOENT, ENOTDIR, ENOSPC, EIO.
void place(const std::filesystem::path& folder, std::span<const Bundle> bundles);

}  // namespace wgrun::exporting
