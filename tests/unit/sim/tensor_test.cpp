// Boxes of tensors against a plain model: element by element, by the definition.
#include "sim/tensor.hpp"

#include <random>

#include "async_script.hpp"
#include "wgrun/tile.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr std::uint32_t base = 1024;  // where shared memory begins

struct Model {
    Model(std::vector<std::int64_t> extents, TensorBox box, std::int64_t padding = 0)
        : tensor(mapped(std::move(extents), std::move(box))) {
        // Rows further apart than they are long.
        std::int64_t stride = element();
        for (std::size_t d = 0; d < tensor.strides.size(); ++d)
            tensor.strides[d] = stride = (stride * tensor.extents[d] + padding + 15) / 16 * 16;
        tensor.data.resize(static_cast<std::size_t>((stride * tensor.extents.back() + 15) / 16 * 16));
        for (std::size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] = std::byte(i * 13 + i / 253);
        map = {1, 2, tensor.extents, tensor.strides, &tensor.box};
    }
    std::int64_t element() const { return bits(tensor.box.dtype) / 8; }
    MappedTensor view() { return {&map, tensor.data.data()}; }

    /// Calls f(offset in the tensor or -1, offset in shared memory) for each element of the box.
    template <class F>
    void for_each(const Coordinates& at, Reached reached, std::uint32_t address, F f) {
        const std::vector<std::int64_t>& box = tensor.box.extents;
        std::int64_t count = 1;
        for (std::int64_t extent : box) count *= extent;
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t rest = i, from = 0;
            bool inside = true;
            for (std::size_t d = 0; d < box.size(); ++d) {
                const std::int64_t x = at[d] + rest % box[d];
                rest /= box[d];
                std::int64_t extent = tensor.extents[d];
                if (const std::int64_t unit = 16 / element(); d == 0 && reached == Reached::units)
                    extent = (extent + unit - 1) / unit * unit;
                inside &= x >= 0 && x < extent;
                from += x * (d == 0 ? element() : tensor.strides[d - 1]);
            }
            // Lines lie a swizzle apart.
            const std::int64_t pitch = std::max<std::int64_t>(
                box[0] * element(), tensor.box.swizzle == SwizzleMode::none ? 0 : width(tensor.box.swizzle));
            const auto place =
                address + static_cast<std::uint32_t>(i / box[0] * pitch + i % box[0] * element());
            f(inside ? from : -1, swizzled(tensor.box.swizzle, place) - base);
        }
    }

    Mapped tensor;
    TensorMap map;
};

std::vector<std::byte> noise(std::size_t size) {
    std::vector<std::byte> out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = std::byte(i * 31 + i / 127);
    return out;
}

const std::vector<Model> models() {
    using enum SwizzleMode;
    return {
        {{37}, {Dtype::f32, {16}}},
        {{64, 20}, {Dtype::bf16, {64, 8}, b128}, 32},
        {{40, 30}, {Dtype::bf16, {32, 16}, b64}},
        {{24, 9}, {Dtype::f16, {16, 8}, b32, true}},
        {{24, 9}, {Dtype::f32, {8, 4}, none, true}, 16},
        {{40, 30}, {Dtype::bf16, {16, 3}, b128}},  // a swizzle wider than the lines
        {{48, 9}, {Dtype::u8, {16, 256}}},
        {{8, 5, 7}, {Dtype::f32, {4, 3, 2}}, 16},
        {{16, 4, 3, 5}, {Dtype::bf16, {8, 2, 3, 2}}},
        {{16, 4, 3, 5, 3}, {Dtype::s8, {16, 3, 2, 2, 2}}, 48},
        {{16, 4, 3, 5, 3}, {Dtype::f32, {32, 2, 2, 2, 2}, b128}},
    };
}

}  // namespace

