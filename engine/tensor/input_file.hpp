// A file with tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "file/descriptor.hpp"

namespace wgrun {

/// Throws ArgumentError for a name with a zero byte, at which the system would end it.
void check_file_name(const std::filesystem::path& path);

/// A regular file, open for reading. Its size is that of when it was opened.
class InputFile {
  public:
    /// Throws EnvironmentError ENOENT without such a file, EIO for what is no regular file or cannot be
    /// opened; ArgumentError for a name with a zero byte. As with all messages from here, they begin with the
    /// file's name.
    explicit InputFile(const std::filesystem::path& path);

    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }

    /// Fills `to` with the bytes from `offset` on. EnvironmentError EIO if the file has shrunk, or reading
    /// fails.
    void read(std::uint64_t offset, std::span<std::byte> to) const;

    /// The whole file, of at least one byte, as memory of this process alone: a page is read when it is
    /// touched, and copied when it is written. Stays when the file is closed. EnvironmentError ENOMEM without
    /// address space, else EIO.
    std::shared_ptr<std::byte> map() const;

  private:
    std::string name_;
    file::Descriptor descriptor_;
    std::uint64_t size_ = 0;
};

}  // namespace wgrun
