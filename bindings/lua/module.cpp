#include "wgrun/lua.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/member.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/version.hpp"

namespace wgrun::lua {
namespace {

// wg.backend: "gpu", "gpu-cuda" or "sim", the back end that a kernel would run on here.
int module_backend(lua_State* L) {
    const std::string_view name = to_string(resolve_backend(L, Backend::automatic));
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

// __index of the module: computed fields; an unknown one is an error.
int module_index(lua_State* L) {
    const bool named = lua_type(L, 2) == LUA_TSTRING;
    if (named && string_argument(L, 2) == "backend") return module_backend(L);
    if (!named) {
        const ShortText key = describe(L, 2);
        fail(L, [&] { return std::string("wg cannot be indexed with ") + key.text; });
    }
    fail_unknown_name(L, "wg", lua_tostring(L, 2), {1});
}

const Member module_fields[] = {
    {"version", nullptr, "The version of wgrun.\n@return string"},
    {"backend", nullptr,
     R"(The back end of launches that leave it open: "gpu", "gpu-cuda" or "sim".
@return string)"},
    {"target", nullptr,
     R"(What the chip is that kernels are written for. Sizes in bytes; of a chip that is there, wg.device says more.
@return table
@field name string  "sm_90a"
@field multiprocessors integer  SMs, of an H100 SXM and of an H200
@field lanes integer  threads of a warp
@field warpgroup integer  threads that execute a wgmma together
@field cta_threads integer  that a CTA can have
@field sm_threads integer  that an SM holds
@field sm_ctas integer  that an SM holds
@field barriers integer  of a CTA, for bar.sync
@field portable_cluster integer  CTAs of a cluster that every chip of the generation runs
@field cluster integer  CTAs of a cluster, at most
@field registers integer  of an SM
@field thread_registers integer  that the instructions of a thread can name
@field register_unit integer  what a thread gets is a multiple
@field least_setmaxnreg integer  that setmaxnreg takes
@field most_setmaxnreg integer  that setmaxnreg takes
@field sm_shared integer  shared memory of an SM
@field cta_reserved integer  of it, what the driver keeps for each CTA
@field cta_shared integer  shared memory that a CTA can have
@field shared_base integer  where a CTA's own memory begins in the shared window
@field l2 integer  of the L2 cache, at least: wg.chips has each chip's
@see wg.device)"},
    {"chips", nullptr,
     R"(What differs between the chips of the generation: for each name that wg.device gives a table. Plans are made for the chip that is there, or for an H200.
@return table
@field sm_count integer
@field clock number  of an SM, at most: cycles in a second
@field l2_bytes integer  size of the L2 cache
@field memory_bytes integer  nominal
@field memory_bandwidth number  of device memory, bytes in a second
@see wg.device)"},
    {"sparse", nullptr,
     "Matrices with 2:4 sparsity, for wgmma.mma_async.sp: prune, compress, decompress, validate.\n@return "
     "table"},
    {}};

constexpr char about_error[] = R"(
An error that wgrun raises: a table; `tostring` gives "file:line: message [RULE]". Functions that return nil, message, code do not raise errors of the machine, such as a missing file or GPU.
@field message string
@field code string  "EINVAL", "ENOENT", "ENODEV", "ENOMEM", ...
@field rule string?  the rule that was broken: wgrun explain RULE
@field file string?  of the script
@field line integer?  of the script
@field fix string?  how to fix it
@field section string?  of the PTX ISA
@field findings table?  all findings, if the checker refused a kernel)";

constexpr char about_finding[] = R"(
A finding of the checker or the simulator, an element of the list that kernel:check returns. Empty fields are absent.
@field rule string  such as "WG-PROXY-01": wgrun explain RULE
@field severity string  "error", "warning" or "note"
@field message string
@field file string?  of the script
@field line integer?  of the script
@field fix string?  how to fix it
@field section string?  of the PTX ISA
@field notes table  a list of { file, line, message }: related places
@field facts table?  what the message says, as data: { phase = 2, bytes_expected = 512 } (docs/schema/finding.json)
@see kernel:check)";

// Descriptions of names that no table of the bindings holds.
void remember_others(lua_State* L) {
    remember_members(L, "wg", MemberKind::field, module_fields);
    remember_members(L, error_class, MemberKind::type, nullptr, about_error);
    remember_members(L, "wgrun.finding", MemberKind::type, nullptr, about_finding);
}

}  // namespace
}  // namespace wgrun::lua

int luaopen_wgrun(lua_State* L) {
    using namespace wgrun::lua;
    luaL_checkversion(L);
    open_error(L);
    lua_newtable(L);
    lua_pushliteral(L, WGRUN_VERSION);
    lua_setfield(L, -2, "version");
    for (const auto open : parts) open(L);
    remember_others(L);
    run_stdlib(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, module_index);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
