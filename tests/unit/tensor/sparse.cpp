// Structured sparsity against CuTe's metadata vectors, and against rules written a second time.
#include "wgrun/sparse.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "source_folder.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

namespace {

constexpr std::array types{Dtype::f16,  Dtype::bf16, Dtype::tf32, Dtype::e4m3,
                           Dtype::e5m2, Dtype::s8,   Dtype::u8};

int chunk_of(Dtype dtype) { return dtype == Dtype::tf32 ? 2 : 4; }

Tensor random(Dtype dtype, TensorShape shape, std::uint64_t seed = 3) {
    if (is_float(dtype)) return Tensor::randn(std::move(shape), dtype, seed);
    return Tensor::randint(std::move(shape), dtype, dtype == Dtype::s8 ? -128 : 0,
                           dtype == Dtype::s8 ? 127 : 255, seed);
}

std::uint32_t word(const Tensor& metadata, std::int64_t at) {
    return static_cast<std::uint32_t>(metadata.get(at));
}

}  // namespace

TEST_CASE("sparse: prune keeps the largest magnitudes of each chunk") {
    for (Dtype dtype : types) {
        INFO(to_string(dtype));
        const Tensor t = random(dtype, {8, 4096});
        const Tensor pruned = sparse::prune(t);
        const int chunk = chunk_of(dtype);
        for (std::int64_t first = 0; first < t.items(); first += chunk) {
            double kept = 1e9, dropped = 0;
            int zeros = 0;
            for (std::int64_t i = first; i < first + chunk; ++i) {
                const double before = t.get(i), after = pruned.get(i);
                if (after == 0 && before != 0) dropped = std::max(dropped, std::fabs(before));
                if (after != 0) {
                    REQUIRE(after == before);
                    kept = std::min(kept, std::fabs(after));
                }
                zeros += after == 0;
            }
            REQUIRE(dropped <= kept);
            REQUIRE(zeros >= chunk / 2);
        }
    }
}

TEST_CASE("sparse: of equal magnitudes the first ones are kept, and NaN is the largest") {
    const double nan = std::nan("");
    const std::array<double, 12> values{1, -1, 1, 1, 5, nan, 7, nan, 0, 0, 0, 2};
    const Tensor pruned = sparse::prune(Tensor::from_values(Dtype::f16, {1, 12}, values));
    const std::array<double, 12> want{1, -1, 0, 0, 0, nan, 0, nan, 0, 0, 0, 2};
    for (std::int64_t i = 0; i < 12; ++i) {
        const double expected = want[static_cast<std::size_t>(i)];
        CHECK((std::isnan(expected) ? std::isnan(pruned.get(i)) : pruned.get(i) == expected));
    }
}

TEST_CASE("sparse: decompress is the inverse of compress, for every type and several blocks") {
    for (Dtype dtype : types) {
        INFO(to_string(dtype));
        const Tensor pruned = sparse::prune(random(dtype, {192, 3 * sparse::instruction_k(dtype)}));
        const sparse::Compressed made = sparse::compress(pruned);
        CHECK(made.values.shape() == TensorShape{192, pruned.shape()[1] / 2});
        CHECK(made.metadata.shape() == TensorShape{3, 3, 128});
        sparse::validate(made.metadata, dtype);
        CHECK(compare(sparse::decompress(made.values, made.metadata), pruned, Tolerance{}).ok);
    }
}

TEST_CASE("sparse: chunks with fewer elements than are kept") {
    for (Dtype dtype : types) {
        const std::int64_t k = sparse::instruction_k(dtype);
        Tensor t = Tensor::zeros(dtype, {64, k});
        for (std::int64_t i = 0; i < 64; ++i) t.set(i * k + i % k, 1);  // one element in a row
        const sparse::Compressed made = sparse::compress(t);
        sparse::validate(made.metadata, dtype);
        CHECK(compare(sparse::decompress(made.values, made.metadata), t, Tolerance{}).ok);
    }
}

