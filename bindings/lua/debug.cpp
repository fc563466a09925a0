// kernel:debug: a launch on the simulator under the debugger.
#include <cstdio>

#include "bindings/lua/args.hpp"
#include "bindings/lua/launch_options.hpp"
#include "wgrun/debugger.hpp"

namespace wgrun::lua {
namespace {

constexpr Option commands_key[] = {
    {"commands", "table?", "a list of commands; by default they are read from standard input"}};
constexpr auto debug_keys = joined(launch_keys, commands_key);

/// The commands of kernel:debug: the option, or else the lines of standard input.
struct Commands {
    std::vector<std::string> list;
    std::size_t next = 0;
    bool given = false;
};

std::optional<std::string> read_line() {
    std::string line;
    for (int c = std::getc(stdin); c != '\n'; c = std::getc(stdin)) {
        if (c == EOF) return line.empty() ? std::nullopt : std::optional(line);
        line += static_cast<char>(c);
    }
    return line;
}

// kernel:debug{ grid =, args =, seed =, timeout_ms =, numerics =, commands = { "break 12", ... } }: runs the
// kernel on the simulator under the commands of docs/debugging.md
int kernel_debug(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:debug", debug_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_launch_options(L, kernel, options, run);
    auto& commands = held<Commands>(L);
    const int type = options.push("commands");
    if (type != LUA_TNIL) {
        if (type != LUA_TTABLE) options.fail_value("commands", "a list of commands");
        commands.given = true;
        const lua_Integer count = luaL_len(L, -1);
        for (lua_Integer i = 1; i <= count; ++i) {
            lua_rawgeti(L, -1, i);
            const std::string_view command = string_argument(L, -1);
            guarded(L, [&] { commands.list.emplace_back(command); });
            lua_pop(L, 1);
        }
    }
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        return 0;
    }
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    guarded(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            DebugConsole console;
            console.interrupt = &session(L).stop;
            console.write = [L](std::string_view text) { print_text(L, text); };
            const bool has_input = session(L).terminal && !limits.restricted && !commands.given;
            console.read = [&commands, has_input]() -> std::optional<std::string> {
                if (commands.next < commands.list.size()) return commands.list[commands.next++];
                return has_input ? read_line() : std::nullopt;
            };
            debug(kernel, run, console);
        });
    });
    return 0;
}

}  // namespace

void open_debug(lua_State* L) {
    static const Member methods[] = {{"debug", kernel_debug, R"(
Runs the kernel on the simulator under the debugger (docs/debugging.md), which stops at lines, steps forwards and backwards, prints values by their names in the script, and says who wrote them. A kernel in which the checker found errors runs, too; the errors are printed first.
@param options table
@raise errors of the run, if the commands let it run to its end.
@see k:breakpoint
@example
  kernel:debug { grid = { 4 }, args = { A, B, D, 1024 }, commands = { "break 42 cta=1", "continue", "print acc" } })",
                                      debug_keys},

                                     {}};
    add_methods<Kernel>(L, methods);
}

}  // namespace wgrun::lua
