// wg.wgmma{...}: one legal form of wgmma.mma_async, and what it needs.
#include "bindings/lua/args.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {

/// A complete form. Plain data.
struct WgmmaForm {
    isa::Form form;
};

template <>
inline constexpr const char* class_name<WgmmaForm> = "wgrun.wgmma";

namespace {

using isa::Field;

const isa::Instruction& record() {
    static const isa::Instruction& op = *isa::find("wgmma.mma_async");
    return op;
}

// wg.wgmma{ m = 64, n =, k =, d =, a =, b =, ... }
int wgmma_new(lua_State* L) {
    if (lua_type(L, 1) != LUA_TTABLE) fail_argument(L, 1, "a table of options");
    isa::Form asked;
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        const ShortText key = describe(L, -2);
        const std::string_view name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        const bool sparse = name == "sparse";
        if (sparse && lua_toboolean(L, -1))
            fail(L, [] {
                return std::string("wg.wgmma: sparse = true: wgmma.mma_async.sp is not in the table yet");
            });
        if (!sparse) {
            const auto field = isa::parse_field(name);
            if (!field)
                fail(L, [&] {
                    return "wg.wgmma: unknown option " + std::string(key.text) +
                           " (m, n, k, d, a, b, sparse, a_in, trans_a, trans_b, scale_a, scale_b, satfinite)";
                });
            const std::optional<int> value = qualifier(L, -1, *field);
            const ShortText got = describe(L, -1);
            if (!value)
                fail(L, [&] {
                    return "wg.wgmma: option `" + std::string(name) + "`: " + got.text + " is no value of it";
                });
            asked.set(*field, *value);
        }
        lua_pop(L, 1);
    }
    push_object<WgmmaForm>(L, [&] {
        for (Field field : {Field::n, Field::d, Field::a, Field::b})
            if (!asked.has(field))
                throw ArgumentError("wg.wgmma needs `" + std::string(isa::to_string(field)) + "`");
        return WgmmaForm{isa::resolve(record(), asked)};
    });
    return 1;
}

// D's registers
int wgmma_d_registers(lua_State* L) {
    lua_pushinteger(L, record().operands[0].count(check<WgmmaForm>(L, 1).form));
    return 1;
}

// A's registers, where A comes from registers
int wgmma_a_registers(lua_State* L) {
    isa::Form form = check<WgmmaForm>(L, 1).form;
    form.set(Field::a_in, *isa::parse_value(Field::a_in, "registers"));
    lua_pushinteger(L, record().operands[1].count(form));
    return 1;
}

int wgmma_ptx(lua_State* L) {
    auto& text = held<std::string>(L);
    const isa::Form& form = check<WgmmaForm>(L, 1).form;
    guarded(L, [&] {
        isa::Step step;
        step.op = &record();
        step.form = form;
        step.operands.resize(record().operands.size());
        text = isa::expand(record().ptx, step,
                           [](const Operand&, const isa::OperandRule&) { return std::string(); });
        text.resize(text.find(' '));
    });
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

int wgmma_min_ptx(lua_State* L) {
    const isa::Form& form = check<WgmmaForm>(L, 1).form;
    const isa::PtxVersion version = guarded(L, [&] { return isa::row_of(record(), form).min_ptx; });
    lua_pushfstring(L, "%d.%d", version.major, version.minor);
    return 1;
}

template <Field field>
int number_field(lua_State* L) {
    lua_pushinteger(L, check<WgmmaForm>(L, 1).form.get(field));
    return 1;
}

template <Field field>
int type_field(lua_State* L) {
    const std::string_view name = isa::to_string(check<WgmmaForm>(L, 1).form.type(field));
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

}  // namespace

void open_wgmma(lua_State* L) {
    static const luaL_Reg fields[] = {{"d_registers", wgmma_d_registers},
                                      {"a_registers", wgmma_a_registers},
                                      {"ptx", wgmma_ptx},
                                      {"min_ptx", wgmma_min_ptx},
                                      {"m", number_field<Field::m>},
                                      {"n", number_field<Field::n>},
                                      {"k", number_field<Field::k>},
                                      {"d", type_field<Field::d>},
                                      {"a", type_field<Field::a>},
                                      {"b", type_field<Field::b>},
                                      {nullptr, nullptr}};
    static const luaL_Reg metamethods[] = {{"__tostring", wgmma_ptx}, {nullptr, nullptr}};
    declare<WgmmaForm>(L, {.fields = fields, .metamethods = metamethods});
    lua_pushcfunction(L, wgmma_new);
    lua_setfield(L, -2, "wgmma");
}

}  // namespace wgrun::lua