TEST_CASE("sparse: metadata words stand where CuTe's are") {
    std::ifstream file(WGRUN_SOURCE_DIR "/tests/golden/vectors/sparse_meta.json");
    const nlohmann::json golden = nlohmann::json::parse(file);
    for (const auto& family : golden["families"])
        for (const std::string name : family["types"]) {
            INFO(name);
            const Dtype dtype = dtype_named(name);
            const int chunk = chunk_of(dtype), k = family["K_logical"];
            REQUIRE(sparse::instruction_k(dtype) == k);
            // A matrix whose chunks keep what a fixed pattern says, and the code of each.
            Tensor t = Tensor::zeros(dtype, {64, k});
            const auto code_at = [&](int row, int column) -> unsigned {
                constexpr std::array<unsigned, 6> codes{0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
                const int nth = 7 * row + column / chunk;
                return chunk == 2 ? (nth % 3 ? 0x4 : 0xE) : codes[static_cast<std::size_t>(nth % 6)];
            };
            for (int row = 0; row < 64; ++row)
                for (int column = 0; column < k; column += chunk) {
                    const unsigned code = code_at(row, column);
                    if (chunk == 2) {
                        t.set(row * k + column + (code == 0xE), 1);
                    } else {
                        t.set(row * k + column + static_cast<int>(code & 3), 1);
                        t.set(row * k + column + static_cast<int>(code >> 2), 1);
                    }
                }
            const Tensor metadata = sparse::compress(t).metadata;
            const auto& places = family["table_thread_nibble_to_row_kstart"];
            REQUIRE(places.size() == 128);
            for (int thread = 0; thread < 128; ++thread)
                for (int nibble = 0; nibble < 8; ++nibble) {
                    const auto& place =
                        places[static_cast<std::size_t>(thread)][static_cast<std::size_t>(nibble)];
                    REQUIRE((word(metadata, thread) >> (4 * nibble) & 15) == code_at(place[0], place[1]));
                }
        }
}

TEST_CASE("sparse: what cannot be compressed is named") {
    const auto filled = [](Dtype dtype, TensorShape shape) { return random(dtype, std::move(shape)); };
    CHECK_THROWS_WITH(sparse::prune(filled(Dtype::f32, {4, 4})),
                      ContainsSubstring("there is no sparse wgmma for f32"));
    CHECK_THROWS_WITH(sparse::prune(filled(Dtype::bf16, {4, 6})),
                      ContainsSubstring("with k a multiple of 4"));
    CHECK_THROWS_WITH(sparse::prune(filled(Dtype::bf16, {16})),
                      ContainsSubstring("bf16 {16} is not a matrix"));
    CHECK_THROWS_WITH(sparse::compress(filled(Dtype::bf16, {64, 48})),
                      ContainsSubstring("m a multiple of 64 and k one of 32"));
    CHECK_THROWS_WITH(sparse::compress(filled(Dtype::s8, {32, 64})), ContainsSubstring("m a multiple of 64"));
    Tensor t = sparse::prune(random(Dtype::bf16, {128, 64}));
    for (std::int64_t i = 0; i < 3; ++i) t.set(70 * 64 + 12 + i, 1);
    CHECK_THROWS_WITH(
        sparse::compress(t),
        ContainsSubstring("row 70, chunk 3 (columns 12 to 15) has 3 elements that are not zero"));
    CHECK(sparse::compress(Tensor::zeros(Dtype::bf16, {0, 64})).values.items() == 0);
    CHECK(sparse::compress(Tensor::zeros(Dtype::bf16, {64, 0})).metadata.items() == 0);
}

TEST_CASE("sparse: codes without a meaning are errors that name row and chunk") {
    for (Dtype dtype : types) {
        INFO(to_string(dtype));
        const std::int64_t k = 2 * sparse::instruction_k(dtype);
        const sparse::Compressed good = sparse::compress(sparse::prune(random(dtype, {128, k})));
        for (unsigned code = 0; code < 16; ++code) {
            const bool legal = dtype == Dtype::tf32 ? code == 0x4 || code == 0xE : (code & 3) != (code >> 2);
            Tensor metadata = good.metadata.copy();
            // The second block, the first step; thread 0 (with its pair, 2) has code 0 of row 64, chunk 0.
            for (std::int64_t thread : {0, 2}) {
                const std::int64_t at = 2 * 128 + thread;
                if (thread == 2 && bits(dtype) == 8) continue;
                metadata.set(at, (word(metadata, at) & ~15U) | code);
            }
            if (legal)
                CHECK_NOTHROW(sparse::validate(metadata, dtype));
            else
                CHECK_THROWS_WITH(sparse::validate(metadata, dtype),
                                  ContainsSubstring("metadata of row 64, chunk 0: 0b") &&
                                      ContainsSubstring("has no meaning"));
        }
    }
    Tensor metadata = sparse::compress(sparse::prune(random(Dtype::f16, {64, 32}))).metadata;
    metadata.set(2, word(metadata, 2) ^ 0xC);
    CHECK_THROWS_WITH(sparse::validate(metadata, Dtype::f16), ContainsSubstring("for selector 0"));
    CHECK_THROWS_WITH(sparse::validate(Tensor::zeros(Dtype::u32, {1, 128}), Dtype::f16),
                      ContainsSubstring("does not have the shape that compress makes"));
    CHECK_THROWS_WITH(
        sparse::decompress(Tensor::zeros(Dtype::f16, {64, 32}), Tensor::zeros(Dtype::u32, {1, 1, 128})),
        ContainsSubstring("belongs to values {64, 16}"));
}
