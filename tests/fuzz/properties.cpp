// The fuzzed bodies on seeded random inputs.
#include <random>

#include "tests/catch.hpp"
#include "tests/fuzz/bodies.hpp"

using namespace wgrun;

namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_CASE("the notation of layouts, mutated") {
    const std::string_view seeds[]{"((8,2),(4,4)):((4,32),(1,64))",
                                   "Swizzle<3,4,3> o smem_ptr[16b](unset) o ((8,2),(_64,1)):((64,512),(1,0))",
                                   "Sw<2,0,-3> o 8 o (8,8):(8,1)", "(4,(2,3),()):(-1,(0,7),())", "8"};
    const std::string_view letters = "()<>,:o_-0123456789 Swizle[b]m\t\n\xff";
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> text = bytes_of(seeds[random() % std::size(seeds)]);
        for (auto edits = random() % 4; edits > 0; --edits) {
            const auto at = static_cast<std::ptrdiff_t>(random() % (text.size() + 1));
            const auto letter = static_cast<std::uint8_t>(letters[random() % letters.size()]);
            if (random() % 2 == 0 || at == static_cast<std::ptrdiff_t>(text.size()))
                text.insert(text.begin() + at, letter);
            else if (random() % 2 == 0)
                text.erase(text.begin() + at);
            else
                text[static_cast<std::size_t>(at)] = letter;
        }
        INFO(std::string(text.begin(), text.end()));
        REQUIRE_NOTHROW(fuzz::layout_parser(text));
    }
}

TEST_CASE("the laws of the layout algebra, at all sizes") {
    std::mt19937_64 random(20240229);
    for (int i = 0; i < 20000; ++i) {
        std::vector<std::uint8_t> bytes(64);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        REQUIRE_NOTHROW(fuzz::layout_algebra(bytes));
    }
}
