// check without --dynamic looks ahead at some launches of the sizes that scripts declare.
#include "bindings/cli/edges.hpp"
#include "bindings/lua/sizes.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::cli {
namespace {

/// Of the kernel at the top of the stack.
void look_ahead(lua_State* L, Sweep& sweep) {
    constexpr std::size_t most_ahead = 8;
    Kernel& kernel = lua::check<Kernel>(L, -1);
    const lua::DeclaredSizes* sizes = lua::push_sizes(L, -1);
    if (sizes == nullptr) return;
    const int function = lua_gettop(L);
    auto& drawn = lua::held<Outcome>(L);
    auto& launches = lua::held<std::vector<std::vector<std::int64_t>>>(L);
    LookedAt& looked = *lua::guarded(L, [&] {
        launches = edge_sizes(kernel.program(), sizes->ranges, {}, most_ahead);
        return &sweep.kernels.emplace_back(LookedAt{kernel.program().name(), sizes->where, sizes->ranges});
    });
    for (const std::vector<std::int64_t>& values : launches) {
        const std::size_t known = lua::guarded(L, [&] { return kernel.check().size(); });
        lua_pushvalue(L, function);
        lua::push_size(L, sizes->ranges, values);
        call_protected(L, 1, drawn);
        lua::guarded(L, [&] {
            if (drawn.code == Exit::interrupted) sweep.code = drawn.code;
            drawn = {};
            looked.launches.push_back(values);
            const std::vector<Diagnostic>& findings = kernel.check();
            for (std::size_t i = known; i < findings.size(); ++i) {
                Diagnostic finding = findings[i];
                finding.notes.push_back({sizes->where, "with " + text_of(sizes->ranges, values)});
                sweep.findings.add_wordings({&finding, 1});
            }
        });
        if (sweep.code != Exit::ok) break;
        lua_gc(L, LUA_GCCOLLECT);  // the tensors of this size
    }
    lua_settop(L, function - 1);
}

}  // namespace

void look_ahead_at_sizes(lua_State* L, Sweep& sweep) {
    lua::push_kernels(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
    for (lua_Integer i = 1; i <= count && sweep.code == Exit::ok; ++i) {
        lua_rawgeti(L, -1, i);
        look_ahead(L, sweep);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

}  // namespace wgrun::cli
