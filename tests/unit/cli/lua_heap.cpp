// Blocks of the tool's Lua state: they keep what is in them, whatever is made, resized and given back
// besides.
#include "bindings/cli/lua_heap.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace wgrun::cli;

TEST_CASE("blocks of the heap of Lua do not overlap, and keep what they hold when they are resized") {
    struct Block {
        std::byte* at;
        std::size_t size;
        std::byte mark;
    };
    LuaHeap heap;
    std::vector<Block> blocks;
    std::mt19937 random(7);
    const auto draw_size = [&] { return random() % 8 == 0 ? 1 + random() % 5000 : 1 + random() % 600; };
    const auto holds = [](const Block& block, std::size_t bytes) {
        return std::all_of(block.at, block.at + bytes, [&](std::byte b) { return b == block.mark; });
    };
    for (int i = 0; i < 60000; ++i) {
        const std::size_t which = blocks.empty() ? 0 : random() % blocks.size();
        if (blocks.empty() || random() % 3 == 0) {
            const std::size_t size = draw_size();
            void* const made = LuaHeap::allocate(&heap, nullptr, 5, size);  // 5: a type, and no size
            REQUIRE(reinterpret_cast<std::uintptr_t>(made) % 16 == 0);
            blocks.push_back({static_cast<std::byte*>(made), size, std::byte(i)});
            std::fill_n(blocks.back().at, size, blocks.back().mark);
            continue;
        }
        Block& block = blocks[which];
        REQUIRE(holds(block, block.size));
        if (random() % 2 == 0) {
            CHECK(LuaHeap::allocate(&heap, block.at, block.size, 0) == nullptr);
            block = blocks.back();
            blocks.pop_back();
        } else {
            const std::size_t size = draw_size();
            block.at = static_cast<std::byte*>(LuaHeap::allocate(&heap, block.at, block.size, size));
            REQUIRE(holds(block, std::min(size, block.size)));
            block.size = size;
            std::fill_n(block.at, size, block.mark);
        }
    }
    for (const Block& block : blocks) {
        CHECK(holds(block, block.size));
        LuaHeap::allocate(&heap, block.at, block.size, 0);
    }
    CHECK(LuaHeap::allocate(&heap, nullptr, 0, 0) == nullptr);
}
