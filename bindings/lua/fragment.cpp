// wg.fragment: the mapping of threads and registers to the elements of a matrix.
#include "wgrun/fragment.hpp"

#include <array>
#include <functional>

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

/// The options of wg.fragment.
struct FragmentArguments {
    Dtype dtype = Dtype::f32;
    int n = 0;
    int k = 0;
    int matrices = 0;
    bool trans = false;
};

/// One kind of fragment: the options that it takes and how it is made.
struct FragmentKind {
    std::string_view name;
    bool dtype, n, k, matrices;
    Fragment (*make)(const FragmentArguments&);
};

constexpr std::array fragment_kinds{
    FragmentKind{"wgmma_d", true, true, false, false,
                 [](const FragmentArguments& a) { return wgmma_d(a.dtype, a.n); }},
    FragmentKind{"wgmma_a", true, false, false, false,
                 [](const FragmentArguments& a) { return wgmma_a(a.dtype); }},
    FragmentKind{"wgmma_sparse_a", true, false, false, false,
                 [](const FragmentArguments& a) { return wgmma_sparse_a(a.dtype); }},
    FragmentKind{"wgmma_metadata", true, false, false, false,
                 [](const FragmentArguments& a) { return wgmma_metadata(a.dtype); }},
    FragmentKind{"mma_sync_a", true, false, true, false,
                 [](const FragmentArguments& a) { return mma_sync_a(a.dtype, a.k); }},
    FragmentKind{"mma_sync_b", true, false, true, false,
                 [](const FragmentArguments& a) { return mma_sync_b(a.dtype, a.k); }},
    FragmentKind{"mma_sync_c", false, false, false, false,
                 [](const FragmentArguments&) { return mma_sync_c(); }},
    FragmentKind{"ldmatrix", false, false, false, true,
                 [](const FragmentArguments& a) { return ldmatrix(a.matrices, a.trans); }},
    FragmentKind{"stmatrix", false, false, false, true,
                 [](const FragmentArguments& a) { return stmatrix(a.matrices, a.trans); }},
};

int refuse(lua_State* L, const Options& options, const FragmentKind& kind, const char* key) {
    if (!options.has(key)) return 0;
    fail(L, [&] {
        return "wg.fragment: \"" + std::string(kind.name) + "\" does not take the option `" +
               std::string(key) + "`";
    });
}

int small_option(const Options& options, const char* key) {
    return static_cast<int>(options.integer(key, {}, 1, 65536));
}

constexpr Option fragment_keys[] = {
    {"of", R"(string)",
     R"("wgmma_d", "wgmma_a", "wgmma_sparse_a", "wgmma_metadata", "mma_sync_a", "mma_sync_b", "mma_sync_c", "ldmatrix" or "stmatrix")"},
    {"dtype", "string?", "the element type, for wgmma and for mma_sync_a, mma_sync_b"},
    {"n", "integer?", "the columns, for wgmma_d"},
    {"k", "integer?", "the K extent, for mma_sync_a and mma_sync_b"},
    {"matrices", "integer?", "1, 2 or 4, for ldmatrix and stmatrix"},
    {"trans", "boolean = false", "whether the matrices are transposed, for ldmatrix and stmatrix"}};

// wg.fragment{ of = "wgmma_d", dtype = "f32", n = 128 }
int fragment_new(lua_State* L) {
    static constexpr auto names = [] {
        std::array<std::string_view, fragment_kinds.size()> list{};
        for (std::size_t i = 0; i < fragment_kinds.size(); ++i) list[i] = fragment_kinds[i].name;
        return list;
    }();
    const Options options(L, 1, "wg.fragment", fragment_keys);
    const FragmentKind& kind = fragment_kinds[options.choice("of", names)];
    FragmentArguments asked;
    if (kind.dtype) {
        const std::string_view dtype = options.string("dtype");
        asked.dtype = guarded(L, [&] { return dtype_named(dtype); });
    } else {
        refuse(L, options, kind, "dtype");
    }
    asked.n = kind.n ? small_option(options, "n") : refuse(L, options, kind, "n");
    asked.k = kind.k ? small_option(options, "k") : refuse(L, options, kind, "k");
    if (kind.matrices) {
        asked.matrices = small_option(options, "matrices");
        asked.trans = options.boolean("trans", false);
    } else {
        refuse(L, options, kind, "matrices");
        refuse(L, options, kind, "trans");
    }
    push_object<Fragment>(L, [&] { return kind.make(asked); });
    return 1;
}

