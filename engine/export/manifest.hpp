// NAME.json: what an export is, for programs. docs/export.md has the schema.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/facts.hpp"
#include "wgrun/export.hpp"

namespace wgrun::exporting {

using File = ExportedFile;

/// The figures of ptxas for the kernel, or why there are none.
struct Assembled {
    std::optional<gpu::FunctionReport> report;
    std::string missing;
};

/// The manifest for the files written beside it.
std::string manifest(const Facts& facts, const Assembled& assembled, const std::vector<File>& files);

/// A manifest's entry for a file.
struct Listed {
    std::string name, sha256;
};

/// The files that the manifest `text` lists; nothing if it is not the manifest of an export.
std::optional<std::vector<Listed>> files_of_manifest(std::string_view text);

}  // namespace wgrun::exporting
