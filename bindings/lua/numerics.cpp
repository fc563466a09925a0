// The option `numerics` of kernel:run and kernel:time.
#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::lua {

isa::Numerics read_numerics(lua_State* L, const Options& options) {
    const int type = options.push("numerics");
    isa::Numerics out = session(L).numerics;
    if (type == LUA_TSTRING) {
        const std::string_view name = string_argument(L, -1);
        out = guarded(L, [&] { return numerics_named(name); });
    } else if (type == LUA_TTABLE) {
        const Options given(L, lua_gettop(L), "numerics", numerics_keys);
        const auto small = [&](std::string_view key, int fallback, int lo, int hi) {
            return static_cast<int>(given.integer(key, fallback, lo, hi));
        };
        const isa::Accumulation standard;
        out.model = isa::Numerics::Model::given;
        out.given.block = small("block", standard.block, 0, 256);
        out.given.fraction_bits = small("fraction", standard.fraction_bits, 1, 40);
        out.given.result_bits = small("result", standard.result_bits, 1, 23);
        out.given.nearest = given.boolean("nearest", standard.nearest);
        out.given.accumulator_inside = given.boolean("inside", standard.accumulator_inside);
    } else if (type != LUA_TNIL) {
        options.fail_value("numerics", "\"exact\", \"h200\" or a table of parameters");
    }
    lua_pop(L, 1);
    return out;
}

}  // namespace wgrun::lua
