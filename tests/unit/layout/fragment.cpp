// Fragments against CuTe's thread/value layouts and against the formulas of the PTX ISA.
#include "wgrun/fragment.hpp"

#include <map>
#include <set>

#include "golden.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;
using nlohmann::json;

namespace {

constexpr Dtype operands[]{Dtype::f16,  Dtype::bf16, Dtype::tf32, Dtype::e4m3,
                           Dtype::e5m2, Dtype::s8,   Dtype::u8,   Dtype::b1};

void check_table(const Fragment& fragment, const json& table) {
    REQUIRE(table.size() == static_cast<std::size_t>(fragment.threads()));
    for (int t = 0; t < fragment.threads(); ++t) {
        const json& row = table[static_cast<std::size_t>(t)];
        REQUIRE(row.size() == static_cast<std::size_t>(fragment.values()));
        for (int v = 0; v < fragment.values(); ++v) {
            const json& place = row[static_cast<std::size_t>(v)];
            if (!(fragment.at(t, v) == Fragment::Place{place[0], place[1]}))
                FAIL("thread " << t << " value " << v);
        }
    }
}

/// Every element once, and owner() and inverse() find it again.
void check_bijection(const Fragment& fragment) {
    INFO(fragment.name);
    std::set<std::int64_t> seen;
    for (const std::int64_t index : fragment.tv.offsets()) seen.insert(index);
    REQUIRE(static_cast<int>(seen.size()) == fragment.rows * fragment.columns);
    REQUIRE(fragment.tv.size() == static_cast<std::int64_t>(seen.size()));
    REQUIRE(*seen.rbegin() == fragment.rows * fragment.columns - 1);
    const Layout inverse = fragment.inverse();
    for (int t = 0; t < fragment.threads(); t += 5)
        for (int v = 0; v < fragment.values(); ++v) {
            const auto [row, column] = fragment.at(t, v);
            REQUIRE(inverse(row, column) == t + fragment.threads() * v);
        }
    const auto [row, column] = fragment.at(fragment.threads() - 1, fragment.values() - 1);
    CHECK(fragment.owner(row, column) == Fragment::Owner{fragment.threads() - 1, fragment.values() - 1});
}

}  // namespace

TEST_CASE("the owner of an element is the first thread that holds it") {
    std::vector<Fragment> fragments{
        wgmma_d(Dtype::f32, 256), wgmma_d(Dtype::f16, 24), mma_sync_c(),
        ldmatrix(4, true),        stmatrix(2, false),      mma_sync_b(Dtype::f16, 16)};
    for (const Dtype dtype : {Dtype::bf16, Dtype::tf32, Dtype::e4m3}) {
        fragments.push_back(wgmma_a(dtype));
        fragments.push_back(wgmma_sparse_a(dtype));
        fragments.push_back(wgmma_metadata(dtype));
        fragments.push_back(wgmma_metadata_chunks(dtype));
    }
    // Threads 0 and 1 overlap in elements, so that the digits of a place are not unique.
    fragments.push_back({"overlapping", Layout(IntTuple{2, 4}, IntTuple{2, 1}), 6, 1, 1});
    for (const Fragment& fragment : fragments) {
        INFO(fragment.name);
        std::map<std::pair<int, int>, Fragment::Owner> owners;
        for (int thread = 0; thread < fragment.threads(); ++thread)
            for (int value = 0; value < fragment.values(); ++value) {
                const auto [row, column] = fragment.at(thread, value);
                owners.try_emplace({row, column}, Fragment::Owner{thread, value});
            }
        int wrong = 0;
        for (const auto& [place, owner] : owners)
            wrong += fragment.owner(place.first, place.second) == owner ? 0 : 1;
        CHECK(wrong == 0);
    }
}

