// The files of a launch that is kept: NAME.json, NAME.ptx, NAME.m0.npy, ...
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace wgrun::record {

class Files {
  public:
    /// Takes a name that no file there has: NAME.json, or NAME.2.json. Throws where nothing can be written.
    Files(const std::filesystem::path& folder, std::string_view kernel);

    const std::filesystem::path& launch() const { return launch_; }
    void write_launch(std::string_view json) const;
    void write_text(std::string_view ptx) const;
    /// Writes an array of bytes; returns the name of its file.
    std::string write_array(std::string_view name, std::span<const char> bytes) const;

  private:
    std::filesystem::path beside(std::string_view ending) const;

    std::filesystem::path launch_;
};

}  // namespace wgrun::record
