// Everything that scripts can use is described, and what is said of instructions is true.
#include <algorithm>
#include <functional>
#include <regex>
#include <string>

#include "bindings/lua/doc_instruction.hpp"
#include "bindings/lua/docs.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/types.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"
#include "wgrun/isa.hpp"

using wgrun::lua::Described;
using wgrun::lua::Documentation;
using wgrun::lua::documentation;
using wgrun::lua::Entry;
using wgrun::lua::MemberKind;
using wgrun::test::State;

namespace {

/// A state with the module on its stack.
struct Opened : State {
    Opened() {
        open();
        luaL_requiref(*this, "wgrun", luaopen_wgrun, 0);
    }
};

/// Calls visit for the string keys of the table on top of the stack.
void each_key(lua_State* L, const std::function<void(const std::string& key)>& visit) {
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING) visit(lua_tostring(L, -2));
}

/// Runs all files of the library, which are run when a script first calls a function of theirs.
void use_all(State& state) {
    for (const wgrun::lua::StdlibPart& file : wgrun::lua::stdlib_code().files)
        for (const std::string_view function : file.functions) {
            std::string name(function);
            std::ranges::replace(name, ':', '.');
            state.run(("local wg = require 'wgrun' wg.kernel('use', { threads = 128 }, function(k) pcall(" +
                       name + ", true) end)")
                          .c_str());
        }
}

bool described(const Documentation& docs, const std::string& name) {
    const Entry* entry = docs.find(name);
    return entry != nullptr && entry->name == name && !entry->text.empty();
}

}  // namespace

TEST_CASE("every function and field of wg is described") {
    Opened state;
    const Documentation& docs = documentation(state);
    int seen = 0;
    each_key(state, [&](const std::string& key) {
        INFO("wg." << key);
        CHECK(described(docs, "wg." + key));
        ++seen;
    });
    CHECK(seen > 45);
    lua_getfield(state, -1, "sparse");
    each_key(state, [&](const std::string& key) {
        INFO("wg.sparse." << key);
        CHECK(described(docs, "wg.sparse." + key));
    });
}

// The classes are found in the registry, their fields in __index: not in what the bindings say that there is.
TEST_CASE("every class, method and field is described") {
    Opened state;
    lua_State* L = state;
    const Documentation& docs = documentation(L);
    int classes = 0, members = 0;
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    const int registry = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, registry) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -1) != LUA_TTABLE) continue;
        const int top = lua_gettop(L);
        lua_pushliteral(L, "__name");
        if (lua_rawget(L, top) == LUA_TSTRING && std::string(lua_tostring(L, -1)).starts_with("wgrun.")) {
            std::string type = std::string(lua_tostring(L, -1)).substr(6);
            if (type == "builder") type = "k";
            INFO("type " << type);
            CHECK(described(docs, type));
            ++classes;
            lua_pushliteral(L, "methods");
            if (lua_rawget(L, top) == LUA_TTABLE)
                each_key(L, [&](const std::string& key) {
                    INFO(type << ":" << key);
                    CHECK(described(docs, type + ":" + key));
                    ++members;
                });
            lua_pushliteral(L, "__index");
            if (lua_rawget(L, top) == LUA_TFUNCTION && lua_getupvalue(L, -1, 2) != nullptr)
                each_key(L, [&](const std::string& key) {
                    INFO(type << "." << key);
                    CHECK(described(docs, type + "." + key));
                    ++members;
                });
        }
        lua_settop(L, top);
    }
    CHECK(classes >= 13);
    CHECK(members > 150);
}

TEST_CASE("every class that is a Lua table is described, with its methods") {
    Opened state;
    lua_State* L = state;
    use_all(state);
    const Documentation& docs = documentation(L);
    REQUIRE(wgrun::lua::push_lua_classes(L));
    int classes = 0;
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        const std::string type = lua_tostring(L, -2);
        INFO("type " << type);
        CHECK(described(docs, type));
        ++classes;
        each_key(L, [&](const std::string& key) {
            INFO(type << ":" << key);
            CHECK((key.starts_with("__") || described(docs, type + ":" + key)));
        });
    }
    CHECK(classes >= 20);
}