// f:at(thread, value): row, column; all count from 0
int fragment_at(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    const int thread = small_argument(L, 2);
    const int value = small_argument(L, 3);
    const Fragment::Place place = guarded(L, [&] { return fragment.at(thread, value); });
    lua_pushinteger(L, place.row);
    lua_pushinteger(L, place.column);
    return 2;
}

// f:owner(row, column): thread, value
int fragment_owner(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    const int row = small_argument(L, 2);
    const int column = small_argument(L, 3);
    const Fragment::Owner owner = guarded(L, [&] { return fragment.owner(row, column); });
    lua_pushinteger(L, owner.thread);
    lua_pushinteger(L, owner.value);
    return 2;
}

// f:inverse(): (row, column) -> thread + threads * value
int fragment_inverse(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    push_object<Layout>(L, [&] { return fragment.inverse(); });
    return 1;
}

int fragment_layout(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    push_object<Layout>(L, [&] { return fragment.tv; });
    return 1;
}

template <auto Member>
int fragment_number(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    lua_pushinteger(L, guarded(L, [&]() -> int { return std::invoke(Member, fragment); }));
    return 1;
}

int fragment_tostring(lua_State* L) {
    const auto& fragment = check<Fragment>(L, 1);
    lua_pushlstring(L, fragment.name.data(), fragment.name.size());
    return 1;
}

}  // namespace

void open_fragment(lua_State* L) {
    static const Member methods[] = {

        {"at", fragment_at, R"(
The element that a thread holds.
@param thread integer  from 0
@param value integer  the index among its values, from 0
@return integer  the row
@return integer  the column)"},
        {"owner", fragment_owner, R"(
The thread and value that hold an element.
@param row integer  from 0
@param column integer  from 0
@return integer  the thread
@return integer  the index among its values)"},
        {"inverse", fragment_inverse, R"(
The layout from (row, column) to thread + threads * value.
@return layout)"},
        {}};
    static const Member fields[] = {{"layout", fragment_layout, R"(
The layout from (thread, value) to row + rows * column.
@return layout)"},

                                    {"rows", fragment_number<&Fragment::rows>, R"(
The rows of the matrix.
@return integer)"},

                                    {"columns", fragment_number<&Fragment::columns>, R"(
The columns of the matrix.
@return integer)"},

                                    {"threads", fragment_number<&Fragment::threads>, R"(
The threads that hold it together: 32 or 128.
@return integer)"},

                                    {"values", fragment_number<&Fragment::values>, R"(
The elements that a thread holds.
@return integer)"},

                                    {"registers", fragment_number<&Fragment::registers>, R"(
The 32-bit registers that hold them.
@return integer)"},

                                    {"per_register", fragment_number<&Fragment::per_register>, R"(
The elements in one register.
@return integer)"},
                                    {}};
    static const Member metamethods[] = {{"__tostring", fragment_tostring}, {}};
    declare<Fragment>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
The mapping of threads and registers to the elements of a matrix, made by wg.fragment. To compute with accumulators, see the type accumulator.
@see wg.fragment)"});
    static const Member functions[] = {{"fragment", fragment_new, R"(
The mapping of threads and registers to the elements of an instruction's matrix.
@param options table
@return fragment
@example
  print(wg.fragment { of = "wgmma_d", dtype = "f32", n = 128 }:at(5, 3))  -- row and column)",
                                        fragment_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
