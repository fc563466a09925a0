#include "file/trusted.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "file/lock.hpp"
#include "tests/catch.hpp"
#include "tests/unit/file/folder.hpp"

using namespace wgrun;
using file::test::Folder;
namespace fs = std::filesystem;

namespace {
std::string why(const fs::path& path) { return file::open_trusted(AT_FDCWD, path.c_str()).why; }
}  // namespace

TEST_CASE("a file of one's own is read") {
    const Folder folder;
    folder.write("a", "text");
    ::chmod((folder / "a").c_str(), 0644);
    const file::TrustedFile a = file::open_trusted(AT_FDCWD, (folder / "a").c_str());
    REQUIRE(a);
    CHECK(a.bytes == 4);
    CHECK_FALSE(file::read_all(a, 3));
    CHECK(file::read_all(a, 4) == "text");
    const file::TrustedFile none = file::open_trusted(AT_FDCWD, (folder / "none").c_str());
    CHECK_FALSE(none);
    CHECK(none.why.empty());
}

TEST_CASE("what others could have planted is not") {
    const Folder folder;
    folder.write("a", "text");
    for (const mode_t mode : {0620U, 0602U, 0666U}) {
        ::chmod((folder / "a").c_str(), mode);
        CHECK_THAT(why(folder / "a"), ContainsSubstring("others may write to it"));
    }
    ::chmod((folder / "a").c_str(), 0600);
    fs::create_symlink("a", folder / "link");
    CHECK(why(folder / "link") == "it is a symbolic link");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(why(folder / "fifo") == "it is not a regular file");  // and does not wait for a writer
    CHECK(why("/dev/null") == "it is not a regular file");
    CHECK(why(folder.path()) == "it is not a regular file");
    if (::geteuid() == 0) {
        REQUIRE(::chown((folder / "a").c_str(), 12345, 0) == 0);
        CHECK_THAT(why(folder / "a"), ContainsSubstring("belongs to user 12345"));
    }
}

TEST_CASE("folders of one's own are closed to others, others' are refused") {
    const Folder folder;
    const file::Descriptor base(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    const auto open = [&](const char* name, bool make = true) {
        return file::open_trusted_folder(base.get(), name, make);
    };
    CHECK_FALSE(open("d", false));
    const mode_t old = ::umask(0);
    CHECK(open("d"));
    ::umask(old);
    CHECK(folder.mode("d") == 0700);
    ::chmod((folder / "d").c_str(), 0755);
    CHECK(open("d"));
    CHECK(folder.mode("d") == 0700);
    ::chmod((folder / "d").c_str(), 0777);
    CHECK_THAT(open("d").why, ContainsSubstring("others may write to it"));
    fs::create_symlink("d", folder / "link");
    CHECK(open("link").why == "it is not a folder");
    folder.write("file", "");
    CHECK(open("file").why == "it is not a folder");
}

TEST_CASE("a folder's lock excludes, and leaves nothing") {
    using namespace std::chrono_literals;
    const Folder folder;
    const file::Descriptor base(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    {
        const file::FolderLock first(base.get(), 0ms);
        CHECK(first.held());
        CHECK_FALSE(file::FolderLock(base.get(), 20ms).held());
    }
    CHECK(file::FolderLock(base.get(), 0ms).held());
    CHECK(folder.names().empty());
}
