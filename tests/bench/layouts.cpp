// How long the layout algebra takes: medians of many rounds. layouts.py asks pycute about the same cases.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "wgrun/tile.hpp"

using namespace wgrun;

namespace {

/// Microseconds of one call of `body`: the median of 31 rounds of `calls`.
template <class Body>
void measure(const char* name, int calls, Body body) {
    std::vector<double> rounds;
    std::int64_t kept = 0;  // so that no call is left out
    for (int round = 0; round < 31; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) kept += body();
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
        rounds.push_back(taken.count() / calls);
    }
    std::ranges::nth_element(rounds, rounds.begin() + 15);
    fmt::print("{:<34} {:>10.2f} us{}\n", name, rounds[15], kept == 0 ? " (nothing done)" : "");
}

}  // namespace

int main() {
    const Layout matrix = Layout::parse("(128,64):(64,1)");
    const Layout fragment = Layout::parse("((4,8,4),(2,2,8)):((128,1,16),(64,8,512))");
    const Layout block = Layout::parse("(64,64):(1,64)");
    const Layout atom = Layout::parse("(8,64):(64,1)");
    const Layout small = Layout::parse("((8,2),(4,4)):((4,32),(1,64))");
    const Tiler tiler{Layout(64, 1), Layout(16, 1)};
    const Tile tile({Dtype::bf16, 256, 256, Major::k, SwizzleMode::b128, AtomOrder::mn});
    const Layout whole = tile.layout();

    measure("256x256 offsets, swizzled tile", 20, [&] { return whole.offsets().back(); });
    measure("256x256 offsets, tile:offset each", 5, [&] {
        std::int64_t sum = 0;
        for (int row = 0; row < 256; ++row)
            for (int column = 0; column < 256; ++column) sum += tile.offset(row, column);
        return sum;
    });
    measure("composition with a fragment", 2000, [&] { return composition(block, fragment).size(); });
    measure("composition, by mode", 2000, [&] { return composition(matrix, tiler).size(); });
    measure("logical_divide, by mode", 2000, [&] { return logical_divide(matrix, tiler).size(); });
    measure("zipped_divide, by mode", 2000, [&] { return zipped_divide(matrix, tiler).size(); });
    measure("logical_divide by a layout", 2000, [&] { return logical_divide(small, Layout(16, 4)).size(); });
    measure("logical_product", 2000, [&] { return logical_product(atom, Layout(16, 1)).size(); });
    measure("complement", 2000, [&] { return complement(Layout(16, 4), 256).size(); });
    measure("right_inverse", 2000, [&] { return right_inverse(fragment).size(); });
    measure("coalesce", 2000, [&] { return coalesce(small).size(); });
    measure("parse", 2000, [&] { return Layout::parse("((8,2),(4,4)):((4,32),(1,64))").size(); });
}
