// Files and folders that no other user can have made, for data that is read back and trusted, such as caches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "file/descriptor.hpp"

namespace wgrun::file {

/// A file, or the reason why it was refused: `why` is empty if the file does not exist.
struct TrustedFile {
    Descriptor descriptor;
    std::uint64_t bytes = 0;
    std::string why;

    explicit operator bool() const { return static_cast<bool>(descriptor); }
};

/// Opens `name` in the folder `folder` (AT_FDCWD: a path) for reading. Taken is a regular file of this user's
/// own that nobody else may write to and that is no symbolic link; never waits for the other end of a FIFO.
TrustedFile open_trusted(int folder, const char* name);

/// The contents. Nothing if it has more than `limit` bytes or cannot be read.
std::optional<std::string> read_all(const TrustedFile& file, std::uint64_t limit);

/// A folder, or the reason why it was refused: `why` is empty if the folder does not exist.
struct TrustedFolder {
    Descriptor descriptor;
    std::string why;

    explicit operator bool() const { return static_cast<bool>(descriptor); }
    bool absent() const { return !descriptor && why.empty(); }
};

/// Opens the folder `name` in `folder`, with `make` after it was made if it was not there. Taken is a folder
/// of this user's own that nobody else may write to and that is no symbolic link; others lose the right to
/// look into it (mode 0700).
TrustedFolder open_trusted_folder(int folder, const char* name, bool make);

}  // namespace wgrun::file