TEST_CASE("boxes are loaded by the definition: swizzled, strided, filled outside the tensor") {
    std::mt19937 random(1);
    for (Model model : models()) {
        model.map.box = &model.tensor.box;
        for (int trial = 0; trial < 40; ++trial) {
            Coordinates at{};
            for (std::size_t d = 0; d < model.tensor.extents.size(); ++d) {
                const auto span = static_cast<int>(model.tensor.extents[d] + model.tensor.box.extents[d] + 4);
                at[d] = static_cast<int>(random() % static_cast<unsigned>(span)) -
                        static_cast<int>(model.tensor.box.extents[d]) - 2;
            }
            const std::uint32_t address = base + 1024 + 128 * (random() % 8);
            std::vector<std::byte> memory = noise(16384), want = memory;
            model.for_each(at, Reached::elements, address, [&](std::int64_t from, std::uint32_t to) {
                const auto size = static_cast<std::size_t>(model.element());
                if (from >= 0) {
                    std::memcpy(want.data() + to, model.tensor.data.data() + from, size);
                } else {
                    for (std::size_t b = 0; b < size; ++b)
                        want[to + b] = std::byte(!model.tensor.box.nan_fill ? 0 : b % 2 == 0 ? 0xF7 : 0x7F);
                }
            });
            load_box(model.view(), at, {memory.data(), base, address});
            REQUIRE(memory == want);
        }
    }
    // Coordinates so far away that they overflow if one multiplies them.
    for (const std::int32_t far : {INT32_MIN, INT32_MAX, -257, 1 << 20}) {
        Model model({40, 30}, {Dtype::bf16, {32, 16}});
        std::vector<std::byte> memory = noise(2048);
        load_box(model.view(), {{far, far}}, {memory.data(), base, base});
        CHECK(std::count(memory.begin(), memory.begin() + 1024, std::byte{0}) == 1024);
    }
}

TEST_CASE("boxes are stored and added by the definition, and clipped at the end of a line's last unit") {
    std::mt19937 random(2);
    for (Model model : models()) {
        model.map.box = &model.tensor.box;
        for (int trial = 0; trial < 40; ++trial) {
            Coordinates at{};
            for (std::size_t d = 0; d < model.tensor.extents.size(); ++d)
                at[d] = static_cast<int>(random() % static_cast<unsigned>(model.tensor.extents[d] + 2));
            const bool adds = model.tensor.box.dtype == Dtype::f32 && trial % 2 == 0;
            const std::uint32_t address = base + 1024 + 128 * (random() % 8);
            std::vector<std::byte> memory = noise(16384);
            if (adds)
                for (std::size_t i = 0; i < memory.size(); i += 4) {
                    const auto small = static_cast<float>(i % 97);
                    std::memcpy(memory.data() + i, &small, 4);
                }
            std::vector<std::byte> before = model.tensor.data;
            if (adds)
                for (std::size_t i = 0; i + 4 <= before.size(); i += 4) {
                    const auto small = static_cast<float>(i % 89);
                    std::memcpy(before.data() + i, &small, 4);
                }
            model.tensor.data = before;
            std::vector<std::byte> want = before;
            model.for_each(at, Reached::units, address, [&](std::int64_t to, std::uint32_t from) {
                if (to < 0) return;
                if (!adds) {
                    std::memcpy(want.data() + to, memory.data() + from,
                                static_cast<std::size_t>(model.element()));
                    return;
                }
                float a, b;
                std::memcpy(&a, want.data() + to, 4);
                std::memcpy(&b, memory.data() + from, 4);
                a += b;
                std::memcpy(want.data() + to, &a, 4);
            });
            using enum isa::BulkCopy::Reduction;
            store_box(model.view(), at, {memory.data(), base, address}, adds ? add : none);
            REQUIRE(model.tensor.data == want);
        }
    }
}

