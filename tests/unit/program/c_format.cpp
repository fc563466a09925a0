// What vprintf of CUDA C++ prints: conversions, and where their values lie.
#include "program/c_format.hpp"

#include <bit>
#include <vector>

#include "tests/catch.hpp"

using namespace wgrun;

namespace {

/// Values in a list, and one string, at address 8.
struct Listed final : CValues {
    explicit Listed(std::vector<std::uint64_t> all) : values(std::move(all)) {}
    std::uint64_t next(int bytes) override {
        sizes += static_cast<char>('0' + bytes);
        return at < values.size() ? values[at++] : 0;
    }
    std::string text(std::uint64_t address, std::size_t most) override {
        return address == 8 ? std::string("word").substr(0, most) : "?";
    }
    std::vector<std::uint64_t> values;
    std::size_t at = 0;
    std::string sizes;
};

std::string text(std::string_view format, std::vector<std::uint64_t> values) {
    Listed from(std::move(values));
    return c_format(format, from).text;
}

std::string sizes(std::string_view format) {
    Listed from({});
    (void)c_format(format, from);
    return from.sizes;
}

}  // namespace

TEST_CASE("c_format: conversions") {
    const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    CHECK(text("no values\n", {}) == "no values\n");
    CHECK(text("%d %i", {0xFFFFFFFF, 7}) == "-1 7");
    CHECK(text("%u|%o|%x|%X|%#x", {0xFFFFFFFF, 8, 255, 255, 255}) == "4294967295|10|ff|FF|0xff");
    CHECK(text("%hhd %hd %hhu %hu", {0x1FF, 0x1FFFF, 0x1FF, 0x1FFFF}) == "-1 -1 255 65535");
    CHECK(text("%ld %lld %lu %zx", {UINT64_MAX, UINT64_MAX, UINT64_MAX, 16}) ==
          "-1 -1 18446744073709551615 10");
    CHECK(text("%f %.2f %e %g %a", {real(1.5), real(1.5), real(1.5), real(1.5), real(1.5)}) ==
          "1.500000 1.50 1.500000e+00 1.5 0x1.8p+0");
    CHECK(text("[%5d|%-5d|%05d|%+d|% d]", {42, 42, 42, 42, 42}) == "[   42|42   |00042|+42| 42]");
    CHECK(text("[%*d|%.*f|%*d]", {5, 42, 1, real(2.55), 0xFFFFFFFB, 42}) == "[   42|2.5|42   ]");
    CHECK(text("[%s|%6s|%.2s|%s]", {8, 8, 8, 0}) == "[word|  word|wo|(null)]");
    CHECK(text("%c%c%%", {'A', 'b'}) == "Ab%");
    CHECK(text("%c", {0}) == std::string(1, '\0'));
    CHECK(text("%p", {0x7f00}) == "0x7f00");
}

TEST_CASE("c_format: the sizes of values, and how many there are") {
    CHECK(sizes("%d%u%c%hd%hhx") == "44444");
    CHECK(sizes("%ld%llu%zd%jd%td%f%s%p") == "88888888");
    CHECK(sizes("%*.*f") == "448");
    Listed from({1, 2, 3});
    CHECK(c_format("%d %% %*d", from).values == 3);
}

TEST_CASE("c_format: what is no conversion is printed as it is") {
    CHECK(text("%", {}) == "%");
    CHECK(text("50%y, %n", {1}) == "50%y, %n");
    CHECK(text("%5.", {}) == "%5.");
    CHECK(text("%l", {}) == "%l");
    CHECK(text("%99999999999d", {1}).size() == 4096);
    CHECK(text("%.99999999999f", {0}).size() == 4096 + 2);
}
