// What must not outlive the process when a signal ends it: temporary files, and programs that it has started.
//
// Destructors do not run then, so each of them stands in a table that a signal handler can go through. The
// handler is the host's: libraries install none. The table is fixed; what finds no room in it is cleared
// later, as what a SIGKILL leaves is (replacement.hpp).
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string_view>

namespace wgrun::file {

/// Removes the temporary files of this process and kills the process groups that it has started. May be
/// called in a signal handler, and only when the process is to end: it is not known who uses them.
void remove_leftovers() noexcept;

/// An entry of the table, for the time of its life.
class Leftover {
  public:
    Leftover() = default;
    /// The file or (empty) folder `name`, at most 63 bytes, in the folder `folder`, which must stay open.
    static Leftover file(int folder, std::string_view name);
    static Leftover folder(int folder, std::string_view name);
    /// The processes of the group `group`.
    static Leftover processes(pid_t group);

    Leftover(Leftover&& other) noexcept;
    Leftover& operator=(Leftover&& other) noexcept;
    ~Leftover() { forget(); }

    void forget() noexcept;

  private:
    int slot_ = -1;
};

/// For the time between the start of a program and its entry in the table: this thread gets no signals, and
/// remove_leftovers() in another one waits for the entry, for a second at most.
class Starting {
  public:
    Starting() noexcept;
    ~Starting();
    /// In a forked process: it is not the one that starts a program, and gets signals again.
    void forked() const noexcept;
    Starting(const Starting&) = delete;
    Starting& operator=(const Starting&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace wgrun::file
