// Launches that a script computes from shapes: item:launch(operands...) returns grid and arguments.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "bindings/c/convert.hpp"
#include "bindings/c/state.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/lua/args.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::c {

/// One argument of the launch.
struct Planned {
    int operand = -1;
    wgrun_argument argument{};  ///< its shape points into `shape`
    TensorShape shape{};
    std::size_t bytes = 0;
    bool zeros = false, empty = false;
};

class Plan {
  public:
    Plan(std::shared_ptr<Run> of, Kernel& made) : run(std::move(of)), kernel(&made) {}

    std::shared_ptr<Run> run;
    Kernel* kernel;
    Dim3 grid;
    std::vector<Planned> arguments;
    std::vector<std::shared_ptr<Tensor>> tensors;  ///< a share of those among the arguments
};

template <>
inline constexpr Kind kind_of<Plan> = Kind::plan;

namespace {

char operand_key;  // in an operand's table: its number, from 1

struct Asking {
    Plan& plan;
    std::size_t item;
    const wgrun_argument* operands;
    std::size_t count;
    int device;
    std::optional<Interruptible> interruptible{};  ///< while the script's function runs
};

// __index of an operand's table.
int refuse_field(lua_State* L) {
    const lua::ShortText key = lua::describe(L, 2);
    lua::fail(L, [&] {
        return std::string(
                   "an operand has `shape` and `dtype`, and no elements while a launch is planned: ") +
               key.text;
    });
}

// The stand-in for memory: { shape =, dtype = }.
void push_memory(lua_State* L, const wgrun_argument& operand, std::size_t number) {
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, static_cast<lua_Integer>(number));
    lua_rawsetp(L, -2, &operand_key);
    lua::push_integers(L, operand.shape, static_cast<std::size_t>(operand.rank));
    lua_setfield(L, -2, "shape");
    if (const char* name = wgrun_dtype_name(operand.dtype)) {
        lua_pushstring(L, name);
        lua_setfield(L, -2, "dtype");
    }
    if (luaL_newmetatable(L, "wgrun.operand")) {
        lua_pushcfunction(L, refuse_field);
        lua_setfield(L, -2, "__index");
        lua_pushliteral(L, "wgrun.operand");
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

void push_operand(lua_State* L, const wgrun_argument& operand, std::size_t number) {
    switch (operand.kind) {
        case WGRUN_MEMORY: push_memory(L, operand, number); break;
        case WGRUN_INTEGER: lua_pushinteger(L, operand.integer); break;
        default: lua_pushnumber(L, operand.real);
    }
}

// Puts the value on top of the stack into the table below it. Values of one name are a list there.
void set_named(lua_State* L, const Asking& asking, std::size_t number) {
    const std::string_view name = asking.operands[number].name;
    const auto same = [&](const wgrun_argument& one) { return one.name != nullptr && name == one.name; };
    if (std::count_if(asking.operands, asking.operands + asking.count, same) == 1)
        return lua_setfield(L, -2, asking.operands[number].name);
    if (lua_getfield(L, -2, asking.operands[number].name) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -4, asking.operands[number].name);
    }
    lua_insert(L, -2);
    lua_seti(L, -2, luaL_len(L, -2) + 1);
    lua_pop(L, 1);
}

// Calls item:launch(operands..., named), and leaves its result on the stack.
void call_launch(lua_State* L, const Asking& asking) {
    luaL_checkstack(L, static_cast<int>(asking.count) + 8, "too many operands");
    asking.plan.run->push_returned(L, asking.item);
    lua_getfield(L, -1, "launch");
    lua_insert(L, -2);
    int arguments = 1;
    bool named = false;
    for (std::size_t i = 0; i < asking.count; ++i) {
        named = named || asking.operands[i].name != nullptr;
        if (asking.operands[i].name != nullptr) continue;
        push_operand(L, asking.operands[i], i + 1);
        ++arguments;
    }
    if (named) {
        lua_newtable(L);
        for (std::size_t i = 0; i < asking.count; ++i) {
            if (asking.operands[i].name == nullptr) continue;
            push_operand(L, asking.operands[i], i + 1);
            set_named(L, asking, i);
        }
        ++arguments;
    }
    lua_call(L, arguments, 1);
}

[[noreturn]] void refuse_result(lua_State* L, const char* what, int index) {
    const lua::ShortText got = lua::describe(L, index);
    lua::fail(L, [&] { return std::string("launch: ") + what + ", got " + got.text; });
}

/// A tensor that the script made for the kernel.
void add_workspace(Plan& plan, const lua::HostTensorBox& box) {
    const std::shared_ptr<Tensor>& tensor = box.tensor;
    plan.tensors.push_back(tensor);
    Planned planned;
    planned.argument.kind = WGRUN_MEMORY;
    planned.argument.dtype = number_of(tensor->dtype());
    const auto bytes = std::as_const(*tensor).bytes();
    planned.argument.address = reinterpret_cast<std::uintptr_t>(bytes.data());
    planned.shape = tensor->shape();
    planned.argument.rank = tensor->rank();
    planned.bytes = bytes.size();
    planned.empty = box.empty;
    planned.zeros = box.empty || std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
    plan.arguments.push_back(std::move(planned));
}

// The entry of `args` on top of the stack.
void add_argument(lua_State* L, Plan& plan) {
    if (lua_type(L, -1) == LUA_TTABLE) {
        lua_rawgetp(L, -1, &operand_key);
        const auto number = static_cast<int>(lua_tointeger(L, -1));
        lua_pop(L, 1);
        if (number == 0) refuse_result(L, "args: expected operands, tensors and numbers", -1);
        lua::guarded(L, [&] { plan.arguments.push_back({number - 1, {}, {}, 0, false}); });
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        const bool whole = lua_isinteger(L, -1) != 0;
        const lua_Integer integer = whole ? lua_tointeger(L, -1) : 0;
        const double real = lua_tonumber(L, -1);
        lua::guarded(L, [&] {
            Planned planned;
            planned.argument.kind = whole ? WGRUN_INTEGER : WGRUN_REAL;
            planned.argument.integer = integer;
            planned.argument.real = real;
            plan.arguments.push_back(std::move(planned));
        });
    } else if (lua::test_tensor(L, -1) != nullptr) {
        lua::guarded(L, [&] { add_workspace(plan, *lua::test<lua::HostTensorBox>(L, -1)); });
    } else {
        refuse_result(L, "args: expected operands, tensors and numbers", -1);
    }
}

void read_result(lua_State* L, Plan& plan) {
    if (lua_type(L, -1) != LUA_TTABLE) refuse_result(L, "expected { grid =, args = }", -1);
    const int table = lua_gettop(L);
    static constexpr lua::Option keys[] = {{"grid"}, {"args"}};
    // Further options, such as those of kernel:time, are ignored here.
    lua_createtable(L, 0, 2);
    lua_getfield(L, table, "grid");
    lua_setfield(L, -2, "grid");
    const lua::Options options(L, lua_gettop(L), "launch", keys);
    plan.grid = options.extents("grid");
    if (lua_getfield(L, table, "args") != LUA_TTABLE) refuse_result(L, "args: expected a list", -1);
    const int list = lua_gettop(L);
    const lua_Integer count = luaL_len(L, list);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_geti(L, list, i);
        add_argument(L, plan);
        lua_pop(L, 1);
    }
}

