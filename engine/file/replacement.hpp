// Files that are written whole or not at all.
//
// A file is written beside its place, under a name that begins with a dot, and takes its place when it is
// complete: whoever reads sees the old file or the new one, and a full disk, a signal or an exception leaves
// the old one as it was. The temporary is locked as long as its writer lives, so what a killed process has
// left is told from what is being written, whatever the clock says; it is cleared by the next writer in that
// folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "file/descriptor.hpp"
#include "file/leftovers.hpp"

namespace wgrun::file {

/// Whether the new file must survive a loss of power. Then it is on the disk when complete() returns, which
/// takes milliseconds. Files that can be made again need not be.
enum class Durable : bool { no, yes };

class Replacement {
  public:
    /// Begins a file that will be at `path`. Through a symbolic link the file that it names is replaced, not
    /// the link (but not through another user's link in a folder like /tmp). Mode and owner are those of the
    /// file that is replaced, as far as this user may give them; a new file's mode is 0666 less the umask.
    /// Other names of the same file (hard links) keep the old one. A character device, a FIFO or what
    /// /dev/stdout stands for is written to as it is. EnvironmentError ENOENT (no such folder), EIO (anything
    /// else), as for everything here; messages begin with `path`.
    explicit Replacement(const std::filesystem::path& path, Durable durable = Durable::yes);

    /// A file of mode 0600, whatever the umask, at `name` in `folder`, an open folder that outlives this
    /// object.
    Replacement(int folder, std::string name, Durable durable);

    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    void write(std::string_view bytes);
    /// Puts the new file into its place.
    void complete();

  private:
    /// The file beside its place; removed at the end, unless it was renamed.
    struct Temporary {
        Temporary() = default;
        ~Temporary() { remove(); }
        Temporary(const Temporary&) = delete;
        Temporary& operator=(const Temporary&) = delete;
        void remove() noexcept;
        void renamed() noexcept;

        int folder = -1;
        std::string name;  ///< empty if there is none
        Leftover leftover;
    };

    [[noreturn]] void fail(int error) const;
    void begin(std::optional<mode_t> mode);
    void inherit();

    std::string shown_;  ///< for messages
    Durable durable_;
    Descriptor own_folder_;
    int folder_ = -1;
    std::string name_;
    Temporary temporary_;
    Descriptor file_;
};

/// Writes a whole file in one call.
void replace(const std::filesystem::path& path, std::string_view text, Durable durable = Durable::yes);

/// Removes the temporaries that processes which have ended left in `folder`, an open folder; those of this
/// user alone. Returns how many.
std::size_t clear_stale(int folder);

/// Whether it is the name of a temporary file of this facility.
bool is_temporary(std::string_view name);

}  // namespace wgrun::file
