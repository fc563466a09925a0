// kernel:export and kernel:launch_rule.
#include "wgrun/export.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/export.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

constexpr int rule_value = 1;  // the user value of a kernel that holds its LaunchRule

// Reads the table `notes` on top of the stack: parameter = text.
void read_notes(lua_State* L, const Options& options, LaunchRule& rule) {
    if (options.push("notes") == LUA_TNIL) return lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TTABLE) options.fail_value("notes", "a table that maps parameters to texts");
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
        if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
            options.fail_value("notes", "a table that maps parameters to texts");
        const char* name = lua_tostring(L, -2);
        const char* text = lua_tostring(L, -1);
        guarded(L, [&] { rule.notes.emplace_back(name, text); });
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

constexpr Option rule_keys[] = {{"rows", "string?", "the parameter that holds the rows of the matrix"},
                                {"columns", "string?", "the parameter that holds its columns"},
                                {"m", "integer?", "rows of a tile"},
                                {"n", "integer?", "columns of a tile"},
                                {"parts", "integer = 1", "CTAs for each tile"},
                                {"notes", "table?", "for each parameter a text that says what to pass"}};

// kernel:launch_rule{ rows =, columns =, m =, n =, parts = 1, notes = { parameter = text } }: what
// kernel:export writes about launches: the grid of persistent CTAs over the tiles of a matrix whose extents
// are parameters, and the arguments
int kernel_launch_rule(lua_State* L) {
    const Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:launch_rule", rule_keys);
    auto& rule = held<LaunchRule>(L);
    const int at = lua_gettop(L);
    if (options.has("rows") || options.has("columns") || options.has("m") || options.has("n")) {
        const std::string_view rows = options.string("rows");
        const std::string_view columns = options.string("columns");
        const std::int64_t m = options.integer("m");
        const std::int64_t n = options.integer("n");
        const std::int64_t parts = options.integer("parts", 1);
        guarded(L, [&] { rule.tiles = {std::string(rows), std::string(columns), m, n, parts}; });
    }
    read_notes(L, options, rule);
    guarded(L, [&] { check_launch_rule(kernel.program(), rule); });
    lua_pushvalue(L, at);
    lua_setiuservalue(L, 1, rule_value);
    return 0;
}

// kernel:export(folder): { files = { name, ... }, registers =, no_cubin = why }, or nil, message, code
int kernel_export(lua_State* L) {
    check_unrestricted(L, "kernel:export");
    check<Kernel>(L, 1);
    const std::string_view folder = string_argument(L, 2);
    if (folder.empty() || folder.find('\0') != std::string_view::npos)
        fail_argument(L, 2, "the name of a folder");
    auto& kernels = held<std::vector<Export>>(L);
    auto& written = held<std::vector<Exported>>(L);
    add_export(L, 1, kernels);
    if (session(L).mode == Mode::run) {
        if (const int failed = attempted(L, [&] { written = export_kernels(kernels, folder); }))
            return failed;
    } else {
        guarded(L, [&] { written.emplace_back(); });  // tracing a script writes no files
    }
    lua_createtable(L, 0, 3);
    lua_createtable(L, static_cast<int>(written[0].files.size()), 0);
    for (std::size_t i = 0; i < written[0].files.size(); ++i) {
        lua_pushlstring(L, written[0].files[i].name.data(), written[0].files[i].name.size());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "files");
    if (written[0].registers) put_integer(L, "registers", *written[0].registers);
    if (!written[0].no_cubin.empty()) put_string(L, "no_cubin", written[0].no_cubin);
    return 1;
}

}  // namespace

void add_export(lua_State* L, int index, std::vector<Export>& kernels) {
    Kernel& kernel = check<Kernel>(L, index);
    lua_getiuservalue(L, index, rule_value);
    const LaunchRule* rule = test<LaunchRule>(L, -1);
    guarded(L, [&] { kernels.push_back({&kernel, rule != nullptr ? *rule : LaunchRule{}}); });
    lua_pop(L, 1);
}

void open_export(lua_State* L) {
    static const Member of_kernel[] = {{"launch_rule", kernel_launch_rule, R"(
Describes launches for kernel:export: the grid of persistent CTAs that work through the tiles of a matrix whose extents are parameters, and the arguments.
@param options table)",
                                        rule_keys},
                                       {"export", kernel_export, R"(
Writes the kernel for programs without wgrun: PTX, cubin, CUDA C++, and C with host code.
@param folder string  the folder for the files
@return table  or nil, message, code
@field files table  their names
@field registers integer?  registers of a thread
@field no_cubin string?  why there is no cubin)"},
                                       {}};
    add_methods<Kernel>(L, of_kernel);
}

}  // namespace wgrun::lua
