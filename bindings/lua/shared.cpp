// k:shared and the buffers in shared memory that it makes; k:local_.
#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

constexpr Option shared_keys[] = {
    {"bytes", "integer?", "the size in bytes, where no tile is given"},
    {"align", "integer = 16", "the alignment in bytes; with a tile, by default what the tile needs"},
    {"name", R"(string = "shared")", R"(the name in messages)"},
    {"tile", "tile?", "the tile that the buffer holds"},
    {"count", "integer = 1", "the number of them, one after the other: 1 to 1024"}};

// k:shared(tile [, name]) or k:shared{ bytes =, align =, name = }
int builder_shared(lua_State* L) {
    const auto& trace = trace_argument(L);
    std::int64_t bytes = 0, align = 16, count = 1;
    std::string_view name = "shared";
    const Tile* tile = test<Tile>(L, 2);
    if (tile == nullptr) {
        if (lua_type(L, 2) == LUA_TNUMBER) fail_argument(L, 2, "a tile, or { bytes = }");
        const Options options(L, 2, "k:shared", shared_keys);
        if (options.has("tile")) {
            options.push("tile");
            tile = test<Tile>(L, -1);
            if (tile == nullptr) options.fail_value("tile", "a tile made by wg.tile");
            if (options.has("bytes")) {
                options.push("bytes");
                options.fail_value("bytes", "none beside a tile, which has a size of its own");
            }
        } else {
            bytes = options.integer("bytes");
        }
        count = options.integer("count", 1, 1, 1024);
        align = options.integer("align", tile != nullptr ? tile->align() : 16);
        name = options.string("name", name);
    } else {
        align = tile->align();
        if (!lua_isnoneornil(L, 3)) name = string_argument(L, 3);
    }
    Builder& builder = builder_of(L, trace);
    const int index = guarded(L, [&] {
        std::optional<Tile> layout;
        if (tile != nullptr) layout = *tile, bytes = tile->bytes();
        const std::int64_t total = bytes > INT64_MAX / count ? INT64_MAX : bytes * count;
        return builder.shared(std::string(name), total, align, layout);
    });
    push_object<SharedBox>(L, [&] { return SharedBox{trace, index}; });
    return 1;
}

constexpr Option local_keys[] = {
    {"bytes", "integer", "the size in bytes"},
    {"align", "integer = 16", "the alignment in bytes: a power of two up to 128"}};

// k:local_{ bytes =, align = }
int builder_local(lua_State* L) {
    const auto& trace = trace_argument(L);
    const Options options(L, 2, "k:local_", local_keys);
    const std::int64_t bytes = options.integer("bytes"), align = options.integer("align", 16);
    Builder& builder = builder_of(L, trace);
    const Reg address = guarded(L, [&] {
        const std::int64_t offset = builder.local(bytes, align);
        return builder.add(*isa::find("local.address"), {}, {{}, Operand::immediate(offset)}).operands[0].reg;
    });
    push_reg(L, trace, address);
    return 1;
}

/// Valid until the next call of Lua: a finalizer may add buffers.
const SharedBuffer& buffer_of(lua_State* L) {
    const SharedBox& box = check<SharedBox>(L, 1);
    return builder_of(L, box.trace).shared_buffer(box.index);
}

int shared_bytes(lua_State* L) {
    lua_pushinteger(L, buffer_of(L).bytes);
    return 1;
}

int shared_name(lua_State* L) {
    lua_pushstring(L, buffer_of(L).name.c_str());
    return 1;
}

int shared_tile(lua_State* L) {
    if (!buffer_of(L).tile) return lua_pushnil(L), 1;
    const SharedBox& box = check<SharedBox>(L, 1);
    push_object<Tile>(L, [&] { return *box.trace->builder->shared_buffer(box.index).tile; });
    return 1;
}

int shared_tostring(lua_State* L) {
    const SharedBox& box = check<SharedBox>(L, 1);
    lua_pushfstring(L, "shared buffer %d of kernel %s", box.index, box.trace->name.c_str());
    return 1;
}

}  // namespace

void open_shared(lua_State* L) {
    static const Member methods[] = {{"shared", builder_shared, R"(
Allocates a buffer in shared memory.
@param options tile|table  a tile, or a table of options
@param name string?  with a tile: the buffer's name in messages
@return shared
@example
  local a = k:shared(tile, "a")
  local stages = k:shared { tile = tile, count = 4, name = "stages" }
  local barrier = k:shared { bytes = 8, align = 8, name = "full" })",
                                      shared_keys},

                                     {"local_", builder_local, R"(
Reserves local memory: each thread has its own, which outlives registers and is as far away as global memory. Every byte is undefined at first.
@param options table
@return reg  u64: the address in the local space, for k:ld_local_... and k:st_local_...
@example
  local stack = k:local_ { bytes = 64, align = 16 }
  k:st_local_u32(stack + 4, 1)
  local x = k:ld_local_u32(stack + 4))",
                                      local_keys},

                                     {}};
    add_methods<BuilderBox>(L, methods);
    static const Member shared_fields[] = {

        {"bytes", shared_bytes, R"(
The size of the buffer.
@return integer  bytes)"},
        {"name", shared_name, R"(
The name in messages.
@return string)"},
        {"tile", shared_tile, R"(
The tile that it holds, or nil.
@return tile?)"},
        {}};
    static const Member shared_metamethods[] = {{"__tostring", shared_tostring}, {}};
    declare<SharedBox>(L, {.fields = shared_fields, .metamethods = shared_metamethods, .text = R"(
A buffer in shared memory, made by k:shared. Where an instruction takes an address, the buffer stands for its own; k:address gives the address in a register.
@see k:shared)"});
}

}  // namespace wgrun::lua