TEST_CASE("a swizzled box is the tile that wgmma reads") {
    // The panels of a K-major tile are boxes as wide as the swizzle: the descriptor and the copy agree.
    for (const SwizzleMode mode : {SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
        const int columns = width(mode) / 2;
        Model model({columns, 64}, {Dtype::bf16, {columns, 64}, mode});
        std::vector<std::byte> memory(16384);
        load_box(model.view(), {{0, 0}}, {memory.data(), base, base + 1024});
        const Tile tile({Dtype::bf16, 64, columns, Major::k, mode, AtomOrder::mn});
        for (int row = 0; row < 64; ++row)
            for (int k = 0; k < columns; ++k) {
                const auto offset = static_cast<std::size_t>(tile.offset(row, k));
                REQUIRE(std::memcmp(memory.data() + 1024 + offset,
                                    model.tensor.data.data() + 2 * (row * columns + k), 2) == 0);
            }
    }
}

TEST_CASE("tensor maps that do not fit their tensor are refused") {
    Mapped x = mapped({64, 8}, {Dtype::f32, {16, 8}});
    AsyncScript k(32);
    k.map(x);
    const Program program = k.finish();
    const auto refused = [&](auto change) -> std::string {
        Mapped other = x;
        change(other);
        try {
            run_mapped(program, {&other}, 0);
        } catch (const ArgumentError& error) {
            return error.what();
        }
        return "accepted";
    };
    CHECK(refused([](Mapped&) {}) == "accepted");
    CHECK_THAT(refused([](Mapped& m) { m.strides[0] = 250; }),
               ContainsSubstring("stride 250 is not a multiple"));
    CHECK_THAT(refused([](Mapped& m) { m.strides[0] = 512; }), ContainsSubstring("lie in no buffer"));
    CHECK_THAT(refused([](Mapped& m) { m.extents[1] = 9; }), ContainsSubstring("lie in no buffer"));
    CHECK_THAT(refused([](Mapped& m) { m.extents = {64}; }), ContainsSubstring("the box has 2 dimensions"));
    CHECK_THAT(refused([](Mapped& m) { m.extents[1] = 0; }), ContainsSubstring("extent 0"));
    CHECK_THAT(refused([](Mapped& m) {
                   m.extents[1] = std::int64_t{1} << 32;
                   m.strides[0] = std::int64_t{1} << 36;
               }),
               ContainsSubstring("larger than any memory"));
    CHECK_THAT(refused([](Mapped& m) { m.box.extents[1] = 300; }), ContainsSubstring("1 to 256"));
}

TEST_CASE("what a tensor copy names: WG-TMA-01 and -06") {
    Mapped x = mapped({64, 8}, {Dtype::f32, {16, 8}});
    AsyncScript k(32);
    const Reg map = k.map(x);
    const int tile = k.buffer("tile", 1024), full = k.mbarriers("full", 1);
    k.init(2, full, {1});
    const auto message = [&](const char* rule) {
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{rule, 10}});
        return finding_of(program, {&x}, rule).message;
    };
    SECTION("no tensor map") {
        k.load(10, in_buffer(tile), k(1, "add_u64", {map, 64}), {0, 0}, in_buffer(full), {k.first});
        CHECK_THAT(message("WG-TMA-01"), ContainsSubstring("is not a tensor map of the launch"));
    }
    SECTION("another number of dimensions") {
        k.load(10, in_buffer(tile), map, {0, 0, 0}, in_buffer(full), {k.first});
        CHECK(message("WG-TMA-01") == "the copy has 3 dimensions, its tensor map 2");
    }
    SECTION("a place in shared memory that is not aligned") {
        k.load(10, in_buffer(tile, 64), map, {0, 0}, in_buffer(full), {k.first});
        CHECK(message("WG-TMA-01") ==
              "the copy's place in shared memory, `tile` + 64, is not a multiple of 128 bytes");
    }
    SECTION("a box that ends outside the buffer") {
        k.load(10, in_buffer(tile, 640), map, {0, 0}, in_buffer(full), {k.first});
        CHECK_THAT(message("WG-MEM-03"), ContainsSubstring("the bulk copy moves 512 bytes at `tile` + 640"));
    }
    SECTION("short lines that do, since a swizzle keeps them apart") {
        Mapped narrow = mapped({64, 8}, {Dtype::f32, {8, 3}, SwizzleMode::b128});
        AsyncScript n(32);
        const Reg of = n.map(narrow);
        const int small = n.buffer("small", 256), bar = n.mbarriers("bar", 1);
        n.init(2, bar, {1});
        n.load(10, in_buffer(small), of, {0, 0}, in_buffer(bar), {n.first});
        const Program program = n.finish();
        expect_mapped(program, {&narrow}, {{"WG-MEM-03", 10}});
        CHECK_THAT(
            finding_of(program, {&narrow}, "WG-MEM-03").message,
            ContainsSubstring("the bulk copy moves 384 bytes at `small`, of which the last 128 lie past"));
    }
    SECTION("a store below 0") {
        k.store(10, map, {0, -1}, in_buffer(tile), {k.first});
        CHECK(message("WG-TMA-06") ==
              "a store starts at coordinate -1 of dimension 1: only loads may start below 0");
    }
    SECTION("a start within 16 bytes of a line") {
        k.step(10, "cp_async_bulk_prefetch_tensor_2d", {map, k.coordinates({-6, 0})}, {k.first});
        CHECK(message("WG-TMA-06") ==
              "the box starts at element -6 of its lines, -24 bytes from their beginning: no multiple of 16");
    }
    SECTION("a reduction that the type does not have") {
        k.step(10, "cp_reduce_async_bulk_tensor_2d_and", {map, k.coordinates({0, 0}), in_buffer(tile)},
               {k.first});
        CHECK(message("WG-TMA-01") == "the tensor map's element type has no such reduction");
    }
    SECTION("a prefetch checks its map, and does nothing else") {
        k.step(10, "cp_async_bulk_prefetch_tensor_3d", {map, k.coordinates({0, 0, 0})}, {k.first});
        CHECK(message("WG-TMA-01") == "the copy has 3 dimensions, its tensor map 2");
    }
}