TEST_CASE("fragments equal CuTe's thread/value layouts") {
    const auto file = golden::load("sm90_tv.json");
    std::map<std::string, const json*> tables;
    for (const json& table : file["tables"]) tables[table["id"]] = &table["table"];
    int compared = 0;
    const auto check = [&](const json& operand, const Fragment& fragment) {
        CHECK(fragment.tv == golden::layout(operand["layout"]));
        CHECK(operand["codomain"] == json::array({fragment.rows, fragment.columns}));
        if (operand.contains("table")) check_table(fragment, *tables.at(operand["table"]));
        ++compared;
    };
    for (const json& atom : file["atoms"]) {
        const std::string name = atom["atom"];
        INFO(name);
        const int n = atom["shape_mnk"][1];
        const int k = atom["shape_mnk"][2];
        const Dtype a = dtype_named(atom["a"]["dtype"].get<std::string>());
        if (name.starts_with("SM80")) {
            check(atom["a"], mma_sync_a(a, k));
            check(atom["b"], mma_sync_b(a, k));
            check(atom["c"], mma_sync_c());
            continue;
        }
        const Fragment d = wgmma_d(dtype_named(atom["c"]["dtype"].get<std::string>()), n);
        check(atom["c"], d);
        CHECK(atom["regs"]["C"][0] == d.registers());
        const bool sparse = atom.contains("e");
        if (name.find("_RS") != std::string::npos) {
            check(atom["a"], sparse ? wgmma_sparse_a(a) : wgmma_a(a));
            CHECK(wgmma_a(a).registers() == 4);
        }
        if (sparse) check(atom["e"], wgmma_metadata(a));
    }
    CHECK(compared > 300);
}

TEST_CASE("ldmatrix and stmatrix equal CuTe's") {
    const auto file = golden::load("sm90_tv.json");
    for (const json& copy : file["copy_atoms"]) {
        const std::string name = copy["copy"];
        INFO(name);
        const bool trans = name.ends_with("_T");
        const int count = name[name.find("x") + 1] - '0';
        // CuTe names the transposing ones by 16-bit values.
        const Fragment fragment = ldmatrix(trans ? count / 2 : count, trans);
        check_table(fragment, copy["reg16_table"]);
        // CuTe's register side counts bits: bit b of value v of thread t is bit 128 * row + 16 * column + b.
        const Layout bits =
            golden::layout(copy[name.find("LDSM") != std::string::npos ? "dst" : "src"]["layout"]);
        for (int t = 0; t < 32; ++t)
            for (int v = 0; v < fragment.values(); ++v) {
                const auto [row, column] = fragment.at(t, v);
                REQUIRE(bits(t, 16 * v + 3) == 128 * row + 16 * column + 3);
            }
    }
}

TEST_CASE("the metadata of sparse wgmma") {
    const auto file = golden::load("sparse_meta.json");
    std::map<std::string, Dtype> types{{"16bit", Dtype::bf16}, {"tf32", Dtype::tf32}, {"8bit", Dtype::e4m3}};
    for (const json& family : file["families"]) {
        INFO(family["family"]);
        const Dtype dtype = types.at(family["family"]);
        const Fragment elements = wgmma_metadata(dtype);
        const Fragment chunks = wgmma_metadata_chunks(dtype);
        CHECK(elements.tv.to_string() == family["ELayout_str"].get<std::string>());
        CHECK(elements.columns == family["K_logical"].get<int>());
        CHECK(wgmma_sparse_a(dtype).tv == golden::layout(family["A_register_layout_logical"]));
        const auto& table = family["table_thread_nibble_to_row_kstart"];
        for (int t = 0; t < 128; ++t)
            for (int nibble = 0; nibble < 8; ++nibble) {
                const json& want = table[static_cast<std::size_t>(t)][static_cast<std::size_t>(nibble)];
                const auto [row, chunk] = chunks.at(t, nibble);
                REQUIRE(row == want[0].get<int>());
                REQUIRE(chunk * family["chunk_logical"].get<int>() == want[1].get<int>());
            }
    }
    // Words of a whole pattern: pack each thread's eight chunks.
    for (const json& example : file["examples"]) {
        if (!example["kept"].is_array()) continue;
        INFO(example["family"] << " " << example["name"]);
        const Fragment chunks = wgmma_metadata_chunks(types.at(example["family"]));
        for (int t = 0; t < 128; ++t) {
            std::uint32_t word = 0;
            for (int nibble = 0; nibble < 8; ++nibble) {
                const auto [row, chunk] = chunks.at(t, nibble);
                const json& kept =
                    example["kept"][static_cast<std::size_t>(row)][static_cast<std::size_t>(chunk)];
                const std::uint32_t bits =
                    kept.size() == 2 ? kept[0].get<std::uint32_t>() | kept[1].get<std::uint32_t>() << 2
                    : kept[0] == 0   ? 0x4U
                                     : 0xEU;
                word |= bits << 4 * nibble;
            }
            const std::string want = example["words_hex"][static_cast<std::size_t>(t)];
            REQUIRE(word == std::stoul(want, nullptr, 16));
        }
    }
}

