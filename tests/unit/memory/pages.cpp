#include "memory/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

using namespace wgrun::memory;

namespace {

std::ptrdiff_t resident(const Pages& pages, std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> in((bytes + page - 1) / page);
    REQUIRE(::mincore(pages.data(), bytes, in.data()) == 0);
    return std::ranges::count_if(in, [](unsigned char one) { return (one & 1) != 0; });
}

}  // namespace

TEST_CASE("pages are zero, and exist when they are first accessed") {
    constexpr std::size_t bytes = std::size_t{1} << 22;
    const Pages pages(bytes);
    CHECK(resident(pages, bytes) == 0);
    pages.data()[bytes / 2] = std::byte{1};
    CHECK(pages.data()[bytes / 2 + 1] == std::byte{0});
    CHECK(resident(pages, bytes) < 1024);
}

TEST_CASE("pages move, and there may be none") {
    Pages first(8);
    first.data()[7] = std::byte{3};
    const Pages second = std::move(first);
    CHECK(second.data()[7] == std::byte{3});
    CHECK_NOTHROW(Pages(0));
}

TEST_CASE("pages grow by pages that are zero") {
    Pages pages(8);
    pages.data()[7] = std::byte{3};
    pages.grow(std::size_t{1} << 20);
    CHECK(pages.bytes() == std::size_t{1} << 20);
    CHECK(pages.data()[7] == std::byte{3});
    CHECK(pages.data()[pages.bytes() - 1] == std::byte{0});
}