namespace {

/// The places of all pixels of the bounding box of every image, in the order in which copies go over them.
std::vector<std::array<std::int64_t, 4>> places_of(const Mapped& tensor) {
    std::vector<std::array<std::int64_t, 4>> out{{}};
    const std::size_t images = tensor.extents.size() - 1;
    for (std::size_t d = images; d >= 1; --d) {
        const std::int64_t step = tensor.box.steps.empty() || d == images ? 1 : tensor.box.steps[d];
        const std::int64_t first = d == images ? 0 : tensor.box.pixels->lower[d - 1];
        const std::int64_t last = tensor.extents[d] - 1 + (d == images ? 9 : tensor.box.pixels->upper[d - 1]);
        std::vector<std::array<std::int64_t, 4>> longer;
        for (std::array<std::int64_t, 4> place : out)
            for (place[d - 1] = first; place[d - 1] <= last; place[d - 1] += step) longer.push_back(place);
        out = std::move(longer);
    }
    return out;
}

}  // namespace

TEST_CASE("the pixels of an im2col map are those of its bounding box, line by line and image by image") {
    using Pixels = TensorBox::Pixels;
    std::mt19937 random(5);
    for (const Mapped& given :
         {mapped({16, 9, 3}, {Dtype::f32, {8, 20, 1}, SwizzleMode::none, false, {}, Pixels{{-1}, {-1}}}),
          mapped({16, 5, 6, 2},
                 {Dtype::f32, {8, 33, 1, 1}, SwizzleMode::b32, true, {}, Pixels{{-2, -1}, {0, 1}}}),
          mapped(
              {32, 7, 6, 2},
              {Dtype::bf16, {16, 40, 1, 1}, SwizzleMode::b64, false, {1, 2, 3, 1}, Pixels{{0, -1}, {-1, 0}}}),
          mapped({16, 4, 3, 5, 2}, {Dtype::f32,
                                    {16, 50, 1, 1, 1},
                                    SwizzleMode::none,
                                    false,
                                    {},
                                    Pixels{{-1, 0, -1}, {0, -1, 1}}})}) {
        Mapped tensor = given;
        const TensorMap map{1, 2, tensor.extents, tensor.strides, &tensor.box};
        check_box(tensor.box);
        const auto places = places_of(tensor);
        const std::size_t images = tensor.extents.size() - 1;
        const std::int64_t element = bits(tensor.box.dtype) / 8;
        for (int trial = 0; trial < 60; ++trial) {
            const std::size_t first = random() % (places.size() / 4);
            Coordinates at{};
            at[0] = static_cast<int>(random() % 3 * 8);
            for (std::size_t d = 1; d <= images; ++d) at[d] = static_cast<int>(places[first][d - 1]);
            for (std::size_t d = 0; d + 1 < images; ++d)
                at.offsets[d] = static_cast<std::uint16_t>(random() % 3);
            std::vector<std::byte> memory = noise(16384), want = memory;
            for (std::size_t pixel = 0; pixel < static_cast<std::size_t>(tensor.box.extents[1]); ++pixel)
                for (std::int64_t c = 0; c < tensor.box.extents[0]; ++c) {
                    bool inside = at[0] + c < tensor.extents[0];
                    std::int64_t from = (at[0] + c) * element;
                    for (std::size_t d = 1; d <= images; ++d) {
                        const std::int64_t x =
                            places[first + pixel][d - 1] + (d < images ? at.offsets[d - 1] : 0);
                        inside = inside && x >= 0 && x < tensor.extents[d];
                        from += x * tensor.strides[d - 1];
                    }
                    const std::uint32_t to =
                        swizzled(
                            tensor.box.swizzle,
                            base + static_cast<std::uint32_t>(
                                       static_cast<std::int64_t>(pixel) * tensor.box.pitch() + c * element)) -
                        base;
                    for (std::int64_t b = 0; b < element; ++b)
                        want[to + static_cast<std::size_t>(b)] =
                            inside ? tensor.data[static_cast<std::size_t>(from + b)]
                                   : std::byte(!tensor.box.nan_fill ? 0
                                               : b % 2 == 0         ? 0xF7
                                                                    : 0x7F);
                }
            load_box({&map, tensor.data.data()}, at, {memory.data(), base, base});
            REQUIRE(memory == want);
            // Stored back, the elements are what they were.
            at.offsets = {};
            load_box({&map, tensor.data.data()}, at, {memory.data(), base, base});
            const std::vector<std::byte> before = tensor.data;
            store_box({&map, tensor.data.data()}, at, {memory.data(), base, base},
                      isa::BulkCopy::Reduction::none);
            REQUIRE(tensor.data == before);
        }
    }
}