// PTX ISA 9.7.15.5.1, figures of D and A; t = thread, g = lane / 4, q = lane % 4.
TEST_CASE("fragments follow the PTX ISA's formulas") {
    for (int n = 8; n <= 256; n += 8) {
        const Fragment d = wgmma_d(Dtype::f32, n);
        CHECK(d.registers() == n / 2);
        CHECK(wgmma_d(Dtype::f16, n).registers() == n / 4);
        for (int t = 0; t < 128; ++t)
            for (int r = 0; r < n / 2; ++r) {
                const Fragment::Place want{16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2),
                                           8 * (r / 4) + 2 * (t % 4) + r % 2};
                if (!(d.at(t, r) == want)) FAIL("thread " << t << " register " << r);
            }
    }
    for (Dtype dtype : operands) {
        const Fragment a = wgmma_a(dtype);
        const int e = a.per_register;
        CHECK(a.registers() == 4);
        CHECK(a.columns * bits(dtype) == 256);
        for (int t = 0; t < 128; ++t)
            for (int r = 0; r < 4; ++r)
                for (int j = 0; j < e; ++j) {
                    const Fragment::Place want{16 * (t / 32) + t % 32 / 4 + 8 * (r % 2),
                                               4 * e * (r / 2) + e * (t % 4) + j};
                    if (!(a.at(t, r * e + j) == want))
                        FAIL("thread " << t << " register " << r << " element " << j);
                }
    }
}

TEST_CASE("fragments that hold every element once can be inverted") {
    for (int n : {8, 24, 96, 256}) check_bijection(wgmma_d(Dtype::s32, n));
    for (Dtype dtype : operands) {
        check_bijection(wgmma_a(dtype));
        const int run = 32 / bits(dtype);
        for (int k : {4 * run, 8 * run}) {
            check_bijection(mma_sync_a(dtype, k));
            check_bijection(mma_sync_b(dtype, k));
        }
    }
    check_bijection(mma_sync_c());
    for (int count : {1, 2, 4})
        for (bool trans : {false, true}) check_bijection(ldmatrix(count, trans));
    check_bijection(wgmma_metadata_chunks(Dtype::u8));
    CHECK_THROWS_WITH(wgmma_metadata(Dtype::bf16).inverse(),
                      ContainsSubstring("4096 values for 2048 elements"));
    CHECK(wgmma_metadata_chunks(Dtype::bf16).owner(8, 4) == Fragment::Owner{1, 4});
}

TEST_CASE("16 columns of an f32 accumulator are the A fragment of the next product") {
    // Packed in pairs, 8 registers of D become the 4 registers of a k16 A fragment.
    const Fragment d = wgmma_d(Dtype::f32, 64);
    const Fragment a = wgmma_a(Dtype::bf16);
    for (int t = 0; t < 128; ++t)
        for (int block = 0; block < 4; ++block)
            for (int v = 0; v < 8; ++v) {
                const auto [row, column] = d.at(t, 8 * block + v);
                REQUIRE(a.at(t, v) == Fragment::Place{row, column - 16 * block});
            }
}

TEST_CASE("fragments that do not exist are refused") {
    CHECK_THROWS_WITH(wgmma_d(Dtype::f32, 12), ContainsSubstring("64x12"));
    CHECK_THROWS_WITH(wgmma_d(Dtype::f32, 264), ContainsSubstring("64x264"));
    CHECK_THROWS_WITH(wgmma_d(Dtype::bf16, 64), ContainsSubstring("no such accumulator"));
    CHECK_THROWS_WITH(wgmma_a(Dtype::f32), ContainsSubstring("f32 is not a type"));
    CHECK_THROWS_WITH(wgmma_metadata(Dtype::b1), ContainsSubstring("sparse wgmma of b1"));
    CHECK_THROWS_WITH(mma_sync_a(Dtype::bf16, 32), ContainsSubstring("m16n8k32 of bf16"));
    CHECK_THROWS_WITH(ldmatrix(3, false), ContainsSubstring(".x3"));
    CHECK_THROWS_WITH(wgmma_d(Dtype::f32, 8).at(128, 0), ContainsSubstring("no value 0 of thread 128"));
    CHECK_THROWS_WITH(wgmma_d(Dtype::f32, 8).owner(64, 0), ContainsSubstring("no element (64, 0)"));
}
