// The history of what was typed, in this session and in earlier ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wgrun::repl {

/// The entries of a history file from the oldest on: an entry a line, its newlines as \n and its backslashes
/// doubled.
std::vector<std::string> history_entries(std::string_view text);
std::string history_text(const std::vector<std::string>& entries);

/// Adds `entry` as the newest, in place of an equal one; the oldest are dropped beyond 2000 entries or 1 MiB
/// in all. An entry of more than 64 KiB is not kept.
void add_entry(std::vector<std::string>& entries, std::string entry);

/// History in a file that concurrent sessions share. For one thread.
class History {
  public:
    /// Without a file, for this session only.
    History() = default;
    /// `path` is read now, and changed with each entry, whole or not at all, for this user alone (mode 0600;
    /// its folder is made, with mode 0700). Failures do not throw: trouble() reports them.
    explicit History(std::string path);

    /// $XDG_STATE_HOME/wgrun/history, or ~/.local/state/wgrun/history; empty if neither is set.
    static std::string standard_path();

    const std::vector<std::string>& entries() const { return entries_; }
    void add(const std::string& entry);

    /// Why the file is not used; empty if it is. Each reason is returned once.
    std::string trouble();

  private:
    std::string path_;
    std::vector<std::string> entries_;
    std::string trouble_;
};

}  // namespace wgrun::repl
