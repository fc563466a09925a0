// The methods of k that are instructions: made when their names are first looked up, with a suggestion for
// names that are none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/trace.hpp"
#include "wgrun/nearest.hpp"
#include "wgrun/spellings.hpp"

namespace wgrun::lua {
namespace {

// A method that is an instruction: upvalue 1 is its spelling.
int builder_instruction(lua_State* L) {
    const auto* spelling = static_cast<const isa::Spelling*>(lua_touserdata(L, lua_upvalueindex(1)));
    return emit_from_lua(L, trace_argument(L), *spelling, 2);
}

/// A name from other languages, and its counterpart here.
struct Translation {
    std::string_view word, here;
};
constexpr std::array translations{
    Translation{"for_", "k:loop(count, function(i) ... end), or Lua's own `for`, which unrolls"},
    Translation{"while", "k:while_(condition, body)"},
    Translation{"else_", "k:if_(predicate, when_true, otherwise)"},
    Translation{"elseif_", "k:if_(predicate, when_true, otherwise)"},
    Translation{"syncthreads", "k:bar_sync(0)"},
    Translation{"__syncthreads", "k:bar_sync(0)"},
    Translation{"syncwarp", "k:bar_warp_sync()"},
    Translation{"__syncwarp", "k:bar_warp_sync()"},
    Translation{"threadIdx", "k:special \"tid.x\""},
    Translation{"tid", "k:special \"tid.x\""},
    Translation{"blockIdx", "k:special \"ctaid.x\""},
    Translation{"ctaid", "k:special \"ctaid.x\""},
    Translation{"blockDim", "k:special \"ntid.x\""},
    Translation{"gridDim", "k:special \"nctaid.x\""},
    Translation{"laneid", "k:special \"laneid\""},
    Translation{"load", "k:ld_global_f32(address) and the like"},
    Translation{"store", "k:st_global_f32(address, value) and the like"},
    Translation{"shared_memory", "k:shared(tile)"},
    Translation{"smem", "k:shared(tile)"},
    Translation{"register", "k:reg(type)"},
    Translation{"arg", "k:param(name, type)"},
    Translation{"select", "k:selp(if_true, if_false, predicate)"},
    Translation{"where", "k:selp(if_true, if_false, predicate)"},
    Translation{"exp", "k:ex2_approx_f32(x * 1.4426950408889634)"},
    Translation{"log", "k:lg2_approx_f32(x) * 0.6931471805599453"},
    Translation{"atomicAdd",
                "k:red_global_add_f32(address, x), or k:atom_global_add_f32, which returns the value before"},
    Translation{"atomicMax", "k:red_global_max_s32(address, x), or k:atom_global_max_s32"},
    Translation{"printf", "k:print(\"x = %f\", x)"},
    Translation{"shfl", "k:shfl_sync_idx(x, lane, 0x1f), bfly, up and down"},
    Translation{"syncgrid",
                "no instruction: CTAs meet by flags or counters in global memory (docs/guide/kernels.md)"},
    Translation{"wgmma", "k:mma(acc, { a =, b = }), or the one instruction, k:wgmma_mma_async(...)"},
};

/// The method with the qualifiers of `word` in another order: PTX's. Empty where there is none.
std::string reordered(std::string_view word) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= word.size();) {
        const std::size_t end = std::min(word.find('_', at), word.size());
        parts.emplace_back(word.substr(at, end - at));
        at = end + 1;
    }
    constexpr std::size_t most = 7;  // 720 orders
    if (parts.size() < 3 || parts.size() > most) return {};
    std::sort(parts.begin() + 1, parts.end());
    do {
        std::string name = fmt::format("{}", fmt::join(parts, "_"));
        if (isa::parse_method(name).op != nullptr) return name;
    } while (std::next_permutation(parts.begin() + 1, parts.end()));
    return {};
}

std::string suggest_method(std::string_view word) {
    for (const Translation& translation : translations)
        if (translation.word == word) return std::string(": here it is ").append(translation.here);
    std::string method = isa::nearest_method(word);
    if (method.empty()) method = reordered(word);
    if (!method.empty()) return std::string(": did you mean `").append(method).append("`?");
    // The begin of the name may be that of an instruction, and what follows no form of it.
    for (std::string_view begin = word; begin.find('_') != std::string_view::npos;) {
        begin = begin.substr(0, begin.rfind('_'));
        if (const isa::Instruction* op = isa::parse_method(begin).op; op != nullptr)
            return fmt::format(": `wgrun isa {}` lists the forms of {}", op->name, op->name);
    }
    return {};
}

// __index of the method table: makes the method of an instruction on first use.
int find_instruction(lua_State* L) {
    if (lua_type(L, 2) != LUA_TSTRING) return 0;
    const std::string_view name = string_argument(L, 2);
    const isa::Spelling spelling = guarded(L, [&] {
        const isa::Spelling usual = isa::parse_method(name);
        return usual.op != nullptr ? usual : isa::parse_method(ptx::usual_method(std::string(name)));
    });
    if (spelling.op == nullptr) {
        // Computed fields; and for names that are far off, the class itself looks for the nearest one.
        if (name == "threads" || name == "name") return 0;
        auto& hint = held<std::string>(L);
        guarded(L, [&] { hint = suggest_method(name); });
        if (hint.empty()) return 0;
        fail(L, [&] {
            return std::string(class_name<BuilderBox>) + " has no `" + std::string(name) + "`" + hint;
        });
    }
    void* memory = lua_newuserdatauv(L, sizeof(isa::Spelling), 0);
    new (memory) isa::Spelling(spelling);  // trivially destructible: Lua may just free it
    static_assert(std::is_trivially_destructible_v<isa::Spelling>);
    lua_pushcclosure(L, builder_instruction, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

}  // namespace

const isa::Instruction* instruction_of(lua_State* L, int index) {
    if (lua_tocfunction(L, index) != builder_instruction || lua_getupvalue(L, index, 1) == nullptr)
        return nullptr;
    const isa::Instruction* op = static_cast<const isa::Spelling*>(lua_touserdata(L, -1))->op;
    lua_pop(L, 1);
    return op;
}

void open_method_names(lua_State* L) {
    push_methods(L, &class_key<BuilderBox>, class_name<BuilderBox>);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, find_instruction);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    // The instructions without qualifiers are made at once, so that a misspelt name finds the nearest one.
    const auto instructions = guarded(L, [] { return isa::all(); });
    for (const isa::Instruction* op : instructions) {
        auto& name = held<std::string>(L);
        guarded(L, [&] {
            name = op->name;
            std::replace(name.begin(), name.end(), '.', '_');
        });
        lua_getfield(L, -2, name.c_str());
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
}

}  // namespace wgrun::lua
