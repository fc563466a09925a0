// What has been typed, in this session and in earlier ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wgrun::repl {

/// The entries of a history file from the oldest on: an entry a line, its newlines as \n and its backslashes
/// doubled.
std::vector<std::string> history_entries(std::string_view text);
std::string history_text(const std::vector<std::string>& entries);

/// Adds `entry` as the newest, in place of an equal one; the oldest go when there are more than 2000, or more
/// than 1 MiB of them. An entry of more than 64 KiB is not kept.
void add_entry(std::vector<std::string>& entries, std::string entry);

/// History in a file, shared by sessions at the same time. Not for several threads.
class History {
  public:
    /// Without a file, for this session alone.
    History() = default;
    /// `path` is read now, and changed with each entry, whole or not at all, for this user alone (mode 0600;
    /// its folder is made, with mode 0700). What goes wrong is not an error: trouble() says it.
    explicit History(std::string path);

    /// $XDG_STATE_HOME/wgrun/history, or ~/.local/state/wgrun/history; empty where neither is known.
    static std::string standard_path();

    const std::vector<std::string>& entries() const { return entries_; }
    void add(const std::string& entry);

    /// Why the file is not used; empty when it is. Once: the next call has nothing to say.
    std::string trouble();

  private:
    std::string path_;
    std::vector<std::string> entries_;
    std::string trouble_;
};

}  // namespace wgrun::repl
