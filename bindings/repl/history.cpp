#include "bindings/repl/history.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "wgrun/diagnostic.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::repl {
namespace {

constexpr std::size_t most_entries = 2000;
constexpr std::size_t most_bytes = 1 << 20;
constexpr std::size_t largest_entry = 64 << 10;

void make_folder(const std::filesystem::path& folder) {
    std::error_code problem;
    if (std::filesystem::is_directory(folder, problem)) return;
    std::filesystem::create_directories(folder.parent_path(), problem);
    if (mkdir(folder.c_str(), 0700) != 0 && !std::filesystem::is_directory(folder, problem))
        throw EnvironmentError("EIO", "cannot make the folder " + folder.string());
}

}  // namespace

std::vector<std::string> history_entries(std::string_view text) {
    std::vector<std::string> entries;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string entry;
        for (std::size_t i = 0; i < end; ++i) {
            if (text[i] == '\\' && i + 1 < end)
                entry += text[++i] == 'n' ? '\n' : text[i];
            else
                entry += text[i];
        }
        add_entry(entries, std::move(entry));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return entries;
}

std::string history_text(const std::vector<std::string>& entries) {
    std::string text;
    for (const std::string& entry : entries) {
        for (const char c : entry) {
            if (c == '\n')
                text += "\\n";
            else if (c == '\\')
                text += "\\\\";
            else
                text += c;
        }
        text += '\n';
    }
    return text;
}

void add_entry(std::vector<std::string>& entries, std::string entry) {
    if (entry.empty() || entry.size() > largest_entry || entry.find('\0') != std::string::npos) return;
    std::erase(entries, entry);
    entries.push_back(std::move(entry));
    std::size_t bytes = 0, kept = 0;
    while (kept < std::min(entries.size(), most_entries)) {
        bytes += entries[entries.size() - 1 - kept].size() + 1;
        if (bytes > most_bytes) break;
        ++kept;
    }
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kept));
}

std::string History::standard_path() {
    const auto folder = [](const char* variable) -> std::filesystem::path {
        const char* value = std::getenv(variable);
        return value == nullptr || value[0] != '/' ? "" : value;
    };
    if (const auto state = folder("XDG_STATE_HOME"); !state.empty()) return state / "wgrun" / "history";
    if (const auto home = folder("HOME"); !home.empty()) return home / ".local/state/wgrun/history";
    return {};
}

History::History(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    try {
        entries_ = history_entries(read_own(path_));
    } catch (const Error& error) {
        trouble_ = error.what();
        path_.clear();
    }
}

void History::add(const std::string& entry) {
    add_entry(entries_, entry);
    if (path_.empty()) return;
    try {
        make_folder(std::filesystem::path(path_).parent_path());
        OwnUpdate update(path_);
        // Other sessions have added entries.
        std::vector<std::string> all = history_entries(update.text());
        add_entry(all, entry);
        update.write(history_text(all));
    } catch (const Error& error) {
        trouble_ = error.what();
        path_.clear();
    }
}

std::string History::trouble() { return std::exchange(trouble_, {}); }

}  // namespace wgrun::repl
