// What has been typed, in a file.
#include "bindings/repl/history.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"

using namespace wgrun::repl;

namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/wgrun-history-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

}  // namespace

TEST_CASE("entries keep their lines and backslashes") {
    const std::vector<std::string> entries{"a\nb", "c\\n", "\\", "d"};
    CHECK(history_text(entries) == "a\\nb\nc\\\\n\n\\\\\nd\n");
    CHECK(history_entries(history_text(entries)) == entries);
    CHECK(history_entries("cut off") == std::vector<std::string>{"cut off"});
    CHECK(history_entries("\\").size() == 1);
    CHECK(history_entries("").empty());
}

TEST_CASE("duplicates go, the newest stay") {
    std::vector<std::string> entries;
    for (const char* entry : {"a", "b", "a", "", "c"}) add_entry(entries, entry);
    CHECK(entries == std::vector<std::string>{"b", "a", "c"});
    for (int i = 0; i < 2500; ++i) add_entry(entries, std::to_string(i));
    CHECK(entries.size() == 2000);
    CHECK(entries.back() == "2499");
    add_entry(entries, std::string(70000, 'x'));
    CHECK(entries.back() == "2499");
    for (int i = 0; i < 40; ++i) add_entry(entries, std::string(60000, static_cast<char>('A' + i)));
    CHECK(entries.size() < 20);
}

TEST_CASE("a file is made for this user alone, and two sessions share it") {
    const Folder folder;
    const std::string path = folder.path / "state" / "wgrun" / "history";
    History first(path), second(path);
    first.add("one");
    second.add("two\nlines");
    first.add("three");
    CHECK(first.entries() == std::vector<std::string>{"one", "three"});
    CHECK(History(path).entries() == std::vector<std::string>{"one", "two\nlines", "three"});
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    REQUIRE(stat((folder.path / "state" / "wgrun").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    CHECK(first.trouble().empty());
}

TEST_CASE("a file that cannot be had is no error, and is told once") {
    const Folder folder;
    const std::string path = folder.path / "history";
    std::ofstream(path) << "theirs\n";
    chmod(path.c_str(), 0666);  // others may write it: it is not believed
    History history(path);
    CHECK(history.entries().empty());
    CHECK_FALSE(history.trouble().empty());
    CHECK(history.trouble().empty());
    history.add("mine");
    CHECK(history.entries() == std::vector<std::string>{"mine"});
    History nowhere("/proc/none/wgrun/history");
    nowhere.add("x");
    CHECK_FALSE(nowhere.trouble().empty());
}

TEST_CASE("where the file is") {
    setenv("XDG_STATE_HOME", "/x/state", 1);
    CHECK(History::standard_path() == "/x/state/wgrun/history");
    setenv("XDG_STATE_HOME", "relative", 1);  // the specification: to be ignored
    setenv("HOME", "/home/me", 1);
    CHECK(History::standard_path() == "/home/me/.local/state/wgrun/history");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    CHECK(History::standard_path().empty());
}
