#include "bindings/repl/commands.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "bindings/repl/help.hpp"
#include "file/replacement.hpp"
#include "gpu/disassemble.hpp"
#include "wgrun/printable.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;
using lua::held;

std::string_view trimmed(std::string_view text) {
    constexpr const char* blank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blank) + 1 - begin);
}

void require_argument(lua_State* L, const Session& s, const char* usage) {
    if (s.text.empty()) lua::fail(L, [&] { return std::string("usage: ") + usage; });
}

void help(lua_State* L, Session& s) {
    if (!s.text.empty()) {
        push_help(L, s.text.c_str(), s.console->columns());
        const char* text = lua_tostring(L, -1);
        guarded(L, [&] { s.console->write(text); });
        return;
    }
    guarded(L, [&] {
        std::string out =
            "Type Lua. An expression is shown, and `_` is the last result. `wg` is the module; Tab "
            "completes.\n"
            "help() lists all topics; help \"wg.tile\", help(wg.tile) and .help wg.tile describe one "
            "name.\n";
        for (const Command& c : commands())
            out += fmt::format(
                "  {:<16} {}\n",
                c.arguments.empty() ? std::string(c.name) : fmt::format("{} {}", c.name, c.arguments),
                c.about);
        s.console->write(out);
    });
}

// The file is a chunk of the session, which keeps its locals.
void load(lua_State* L, Session& s) {
    lua::check_unrestricted(L, ".load");
    require_argument(L, s, ".load FILE");
    auto& text = held<std::string>(L);
    auto& name = held<std::string>(L);
    guarded(L, [&] {
        std::ifstream file(s.text, std::ios::binary);
        std::ostringstream all;
        if (file) all << file.rdbuf();
        if (!file || !all) throw EnvironmentError("ENOENT", "cannot read " + s.text);
        text = all.str();
        if (text.starts_with('#')) text.insert(0, "--");  // the shell's line
        name = "@" + s.text;
    });
    evaluate(L, s, text, name.c_str(), true);
}

void save(lua_State* L, Session& s) {
    lua::check_unrestricted(L, ".save");
    require_argument(L, s, ".save FILE");
    guarded(L, [&] { file::replace(s.text, s.kept); });
}

void time(lua_State* L, Session& s) {
    require_argument(L, s, ".time CODE");
    auto& text = held<std::string>(L);
    guarded(L, [&] { text = s.text; });
    const auto begin = std::chrono::steady_clock::now();
    if (evaluate(L, s, text, "=stdin", true) != Evaluated::good) return;
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    guarded(L, [&] { s.console->write(fmt::format("{:.3f} ms\n", spent.count())); });
}

void backend(lua_State* L, Session& s) {
    guarded(L, [&] {
        if (!s.text.empty()) lua::session(L).backend = backend_named(s.text);
    });
    const Backend now = lua::resolve_backend(L, Backend::automatic);
    guarded(L, [&] { s.console->write(std::string(to_string(now)) + '\n'); });
}

void device(lua_State* L, Session& s) { evaluate(L, s, "assert(require('wgrun').device())", "=stdin", true); }

// Pushes the kernel that the argument names, or the last result.
Kernel& push_kernel(lua_State* L, Session& s) {
    auto& text = held<std::string>(L);
    guarded(L, [&] { text = s.text.empty() ? "_" : s.text; });
    push_result(L, s, text);
    if (lua_type(L, -1) == LUA_TTABLE) lua_getfield(L, -1, "kernel");  // wg.gemm
    auto* kernel = lua::test<Kernel>(L, -1);
    if (kernel == nullptr) lua::fail(L, [&] { return "`" + text + "` is no kernel"; });
    return *kernel;
}

void ptx(lua_State* L, Session& s) {
    Kernel& kernel = push_kernel(L, s);
    guarded(L, [&] { s.console->write(kernel.ptx()); });
}

void sass(lua_State* L, Session& s) {
    lua::check_unrestricted(L, ".sass");
    Kernel& kernel = push_kernel(L, s);
    const std::atomic<bool>* stop = &lua::session(L).stop;
    guarded(L, [&] { s.console->write(gpu::disassemble(kernel.cubin(Assembler::any), stop)); });
}

void quit(lua_State*, Session& s) { s.over = true; }

constexpr std::array<Command, 9> all{{
    {".help", "[NAME]", "Describe the prompt, or a name", help},
    {".load", "FILE", "Run a script as part of this session, which keeps its locals", load},
    {".save", "FILE", "Write what has been run in this session", save},
    {".time", "CODE", "Run code and print how long it takes", time},
    {".backend", "[NAME]", "Print where kernels run, or choose: auto, gpu, gpu-cuda or sim", backend},
    {".device", "", "Describe the GPU", device},
    {".ptx", "[KERNEL]", "Print the PTX of a kernel, or of the last result", ptx},
    {".sass", "[KERNEL]", "Print its machine code, by ptxas and nvdisasm", sass},
    {".quit", "", "Leave, as Ctrl-D does", quit},
}};

}  // namespace

std::span<const Command> commands() { return all; }

bool is_command(std::string_view line) {
    line = trimmed(line);
    return line.size() > 1 && line[0] == '.' && std::isalpha(static_cast<unsigned char>(line[1])) != 0;
}

void run_command(lua_State* L, Session& s, std::string_view line) {
    const Command* found = nullptr;
    auto& name = held<std::string>(L);
    guarded(L, [&] {
        line = trimmed(line);
        name = line.substr(0, line.find_first_of(" \t"));
        s.text = trimmed(line.substr(name.size()));
        std::vector<std::string_view> names;
        for (const Command& command : all) {
            names.push_back(command.name);
            if (command.name == name) found = &command;
        }
        if (found == nullptr)
            throw ArgumentError("unknown command `" + printable(name) + "`" + nearest(name, names) +
                                " (.help lists them)");
    });
    found->run(L, s);
}

}  // namespace wgrun::repl