TEST_CASE("options, arguments and results have types and words, and what is referred to is there") {
    Opened state;
    const Documentation& docs = documentation(state);
    for (const Entry& entry : docs.all()) {
        INFO(entry.name);
        CHECK(!entry.summary().empty());
        CHECK(entry.text.ends_with('.'));
        for (const auto* list : {&entry.options, &entry.fields})
            for (const Described& one : *list) {
                INFO(one.name);
                CHECK((!one.type.empty() && one.type != "any"));
                CHECK((!one.text.empty() || list == &entry.fields));
            }
        for (const Described& param : entry.params) CHECK(!param.type.empty());
        const bool takes_options = std::ranges::any_of(entry.params, [](const Described& p) {
            return p.name == "options" || p.name == "range" || p.name == "tolerance";
        });
        CHECK((entry.options.empty() || takes_options));
        const bool has_table = std::ranges::any_of(entry.params, [](const Described& p) {
            return p.name == "options" && p.type.find("table") != std::string::npos;
        });
        CHECK((!entry.options.empty() || !has_table));
        for (const wgrun::lua::Operator& one : entry.operators)
            CHECK((!one.name.empty() && !one.result.empty()));
        for (const std::string& name : entry.see) {
            INFO("see " << name);
            CHECK(docs.find(name) != nullptr);
        }
    }
}

TEST_CASE("methods that pass their options on have them described as their own") {
    Opened state;
    const Documentation& docs = documentation(state);
    const auto keys_of = [&](std::string_view name) {
        std::vector<std::string> keys;
        for (const Described& option : docs.find(name)->options) keys.push_back(option.name);
        return keys;
    };
    const auto has = [&](const std::vector<std::string>& keys, std::string_view key) {
        return std::ranges::count(keys, key) == 1;
    };
    const auto run = keys_of("gemm:run"), time = keys_of("gemm:time"), prepare = keys_of("gemm:prepare");
    for (const std::string_view key : {"alpha", "bias", "C", "backend", "numerics.block", "timeout_ms"}) {
        INFO(key);
        CHECK((has(run, key) && has(time, key) && has(prepare, key)));
    }
    CHECK((has(run, "guarded") && !has(prepare, "guarded")));
    CHECK((has(time, "rounds") && !has(time, "flops") && has(time, "grid") && !has(time, "args")));
    for (const Entry& entry : wgrun::lua::stdlib_entries())
        for (const wgrun::lua::Borrowed& borrowed : entry.borrowed) {
            INFO(entry.name << " borrows of " << borrowed.entry);
            const Entry* lender = docs.find(borrowed.entry);
            REQUIRE(lender != nullptr);
            for (const std::string& key : borrowed.without)
                CHECK(std::ranges::find(lender->options, key, &Described::name) != lender->options.end());
        }
    // The Lua half is told the same.
    State& own = state;
    CHECK(own.run("local wg = require 'wgrun' local g = wg.gemm{} "
                  "local ok, e = pcall(g.run, g, 1, 2, 3, { backnd = 'sim' }) return e.message")
              .find("unknown option `backnd` of gemm:run: did you mean `backend`?") != std::string::npos);
}

