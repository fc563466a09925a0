#include "memory/shared_block.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <span>
#include "tests/catch.hpp"

using namespace wgrun::memory;

namespace {

std::int64_t bytes_taken() {
    struct stat facts {};
    REQUIRE(::fstat(file(), &facts) == 0);
    return static_cast<std::int64_t>(facts.st_blocks) * 512;
}

std::uint64_t heard = 0;

/// Runs `body` in a forked child; its exit status.
template <class Body>
int in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("shared block: zeroed, takes memory as it is written, gives it back") {
    const std::int64_t before = bytes_taken();
    {
        auto block = SharedBlock::make(8 << 20);
        REQUIRE(block);
        CHECK(block->bytes() == 8 << 20);
        CHECK(block->offset() % 4096 == 0);
        CHECK(bytes_taken() == before);
        const std::span<std::byte> all(block->data(), block->bytes());
        CHECK(std::ranges::all_of(all, [](std::byte b) { return b == std::byte{0}; }));
        std::ranges::fill(all, std::byte{7});
        CHECK(bytes_taken() >= before + (8 << 20));
    }
    CHECK(bytes_taken() == before);
}

TEST_CASE("shared block: another mapping of the file sees it") {
    auto block = SharedBlock::make(5000);
    REQUIRE(block);
    void* other = ::mmap(nullptr, 5000, PROT_READ, MAP_SHARED, file(), static_cast<off_t>(block->offset()));
    REQUIRE(other != MAP_FAILED);
    block->data()[4999] = std::byte{42};
    CHECK(static_cast<std::byte*>(other)[4999] == std::byte{42});
    ::munmap(other, 5000);
}

TEST_CASE("shared block: addresses are found within their block only") {
    auto a = SharedBlock::make(10000);
    auto b = SharedBlock::make(4096);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->offset() != b->offset());
    const auto inside = find(a->data() + 100, 9900);
    REQUIRE(inside);
    CHECK(inside->file == file());
    CHECK(inside->block == a->offset());
    CHECK(inside->block_bytes == 10000);
    CHECK(inside->within == 100);
    CHECK_FALSE(find(a->data() + 100, 9901));
    CHECK_FALSE(find(a->data() - 1, 2));
    CHECK_FALSE(find(&heard, 1));
    const std::byte* gone = b->data();
    b.reset();
    CHECK_FALSE(find(gone, 1));
    SharedBlock moved = std::move(*a);
    CHECK(find(moved.data(), 1)->block == moved.offset());
}

TEST_CASE("shared block: offsets are never used again, and who asked hears of the end") {
    on_release([](std::uint64_t block) noexcept { heard = block + 1; });
    auto block = SharedBlock::make(4096);
    REQUIRE(block);
    const std::uint64_t offset = block->offset();
    block.reset();
    on_release(nullptr);
    CHECK(heard == offset + 1);
    CHECK(SharedBlock::make(4096)->offset() > offset);
}

TEST_CASE("shared block: more than the machine has is refused") {
    CHECK_FALSE(SharedBlock::make(0));
    CHECK_FALSE(SharedBlock::make(std::numeric_limits<std::size_t>::max()));
    CHECK_FALSE(SharedBlock::make(std::size_t{1} << 46));
    CHECK(SharedBlock::make(1));
}

TEST_CASE("shared block: a limit of file sizes refuses, and kills nobody") {
    CHECK(in_child([] {
              std::signal(SIGXFSZ, SIG_DFL);
              const rlimit limit{1 << 20, 1 << 20};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              return SharedBlock::make(1 << 20) && !SharedBlock::make(1 << 20);
          }) == 0);
}

TEST_CASE("shared block: a forked child makes blocks of its own and takes none from its parent") {
    auto block = SharedBlock::make(1 << 20);
    REQUIRE(block);
    block->data()[0] = std::byte{5};
    CHECK(in_child([&] {
              if (find(block->data(), 1)) return false;  // a worker of the child could not map it
              auto own = SharedBlock::make(1 << 20);
              if (!own || own->data()[0] != std::byte{0}) return false;
              own->data()[0] = std::byte{9};
              const bool seen = block->data()[0] == std::byte{5};
              block.reset();
              return seen;
          }) == 0);
    CHECK(block->data()[0] == std::byte{5});
}
