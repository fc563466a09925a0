// What Lua made of the library's files when this was built is what it makes of their texts.
#include "bindings/lua/stdlib.hpp"

#include <string>

#include "bindings/lua/error.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"

namespace {

int append(lua_State* /*L*/, const void* part, std::size_t size, void* code) {
    static_cast<std::string*>(code)->append(static_cast<const char*>(part), size);
    return 0;
}

}  // namespace

TEST_CASE("each file of the library is there as Lua compiles it, with its lines and names") {
    wgrun::test::State state;
    const auto [lua, codes] = wgrun::lua::stdlib_code();
    CHECK(lua == lua_ident);
    const auto files = wgrun::lua::stdlib_files();
    REQUIRE(codes.size() == files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        INFO(files[i].name);
        const std::string chunk = wgrun::lua::stdlib_prefix + std::string(files[i].name);
        REQUIRE(luaL_loadbufferx(state, files[i].text.data(), files[i].text.size(), chunk.c_str(), "t") ==
                LUA_OK);
        std::string code;
        REQUIRE(lua_dump(state, append, &code, 0) == 0);
        CHECK(code == codes[i].code);
        lua_settop(state, 0);
    }
}