// arguments.options("k:loop", ...) asks the comment at k:loop which keys there are.
TEST_CASE("the option tables that stdlib checks are described") {
    const std::regex call(R"re(options\("([^"]+)")re");
    int seen = 0;
    for (const wgrun::lua::StdlibFile& file : wgrun::lua::stdlib_files()) {
        const std::string text(file.text);
        for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
            const std::string name = (*at)[1];
            const std::string owner = name.substr(0, name.find(", "));
            const std::string inner = owner == name ? "" : name.substr(owner.size() + 2) + ".";
            INFO(name);
            const auto& entries = wgrun::lua::stdlib_entries();
            const auto entry = std::ranges::find(entries, owner, &Entry::name);
            REQUIRE(entry != entries.end());
            CHECK((!entry->borrowed.empty() || std::ranges::any_of(entry->options, [&](const Described& o) {
                return o.name.starts_with(inner);
            })));
            ++seen;
        }
    }
    CHECK(seen > 15);
}

TEST_CASE("names are found as people write them") {
    Opened state;
    const Documentation& docs = documentation(state);
    const auto found = [&](std::string_view name) {
        const Entry* entry = docs.find(name);
        return entry == nullptr ? std::string() : entry->name;
    };
    CHECK(found("k:loop") == "k:loop");
    CHECK(found("k.loop") == "k:loop");
    CHECK(found("builder:loop") == "k:loop");
    CHECK(found("wgrun.tile") == "tile");
    CHECK(found("wg.tile") == "wg.tile");
    CHECK(found("copy_tile") == "k:copy_tile");
    CHECK(found("k:ld_global_v4_b32") == "k:ld");
    CHECK(found("wgmma.fence") == "k:wgmma_fence");
    CHECK(found("bytes").empty());  // of several types
    CHECK(found("k:lop").empty());
    CHECK(docs.suggestions("k:lop").front() == "k:loop");
    CHECK(docs.suggestions("wg.lod").front() == "wg.load");
    CHECK(docs.suggestions("").empty());
    CHECK(docs.find("k:loop")->signature() == "k:loop(range, body)");
    CHECK(docs.find("tile:offset")->signature() == "tile:offset(row, k) -> integer");
    CHECK(docs.find("wg.randn")->signature() == "wg.randn{ shape =, dtype =, seed = } -> tensor");
}

TEST_CASE("qualifiers have the types of what may be given") {
    Opened state;
    const Documentation& docs = documentation(state);
    const auto type_of = [&](std::string_view name, std::string_view option) {
        const auto& options = docs.find(name)->options;
        const auto found = std::ranges::find(options, option, &Described::name);
        return found == options.end() ? std::string("none") : found->type;
    };
    CHECK(type_of("k:ld", "type") == "string");
    CHECK(type_of("k:ld", "nc") == "boolean");
    CHECK(type_of("k:ld", "offset") == "integer");
    CHECK(type_of("k:wgmma_mma_async", "d") == "string");
    CHECK(type_of("k:wgmma_mma_async", "n") == "integer");
    CHECK(type_of("k:wgmma_mma_async", "satfinite") == "boolean");
}

TEST_CASE("values are found by what they are") {
    Opened state;
    lua_State* L = state;
    const auto name_of = [&](const char* expression) {
        REQUIRE(luaL_loadstring(
                    L, (std::string("local wg = require 'wgrun' return ") + expression).c_str()) == LUA_OK);
        REQUIRE(lua_pcall(L, 0, 1, 0) == LUA_OK);
        const int top = lua_gettop(L);
        const std::string name(wgrun::lua::described_name(L, -1));
        CHECK(lua_gettop(L) == top);
        lua_pop(L, 1);
        return name;
    };
    CHECK(name_of("wg") == "wg");
    CHECK(name_of("wg.sparse") == "wg.sparse");
    CHECK(name_of("wg.tile") == "wg.tile");
    CHECK(name_of("wg.gemm") == "wg.gemm");
    CHECK(name_of("wg.layout '4:1'") == "layout");
    CHECK(name_of("(wg.layout '4:1').size") == "layout:size");
    CHECK(name_of("(wg.layout '4:1').print") == "layout:print");
    CHECK(name_of("wg.gemm{}") == "gemm");
    CHECK(name_of("wg.gemm{}.run") == "gemm:run");
    CHECK(name_of("print") == "");
    CHECK(name_of("{}") == "");
    CHECK(name_of("1") == "");
    CHECK(state.run("local wg, k_ = require 'wgrun' wg.kernel('x', {}, function(k) kept = {k, k.loop, k.ld, "
                    "k.ld_global_f32, k:reg 'u32'} end)") == "nil");
    for (const auto& [index, name] :
         {std::pair{1, "k"}, {2, "k:loop"}, {3, "k:ld"}, {4, "k:ld"}, {5, "reg"}}) {
        lua_getglobal(L, "kept");
        lua_rawgeti(L, -1, index);
        CHECK(wgrun::lua::described_name(L, -1) == name);
        lua_settop(L, 0);
    }
}

namespace {

/// A kernel that makes what the example of an instruction names, and calls it.
std::string kernel_of(const wgrun::isa::Instruction& op, const Entry& entry, const char* address) {
    using wgrun::isa::OperandRule;
    const wgrun::isa::Form form = wgrun::lua::sample_form_of(op);
    std::string code = "return require 'wgrun'.kernel('x', {}, function(k)\n";
    for (const OperandRule& rule : op.operands) {
        const std::string name(rule.name);
        const int count =
            rule.count != nullptr && (rule.kinds & OperandRule::list) != 0 ? rule.count(form) : 1;
        const std::string type =
            rule.type == nullptr ? address : std::string(wgrun::isa::to_string(rule.type(form)));
        if (rule.kinds == OperandRule::imm) continue;
        if (count > 1 || rule.kinds == OperandRule::list)
            code += "local " + name + " = k:regs('" + type + "', " + std::to_string(count) + ")\n";
        else
            code += "local " + name + " = k:reg '" + type + "'\n";
    }
    return code + entry.example + "\nend)";
}

/// The mnemonic of the step of `op` in the kernel on top of the stack; empty where there is none.
std::string mnemonic_in(lua_State* L, const wgrun::isa::Instruction& op) {
    const auto* kernel = wgrun::lua::test<wgrun::Kernel>(L, -1);
    std::string found;
    if (kernel == nullptr) return found;
    wgrun::for_each_step(kernel->program(), [&](const wgrun::isa::Step& step) {
        if (step.op != &op) return;
        found = wgrun::isa::expand(op.ptx, step, [](const auto&, const auto&) { return std::string(); });
        found.resize(found.find(' ') == std::string::npos ? found.size() : found.find(' '));
    });
    return found;
}

}  // namespace

TEST_CASE("the example of an instruction is a legal call, and becomes the PTX that is shown") {
    Opened state;
    lua_State* L = state;
    const Documentation& docs = documentation(L);
    int seen = 0;
    for (const wgrun::isa::Instruction* op : wgrun::isa::all()) {
        const Entry* entry = docs.find(wgrun::lua::instruction_name(*op));
        REQUIRE(entry != nullptr);
        if (entry->kind != MemberKind::instruction) continue;  // k:special has words of its own
        INFO(entry->name << ": " << entry->example);
        if (entry->example.empty()) {  // made by another method
            CHECK(!entry->see.empty());
            continue;
        }
        // Addresses of global memory have 64 bits, those of shared memory 32.
        std::string found, errors;
        for (const char* address : {"u64", "u32"}) {
            const std::string code = kernel_of(*op, *entry, address);
            if (luaL_loadstring(L, code.c_str()) == LUA_OK) lua_pcall(L, 0, 1, 0);
            const std::string mnemonic = mnemonic_in(L, *op);
            if (!mnemonic.empty()) found = mnemonic;
            errors += std::string(luaL_tolstring(L, -1, nullptr)) + "\n";
            lua_settop(L, 0);
        }
        INFO(errors);
        CHECK(found == entry->ptx.substr(0, entry->ptx.find(' ')));
        ++seen;
    }
    CHECK(seen > 80);
}