void plan_main(lua_State* L, void* context) {
    auto& asking = *static_cast<Asking*>(context);
    lua::set_limits(L, asking.plan.run->engine().limits);
    lua::guarded(L, [&] {
        asking.interruptible.emplace(asking.plan.run->engine(), lua::session(L).stop);
        lua::session(L).resident_clusters = [device = asking.device](Kernel& kernel) -> std::optional<int> {
            if (device == WGRUN_SIMULATOR_DEVICE) return std::nullopt;
            return kernel.resident_clusters(Backend::gpu, device);
        };
    });
    asking.plan.run->make_current(L);
    call_launch(L, asking);
    read_result(L, asking.plan);
}

void check_operands(const wgrun_argument* operands, std::size_t count) {
    if (count > 0 && operands == nullptr) refuse_argument("operands is NULL");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string what = "operand " + std::to_string(i + 1);
        argument_of(operands[i], what);
        if (operands[i].kind == WGRUN_MEMORY && operands[i].shape == nullptr)
            refuse_argument(what + ": its shape is needed");
    }
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_script_plan(wgrun_script* script, size_t index, const wgrun_argument* operands, size_t count,
                      int device, wgrun_plan** plan) {
    return answer([&] {
        const std::shared_ptr<Run> run = find<Run>(script);
        check_operands(operands, count);
        result(plan, "plan");
        if (device < WGRUN_SIMULATOR_DEVICE) refuse_argument("device is " + std::to_string(device));
        if (index >= run->returned.size() || !run->returned[index].launches)
            refuse_argument("item " + std::to_string(index) + " has no `launch` method");
        const Turn turn(run->engine());
        const auto made = std::make_shared<Plan>(run, *run->returned[index].kernel);
        Asking asking{*made, index, operands, count, device, {}};
        run->state->protect(plan_main, &asking);
        for (Planned& planned : made->arguments) planned.argument.shape = planned.shape.data();
        give_handle(plan, made);
    });
}

int wgrun_plan_close(wgrun_plan* plan) {
    return answer([&] { close_handle(Kind::plan, plan); });
}

int wgrun_plan_info_get(wgrun_plan* plan, wgrun_plan_info* info) {
    return answer([&] {
        const std::shared_ptr<Plan> made = find<Plan>(plan);
        wgrun_plan_info out{};
        out.grid[0] = made->grid.x, out.grid[1] = made->grid.y, out.grid[2] = made->grid.z;
        out.argument_count = made->arguments.size();
        write_struct(info, out, "info");
    });
}

int wgrun_plan_kernel(wgrun_plan* plan, wgrun_kernel** kernel) {
    return answer([&] {
        const std::shared_ptr<Plan> made = find<Plan>(plan);
        give_handle(&result(kernel, "kernel"), std::make_shared<KernelRef>(made->run, *made->kernel));
    });
}

int wgrun_plan_argument(wgrun_plan* plan, size_t index, wgrun_planned* planned) {
    return answer([&] {
        const std::shared_ptr<Plan> made = find<Plan>(plan);
        if (index >= made->arguments.size())
            refuse_argument("argument " + std::to_string(index) + " of " +
                            std::to_string(made->arguments.size()));
        const Planned& found = made->arguments[index];
        wgrun_planned out{};
        out.operand = found.operand;
        out.argument = found.argument;
        out.bytes = found.bytes;
        out.zeros = found.zeros ? 1 : 0;
        out.empty = found.empty ? 1 : 0;
        write_struct(planned, out, "planned");
    });
}

}  // extern "C"
