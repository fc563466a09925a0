// kernel:sizes: the sizes that are legal for a kernel, and how it is launched with them.
#include "bindings/lua/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

constexpr std::int64_t usual_most = 4096;

[[noreturn]] void fail_size(lua_State* L, std::string_view name, int index, const char* expected) {
    const ShortText got = describe(L, index);
    fail(L, [&] {
        return ArgumentError(
            fmt::format("kernel:sizes: size `{}`: expected {}, got {}", name, expected, got.text),
            "n = { 1, 4096 }, k = { 64, 1024, multiple_of = 64 }");
    });
}

// The integer in a field of the range on top of the stack, or the fallback.
std::int64_t limit(lua_State* L, std::string_view name, std::int64_t fallback) {
    std::int64_t value = fallback;
    if (!lua_isnil(L, -1) && !to_integer(L, -1, value)) fail_size(L, name, -1, "integers");
    lua_pop(L, 1);
    return value;
}

// Reads the range on top of the stack.
void read_range(lua_State* L, std::string_view name, SizeRange& range) {
    if (lua_type(L, -1) != LUA_TTABLE) fail_size(L, name, -1, "a table such as { 1, 4096 }");
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        const bool place = lua_isinteger(L, -2) && (lua_tointeger(L, -2) == 1 || lua_tointeger(L, -2) == 2);
        if (!place && (lua_type(L, -2) != LUA_TSTRING || string_argument(L, -2) != "multiple_of"))
            fail_size(L, name, -2, "the least, the most, and multiple_of, but there is the key");
    }
    lua_getfield(L, -1, "multiple_of");
    range.multiple_of = limit(L, name, 1);
    const std::int64_t step = std::max<std::int64_t>(range.multiple_of, 1);
    lua_rawgeti(L, -1, 1);
    range.least = limit(L, name, step);
    lua_rawgeti(L, -1, 2);
    range.most = limit(L, name, std::max(usual_most / step * step, range.least));
    guarded(L, [&] {
        range.name = name;
        check_size(range);
    });
}

// kernel:sizes{ NAME = { least, most, multiple_of = }, ..., run = function(size) ... end }
int kernel_sizes(lua_State* L) {
    check<Kernel>(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    auto& sizes = held<DeclaredSizes>(L);  // at 3
    sizes.where = caller(L);
    for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) fail_size(L, "?", -2, "a name");
        const std::string_view name = string_argument(L, -2);
        if (name == "run") continue;
        SizeRange& range = *guarded(L, [&] { return &sizes.ranges.emplace_back(); });
        read_range(L, name, range);
    }
    if (sizes.ranges.empty())
        fail(L, [] { return ArgumentError("kernel:sizes: there is no size", "n = { 1, 4096 }"); });
    // The order of a table's keys is not that of the text.
    std::ranges::sort(sizes.ranges, {}, &SizeRange::name);
    lua_getfield(L, 2, "run");  // at 4
    if (lua_type(L, 4) != LUA_TFUNCTION) {
        const ShortText got = describe(L, 4);
        fail(L, [&] {
            return ArgumentError(
                fmt::format("kernel:sizes: option `run`: expected a function, got {}", got.text),
                "run = function(size) kernel:run { grid = { size.n }, args = { ..., size.n } } end");
        });
    }
    if (session(L).mode == Mode::run) return 0;
    push_kernels(L);
    lua_pushvalue(L, 1);
    lua_createtable(L, 2, 0);
    for (const int part : {3, 4}) {
        lua_pushvalue(L, part);
        lua_rawseti(L, -2, part - 2);
    }
    lua_rawset(L, -3);
    return 0;
}

}  // namespace

const DeclaredSizes* push_sizes(lua_State* L, int index) {
    index = lua_absindex(L, index);
    push_kernels(L);
    lua_pushvalue(L, index);
    const bool declared = lua_rawget(L, -2) == LUA_TTABLE;
    if (!declared) return lua_pop(L, 2), nullptr;
    lua_rawgeti(L, -1, 1);
    const auto* sizes = test<DeclaredSizes>(L, -1);
    lua_rawgeti(L, -2, 2);
    lua_insert(L, -4);
    lua_pop(L, 3);
    return sizes;
}

void name_size(Diagnostic& finding, std::string_view kernel, const DeclaredSizes& sizes,
               const std::vector<std::int64_t>& values, std::uint64_t seed) {
    finding.notes.push_back({sizes.where, "with " + text_of(sizes.ranges, values)});
    FoundIn& launch = finding.launch.emplace(
        FoundIn{.by = FoundIn::By::script, .kernel = std::string(kernel), .seed = seed});
    for (std::size_t i = 0; i < values.size(); ++i)
        launch.numbers.emplace_back(sizes.ranges[i].name, values[i]);
}

void push_size(lua_State* L, const std::vector<SizeRange>& ranges, const std::vector<std::int64_t>& values) {
    lua_createtable(L, 0, static_cast<int>(ranges.size()));
    for (std::size_t i = 0; i < ranges.size(); ++i) put_integer(L, ranges[i].name.c_str(), values[i]);
}

void open_sizes(lua_State* L) {
    static const Member of_kernel[] = {{"sizes", kernel_sizes, R"(
Declares the sizes that are legal for the kernel: a range for each, `{ least, most, multiple_of = }`, and a function that launches the kernel with given ones. `wgrun check --dynamic` calls the function with sizes at the edges: the limits, and those beside the extents that stand in the kernel. An error that the function raises, as by assert, is a finding. Without `--dynamic` it looks ahead at a few of these launches, with placeholder memory.
@param declaration table  the sizes by their names, and `run`
@field run function(size)  makes tensors, launches the kernel, and may compare the results; `size` has the values by their names
@see kernel:run
@example
  double:sizes {
    n = { 1, 1000 },
    run = function(size)
      local X = wg.ones("f32", { size.n })
      double:run { grid = (size.n + 127) // 128, args = { X, size.n } }
      assert(X[size.n - 1] == 2)
    end,
  })"},
                                       {}};
    add_methods<Kernel>(L, of_kernel);
}

}  // namespace wgrun::lua
