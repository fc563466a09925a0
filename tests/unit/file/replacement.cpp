#include "file/replacement.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/unit/file/folder.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;
using file::test::Folder;
namespace fs = std::filesystem;

namespace {

/// The umask, for a while.
class Umask {
  public:
    explicit Umask(mode_t mask) : old_(::umask(mask)) {}
    ~Umask() { ::umask(old_); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;

  private:
    mode_t old_;
};

/// Runs `body` in a process of its own; the status that waitpid gives.
template <class Body>
int in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        body();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

std::string failure(const fs::path& path) {
    try {
        file::replace(path, "x");
    } catch (const EnvironmentError& error) {
        return error.code() + " " + error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a file keeps its mode, a new one has the umask's") {
    const Folder folder;
    const Umask mask(027);
    file::replace(folder / "new", "1");
    CHECK(folder.mode("new") == 0640);
    for (const mode_t mode : {0600U, 0444U, 0666U, 0750U}) {
        folder.write("old", "old");
        ::chmod((folder / "old").c_str(), mode);
        file::replace(folder / "old", "new");
        CHECK(folder.mode("old") == mode);
        CHECK(folder.read("old") == "new");
        fs::remove(folder / "old");
    }
    {
        const file::Descriptor opened(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
        file::Replacement own(opened.get(), "own", file::Durable::no);
        own.write("x");
        own.complete();
    }
    CHECK(folder.mode("own") == 0600);
    CHECK(folder.names() == "new own ");
}

TEST_CASE("through symbolic links the file that they name is written") {
    const Folder folder;
    folder.write("target", "old");
    fs::create_symlink("target", folder / "link");
    fs::create_symlink(folder / "link", folder / "link2");
    fs::create_directory(folder / "d");
    fs::create_symlink("../fresh", folder / "d/dangling");
    file::replace(folder / "link2", "new");
    file::replace(folder / "d/dangling", "made");
    CHECK(fs::is_symlink(folder / "link2"));
    CHECK(folder.read("target") == "new");
    CHECK(folder.read("fresh") == "made");
    fs::create_symlink("loop", folder / "loop");
    CHECK_THAT(failure(folder / "loop"), ContainsSubstring("EIO ") && ContainsSubstring("symbolic links"));
}

TEST_CASE("another user's link in a folder like /tmp is not followed") {
    if (::geteuid() != 0) {
        std::cout << "skipped: only root can make another user's link\n";
        return;
    }
    const Folder folder;
    folder.write("precious", "good");
    fs::create_directory(folder / "tmp");
    fs::create_symlink("../precious", folder / "tmp/link");
    REQUIRE(::lchown((folder / "tmp/link").c_str(), 12345, 12345) == 0);
    ::chmod((folder / "tmp").c_str(), 01777);
    CHECK_THAT(failure(folder / "tmp/link"), ContainsSubstring("Permission denied"));
    CHECK(folder.read("precious") == "good");
    ::chmod((folder / "tmp").c_str(), 0755);
    file::replace(folder / "tmp/link", "new");
    CHECK(folder.read("precious") == "new");

    REQUIRE(::chown((folder / "precious").c_str(), 12345, 23456) == 0);
    file::replace(folder / "precious", "newer");
    struct stat status {};
    REQUIRE(::stat((folder / "precious").c_str(), &status) == 0);
    CHECK(status.st_uid == 12345);
    CHECK(status.st_gid == 23456);
}

TEST_CASE("what cannot be written leaves everything as it was") {
    const Folder folder;
    folder.write("a", "good");
    CHECK(failure(folder / "no/a") == "ENOENT " + (folder / "no/a").string() + ": No such file or directory");
    CHECK_THAT(failure(folder.path()), ContainsSubstring("not a regular file"));
    CHECK_THAT(failure(folder / "a/b"), ContainsSubstring("Not a directory"));
    CHECK_THAT(failure("/dev/full"), ContainsSubstring("/dev/full: No space left on device"));
    CHECK(failure("/dev/null") == "no error");
    CHECK_THAT(failure(""), ContainsSubstring("ENOENT"));
    {
        file::Replacement never(folder / "a");
        never.write("half of ");
    }
    const int status = in_child([&] {  // a file that would be too large
        const rlimit limit{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        std::signal(SIGXFSZ, SIG_IGN);
        try {
            file::replace(folder / "a", std::string(1 << 20, 'x'));
        } catch (const EnvironmentError&) {
            return;
        }
        ::_exit(1);
    });
    CHECK(status == 0);
    CHECK(folder.read("a") == "good");
    CHECK(folder.names() == "a ");
}

TEST_CASE("what a killed process leaves is cleared, what is being written is not") {
    const Folder folder;
    folder.write("a", "good");
    folder.write(".wgrun-x.tmp", "not ours");
    const int status = in_child([&] {
        file::Replacement half(folder / "a");
        half.write("half");
        ::kill(::getpid(), SIGKILL);
    });
    CHECK(WIFSIGNALED(status));
    const file::Descriptor opened(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    file::Replacement living(folder / "b");  // clears the dead one's, being the first here
    CHECK(file::clear_stale(opened.get()) == 0);
    living.write("b");
    living.complete();
    CHECK(folder.names() == ".wgrun-x.tmp a b ");
    CHECK(folder.read("a") == "good");
    CHECK(folder.read("b") == "b");

    CHECK(file::is_temporary(".wgrun-12-0.tmp"));
    for (const char* name : {".wgrun-12.tmp", ".wgrun--1.tmp", ".wgrun-1-.tmp", "wgrun-1-1.tmp",
                             ".wgrun-1-1.tmp~", ".wgrun-a-1.tmp", ".wgrun-.tmp", "a.tmp", ""})
        CHECK_FALSE(file::is_temporary(name));
}

TEST_CASE("a signal handler can remove what is half done") {
    const Folder folder;
    folder.write("a", "good");
    const int status = in_child([&] {
        std::signal(SIGTERM, [](int) {
            file::remove_leftovers();
            ::_exit(7);
        });
        file::Replacement half(folder / "a");
        half.write("half");
        std::raise(SIGTERM);
    });
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(folder.names() == "a ");
    // A process that is forked off owns nothing of it.
    file::Replacement own(folder / "a");
    own.write("new");
    in_child([] { file::remove_leftovers(); });
    own.complete();
    CHECK(folder.read("a") == "new");
}
