// wg.wgmma{...}: one legal form of wgmma.mma_async, and its requirements.
#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/fragment.hpp"

namespace wgrun::lua {

/// A complete form of one of the two records. Plain data.
struct WgmmaForm {
    const isa::Instruction* op;
    isa::Form form;
};

template <>
inline constexpr const char* class_name<WgmmaForm> = "wgrun.wgmma";

namespace {

using isa::Field;

bool is_sparse(const WgmmaForm& wgmma) { return wgmma.form.has(Field::sp_sel); }

Dtype dtype_of(const isa::Form& form, Field field) {
    return dtype_named(std::string(isa::to_string(form.type(field))));
}

constexpr Option wgmma_keys[] = {
    {"m", "integer = 64", "the rows of D"},
    {"n", "integer", "the columns of D: a multiple of 8 from 8 to 256"},
    {"k", "integer?", "the K extent in elements, which follows from the types"},
    {"d", "string", R"(the type of the accumulators: "f16", "f32" or "s32")"},
    {"a", "string", "the element type of A"},
    {"b", "string", "the element type of B"},
    {"sparse", "boolean = false", "whether A is sparse"},
    {"a_in", R"(string = "shared")", R"(the place of A: "shared" or "registers")"},
    {"trans_a", "integer = 0", "1 if A is MN-major"},
    {"trans_b", "integer = 0", "1 if B is MN-major"},
    {"scale_a", "integer = 1", "-1 negates A"},
    {"scale_b", "integer = 1", "-1 negates B"},
    {"satfinite", "boolean = false", "integer sums saturate"},
    {"op", "string?", R"(the operation for single bits: "and.popc")"},
    {"sp_sel", "integer = 0",
     "for a sparse A, the sparsity selector: which threads of each four hold the metadata"}};

// wg.wgmma{ m = 64, n =, k =, d =, a =, b =, sparse = false, ... }
int wgmma_new(lua_State* L) {
    const Options options(L, 1, "wg.wgmma", wgmma_keys);
    isa::Form asked;
    bool sparse = false;
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        const std::string_view name = string_argument(L, -2);
        if (name == "sparse") {
            if (lua_type(L, -1) != LUA_TBOOLEAN) {
                const ShortText got = describe(L, -1);
                fail(L, [&] {
                    return "wg.wgmma: option `sparse`: expected true or false, got " + std::string(got.text);
                });
            }
            sparse = lua_toboolean(L, -1) != 0;
        } else {
            const auto field = isa::parse_field(name);  // the other keys are qualifiers
            const std::optional<int> value = qualifier(L, -1, *field);
            const ShortText got = describe(L, -1);
            if (!value)
                fail(L, [&] {
                    return "wg.wgmma: option `" + std::string(name) + "`: " + got.text +
                           " is not a value of it";
                });
            asked.set(*field, *value);
        }
        lua_pop(L, 1);
    }
    push_object<WgmmaForm>(L, [&] {
        for (Field field : {Field::n, Field::d, Field::a, Field::b})
            if (!asked.has(field))
                throw ArgumentError("wg.wgmma needs `" + std::string(isa::to_string(field)) + "`");
        const isa::Instruction* op = isa::find(sparse ? "wgmma.mma_async.sp" : "wgmma.mma_async");
        return WgmmaForm{op, isa::resolve(*op, asked)};
    });
    return 1;
}

// D's registers
int wgmma_d_registers(lua_State* L) {
    const WgmmaForm& wgmma = check<WgmmaForm>(L, 1);
    lua_pushinteger(L, wgmma.op->operands[0].count(wgmma.form));
    return 1;
}

// A's registers, where A is in registers
int wgmma_a_registers(lua_State* L) {
    const WgmmaForm& wgmma = check<WgmmaForm>(L, 1);
    isa::Form form = wgmma.form;
    form.set(Field::a_in, *isa::parse_value(Field::a_in, "registers"));
    lua_pushinteger(L, wgmma.op->operands[1].count(form));
    return 1;
}

int wgmma_ptx(lua_State* L) {
    auto& text = held<std::string>(L);
    const WgmmaForm& wgmma = check<WgmmaForm>(L, 1);
    guarded(L, [&] {
        isa::Step step;
        step.op = wgmma.op;
        step.form = wgmma.form;
        step.operands.resize(wgmma.op->operands.size());
        text = isa::expand(wgmma.op->ptx, step,
                           [](const Operand&, const isa::OperandRule&) { return std::string(); });
        text.resize(text.find(' '));
    });
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

int wgmma_min_ptx(lua_State* L) {
    const WgmmaForm& wgmma = check<WgmmaForm>(L, 1);
    const isa::PtxVersion version = guarded(L, [&] { return isa::row_of(*wgmma.op, wgmma.form).min_ptx; });
    lua_pushfstring(L, "%d.%d", version.major, version.minor);
    return 1;
}

int wgmma_sparse(lua_State* L) {
    lua_pushboolean(L, is_sparse(check<WgmmaForm>(L, 1)));
    return 1;
}

// i:d_layout(), i:a_layout(), i:metadata_layout(): (thread, value) -> row + rows * column
int wgmma_d_layout(lua_State* L) {
    const isa::Form& form = check<WgmmaForm>(L, 1).form;
    push_object<Layout>(L, [&] { return wgmma_d(dtype_of(form, Field::d), form.get(Field::n)).tv; });
    return 1;
}

// A in registers; for a sparse A, the columns that are stored
int wgmma_a_layout(lua_State* L) {
    const isa::Form& form = check<WgmmaForm>(L, 1).form;
    push_object<Layout>(L, [&] { return wgmma_a(dtype_of(form, Field::a)).tv; });
    return 1;
}

// (thread, code 0..7) -> row + 64 * chunk
int wgmma_metadata_layout(lua_State* L) {
    const WgmmaForm& wgmma = check<WgmmaForm>(L, 1);
    push_object<Layout>(L, [&] {
        if (!is_sparse(wgmma)) throw ArgumentError("a dense wgmma has no metadata", "sparse = true");
        return wgmma_metadata_chunks(dtype_of(wgmma.form, Field::a)).tv;
    });
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
    static const Member fields[] = {

        {"d_registers", wgmma_d_registers, R"(
The number of registers of a thread that hold D.
@return integer)"},
        {"a_registers", wgmma_a_registers, R"(
The number of registers of a thread that hold A for one instruction, if A is in registers.
@return integer)"},
        {"ptx", wgmma_ptx, R"(
The instruction with its qualifiers, as PTX spells it.
@return string)"},

        {"min_ptx", wgmma_min_ptx, R"(
The first version of the PTX ISA that has the form.
@return string  "8.0")"},
        {"sparse", wgmma_sparse, R"(
Whether A is sparse.
@return boolean)"},
        {"m", number_field<Field::m>, R"(
The rows of D.
@return integer)"},

        {"n", number_field<Field::n>, R"(
The columns of D.
@return integer)"},
        {"k", number_field<Field::k>, R"(
The K extent of one instruction.
@return integer  elements)"},
        {"d", type_field<Field::d>, R"(
The type of the accumulators.
@return string)"},

        {"a", type_field<Field::a>, R"(
The element type of A.
@return string)"},
        {"b", type_field<Field::b>, R"(
The element type of B.
@return string)"},
        {}};
    static const Member metamethods[] = {{"__tostring", wgmma_ptx}, {}};
    static const Member methods[] = {{"d_layout", wgmma_d_layout, R"(
The layout of D in registers: (thread, value) to row + 64 * column.
@return layout)"},

                                     {"a_layout", wgmma_a_layout, R"(
The layout of A in registers: (thread, value) to row + 64 * column; for a sparse A, of the columns that are stored.
@return layout)"},

                                     {"metadata_layout", wgmma_metadata_layout, R"(
The layout of the metadata of a sparse A: (thread, code) to row + 64 * chunk.
@return layout
@raise for a dense form.)"},
                                     {}};
    declare<WgmmaForm>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
A legal form of wgmma.mma_async, made by wg.wgmma.
@see wg.wgmma)"});
    static const Member functions[] = {{"wgmma", wgmma_new, R"(
Describes one legal form of wgmma.mma_async: its requirements, and the distribution of its operands over registers.
@param options table
@return wgmma
@raise for forms that are not legal; the error lists the legal values.
@see k:wgmma_mma_async
@example
  local form = wg.wgmma { n = 128, d = "f32", a = "bf16", b = "bf16" }
  print(form.d_registers, form.ptx))",
                                        wgmma_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
