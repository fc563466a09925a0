#include "wgrun/bank.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

TEST_CASE("bank conflicts count the distinct words of a bank in a phase") {
    std::vector<std::uint32_t> addresses;
    const auto degree = [&](int bytes) {
        int worst = 1;
        for (const BankPhase& phase : bank_phases(addresses, bytes)) worst = std::max(worst, phase.degree);
        return worst;
    };
    const auto lanes = [&](int count, int stride) {
        addresses.clear();
        for (int i = 0; i < count; ++i) addresses.push_back(static_cast<std::uint32_t>(i * stride));
    };
    lanes(32, 4);
    CHECK(degree(4) == 1);
    lanes(32, 8);
    CHECK(degree(4) == 2);
    lanes(32, 128);
    CHECK(degree(4) == 32);
    lanes(32, 0);  // a broadcast: one word
    CHECK(degree(4) == 1);
    lanes(32, 1);  // four lanes a word
    CHECK(degree(1) == 1);
    lanes(32, 16);  // quarter warps
    CHECK(degree(16) == 1);
    CHECK(bank_phases(addresses, 16).size() == 4);
    CHECK(bank_phases(addresses, 8).size() == 2);
    lanes(32, 132);  // the padded row: one bank further each
    CHECK(degree(4) == 1);
    lanes(8, 128);
    const BankPhase phase = bank_phases(addresses, 16).front();
    CHECK(phase.degree == 8);
    CHECK(phase.bank == 0);
    CHECK(phase.guilty == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK_THROWS_WITH(bank_phases(addresses, 3), ContainsSubstring("cannot access 3 bytes"));
    lanes(2, 4);
    CHECK_THROWS_WITH(bank_phases(addresses, 16), ContainsSubstring("address 4 is not a multiple of 16"));
    lanes(33, 4);
    CHECK_THROWS_WITH(bank_phases(addresses, 4), ContainsSubstring("33 addresses for one warp"));
}

TEST_CASE("canonical tiles are read and written by matrices of 8 x 16 bytes without conflicts") {
    for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128})
        for (const Major major : {Major::k, Major::mn})
            for (const SharedAccess access :
                 {SharedAccess::wgmma, SharedAccess::ldmatrix, SharedAccess::stmatrix}) {
                const BankConflicts c =
                    bank_conflicts(Tile({Dtype::bf16, 128, 64, major, mode, AtomOrder::mn}), access);
                CHECK(c.degree == 1);
                CHECK(c.phases == 128);
                CHECK(c.passes == 128);
            }
}

TEST_CASE("coalesced 16-byte stores conflict unless lines are 128 bytes wide") {
    const auto degree = [](SwizzleMode mode) {
        return bank_conflicts(Tile({Dtype::bf16, 64, 64, Major::k, mode, AtomOrder::mn}),
                              SharedAccess::st_shared_16)
            .degree;
    };
    CHECK(degree(SwizzleMode::b128) == 1);
    CHECK(degree(SwizzleMode::b64) == 2);
    CHECK(degree(SwizzleMode::b32) == 4);
    CHECK(degree(SwizzleMode::none) == 8);
}

TEST_CASE("bank conflicts of any layout") {
    const Layout plain = Layout::parse("(64,64):(64,1)");
    const BankConflicts c = bank_conflicts(plain, 16, SharedAccess::ldmatrix);
    CHECK(c.degree == 8);
    CHECK(c.phases == 64);
    CHECK(c.passes == 512);
    CHECK(c.to_string() ==
          "ldmatrix: 8-way conflict (line 0, unit 0: lanes 0 1 2 3 4 5 6 7 on bank 0), 512 passes instead of "
          "64");
    CHECK(bank_conflicts(plain, 16, SharedAccess::st_shared_16).degree == 1);
    CHECK(bank_conflicts(plain, 16, SharedAccess::st_accumulator).degree == 8);
    // Padding by 16 bytes and the swizzle both mend it.
    CHECK(bank_conflicts(Layout::parse("(64,64):(72,1)"), 16, SharedAccess::ldmatrix).to_string() ==
          "ldmatrix: no conflicts");
    CHECK(
        bank_conflicts(Layout::parse("Swizzle<3,3,3> o (64,64):(64,1)"), 16, SharedAccess::ldmatrix).degree ==
        1);
    // Column-major: lines are columns.
    CHECK(bank_conflicts(Layout::parse("(64,64):(1,64)"), 16, SharedAccess::ldmatrix).degree == 8);
    CHECK_THROWS_WITH(bank_conflicts(Layout::parse("(8,8):(1,9)"), 16, SharedAccess::ldmatrix),
                      ContainsSubstring("16-byte unit is not contiguous"));
    CHECK_THROWS_WITH(bank_conflicts(Layout::parse("(8,4):(4,1)"), 16, SharedAccess::ldmatrix),
                      ContainsSubstring("lines of 4 elements"));
    CHECK_THROWS_WITH(bank_conflicts(Layout::parse("64:1"), 16, SharedAccess::ldmatrix),
                      ContainsSubstring("two modes"));
}

TEST_CASE("a tile's conflicts equal those of its layout") {
    for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64})
        for (const Dtype dtype : {Dtype::bf16, Dtype::tf32, Dtype::e4m3}) {
            const Tile tile({dtype, 64, 512 / bits(dtype), Major::k, mode, AtomOrder::k});
            for (const BankConflicts& c : bank_conflicts(tile)) {
                const BankConflicts other = bank_conflicts(tile.layout(), bits(dtype), c.access);
                CHECK(c.to_string() == other.to_string());
            }
        }
}
