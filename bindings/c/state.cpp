#include "bindings/c/state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/script.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/lua.hpp"

namespace wgrun::c {
namespace {

char engine_key;    // registry: light userdata, the Engine
char call_key;      // registry: light userdata, the Protected that runs
char script_key;    // registry: the script as a function
char globals_key;   // registry: the globals as they were before it ran
char raisers_key;   // registry: the functions by which it raises errors
char ended_marker;  // the error value of os.exit

// Of the table that a run refers to.
constexpr int items_place = 1, kernels_place = 2, first_place = 3;

/// The failure of a protected call.
struct Trouble {
    std::string code;
    std::vector<Diagnostic> findings;
    std::string traceback;
    bool ours = false;  ///< an error object, not an error of the script's own
    lua::Raisers raisers{};
    bool deliberate = false;  ///< raised by a call of error or assert
};

constexpr std::string_view no_memory = "not enough memory";  // Lua's words

int status_of(const Trouble& trouble) {
    if (!trouble.ours)
        return !trouble.findings.empty() && trouble.findings.front().message == no_memory
                   ? WGRUN_NO_MEMORY
                   : WGRUN_SCRIPT_FAILED;
    if (trouble.code != "EINVAL") return c::status_of(trouble.code);
    return trouble.findings.front().rule.empty() ? WGRUN_SCRIPT_FAILED : WGRUN_FOUND_ERRORS;
}

[[noreturn]] void fail(int status, Trouble& trouble) {
    if (trouble.code.empty()) trouble.code = status == WGRUN_NO_MEMORY ? "ENOMEM" : "EINVAL";
    throw Failure(status, std::move(trouble.code), std::move(trouble.findings), std::move(trouble.traceback));
}

struct Protected {
    void (*body)(lua_State* L, void* context);
    void* context;
    Trouble& trouble;
};

// Pops the error on top of the stack.
void take_error(lua_State* L, Trouble& trouble) {
    trouble.ours = lua::is_error(L, -1);
    const std::string_view code = lua::error_code(L, -1);
    lua::guarded(L, [&] { trouble.code = code; });
    lua::read_findings(L, -1, trouble.findings);
    lua_pop(L, 1);
}

// Whether the script has reached a limit, even if it caught the error or was stopped inside the engine.
bool take_limit(lua_State* L, Trouble& trouble) {
    // Work of the engine ends by the deadline itself.
    lua::LimitState& counted = lua::limit_state(L);
    if (trouble.code == "ETIMEDOUT" && counted.limits.time.count() != 0) lua::out_of_time(counted);
    const lua::Limit limit = lua::limit_reached(L);
    if (limit == lua::Limit::none) return false;
    // What the script may have done without.
    if (limit == lua::Limit::memory && status_of(trouble) != WGRUN_NO_MEMORY) return false;
    const lua::LimitState& state = lua::limit_state(L);
    lua::guarded(L, [&] {
        const Where where = trouble.findings.empty() ? Where() : trouble.findings.front().where;
        trouble.findings.assign(1, lua::limit_finding(limit, state.limits, where));
        trouble.code = "ELIMIT";
    });
    trouble.ours = true;
    return true;
}

int take_last_error(lua_State* L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &call_key);
    auto* call = static_cast<Protected*>(lua_touserdata(L, -1));
    lua_settop(L, 1);
    if (call != nullptr) {
        luaL_traceback(L, L, nullptr, 1);
        const char* text = lua_tostring(L, -1);
        lua::guarded(L, [&] { call->trouble.traceback = text; });
        lua_settop(L, 1);
        take_error(L, call->trouble);
        take_limit(L, call->trouble);
    }
    lua_pushnil(L);
    return 1;
}

int protected_main(lua_State* L) {
    auto* call = static_cast<Protected*>(lua_touserdata(L, 1));
    lua_rawsetp(L, LUA_REGISTRYINDEX, &call_key);
    call->body(L, call->context);
    return 0;
}

Engine& engine_of(lua_State* L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &engine_key);
    auto& engine = *static_cast<Engine*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    return engine;
}

// print, for a host that receives the lines itself.
int print(lua_State* L) {
    const wgrun_engine_options& options = engine_of(L).options;
    const int count = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= count; ++i) {
        if (i > 1) luaL_addchar(&line, '\t');
        luaL_tolstring(L, i, nullptr);
        luaL_addvalue(&line);
    }
    luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    std::size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    options.print(options.print_user, text, length);
    return 0;
}

// os.exit ends the script, which the error value marks.
int end_script(lua_State* L) {
    const bool good = lua_isnoneornil(L, 1) ||
                      (lua_isboolean(L, 1) ? lua_toboolean(L, 1) != 0 : luaL_optinteger(L, 1, 0) == 0);
    if (good) {
        lua_pushlightuserdata(L, &ended_marker);
        return lua_error(L);
    }
    return luaL_error(L, "the script ended itself with os.exit(%s)", luaL_tolstring(L, 1, nullptr));
}

void prepare(lua_State* L, Engine& engine) {
    const wgrun_engine_options& options = engine.options;
    lua_pushlightuserdata(L, &engine);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &engine_key);
    if (options.restricted != 0) {
        lua::open_restricted(L);
    } else {
        luaL_openlibs(L);
        luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
        lua_pushcfunction(L, luaopen_wgrun);
        lua_setfield(L, -2, "wgrun");
        lua_getglobal(L, "os");
        lua_pushcfunction(L, end_script);
        lua_setfield(L, -2, "exit");
        lua_pop(L, 2);
    }
    if (options.print != nullptr) {
        lua_pushcfunction(L, print);
        lua_setglobal(L, "print");
    }
    lua::Session& session = lua::session(L);
    session.mode = options.run_kernels != 0 ? lua::Mode::run : lua::Mode::trace;
    session.backend = static_cast<Backend>(options.backend);
    session.isolation = gpu::Isolation::process;  // the host's program cannot serve as a worker
    session.seed = options.seed;
    session.terminal = false;  // which is the host's
    if (options.log == nullptr) return;
    lua::guarded(L, [&] {
        session.remark = [&options](std::string_view text) {
            const std::string line = "wgrun: " + std::string(text) + "\n";
            options.log(options.log_user, line.data(), line.size());
        };
        session.warn = [&options](const Diagnostic& finding) {
            const std::string text = text_of({finding});
            options.log(options.log_user, text.data(), text.size());
        };
    });
}

// The kernel at `index`, or that of the launcher there; null for anything else.
Kernel* kernel_at(lua_State* L, int index, bool& launches) {
    launches = false;
    if (Kernel* kernel = lua::test<Kernel>(L, index)) return kernel;
    if (lua_type(L, index) != LUA_TTABLE) return nullptr;
    const int top = lua_gettop(L);
    Kernel* kernel = nullptr;
    if (lua_getfield(L, index, "launch") == LUA_TFUNCTION) {
        lua_getfield(L, index, "kernel");
        kernel = lua::test<Kernel>(L, -1);
        launches = kernel != nullptr;
    }
    lua_settop(L, top);
    return kernel;
}

// Appends the value on top of the stack, which it pops, to the table `list` and to `items`, if it is one; a
// tensor to `tensors`.
bool add_item(lua_State* L, int list, const char* name, std::size_t length, std::vector<Item>& items,
              std::vector<TensorItem>& tensors) {
    bool launches = false;
    Kernel* kernel = kernel_at(L, lua_gettop(L), launches);
    if (kernel == nullptr) {
        const auto* box = lua::test<lua::HostTensorBox>(L, -1);
        if (box != nullptr && box->tensor != nullptr)
            lua::guarded(L, [&] {
                tensors.push_back({name == nullptr ? "" : std::string(name, length), box->tensor});
            });
        lua_pop(L, 1);
        return false;
    }
    lua_rawseti(L, list, static_cast<lua_Integer>(items.size()) + 1);
    lua::guarded(L, [&] {
        items.push_back(
            {name == nullptr ? kernel->program().name() : std::string(name, length), kernel, launches});
    });
    return true;
}

// The entries of the table at `index`: a list's in order, then the others by their names.
void add_entries(lua_State* L, int list, int index, std::vector<Item>& items,
                 std::vector<TensorItem>& tensors) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, index, i);
        add_item(L, list, nullptr, 0, items, tensors);
    }
    auto& names = lua::held<std::vector<std::string>>(L);
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        std::size_t length = 0;
        const char* name = lua_tolstring(L, -2, &length);
        lua::guarded(L, [&] { names.emplace_back(name, length); });
    }
    lua::guarded(L, [&] { std::sort(names.begin(), names.end()); });
    for (std::size_t i = 0; i < names.size(); ++i) {
        lua_pushlstring(L, names[i].data(), names[i].size());
        lua_rawget(L, index);
        add_item(L, list, names[i].data(), names[i].size(), items, tensors);
    }
    lua_pop(L, 1);
}

}  // namespace

struct State::Load {
    State& state;
    Run& run;
    const std::vector<std::string>& arguments;
    bool again = false;
    Trouble trouble{};  ///< of the script
    int status = WGRUN_OK;
    std::optional<Interruptible> interruptible{};  ///< while the script runs
};

namespace {

// Message handler of the script: its context is the Trouble.
int keep_circumstances(lua_State* L) {
    auto* trouble = static_cast<Trouble*>(lua_touserdata(L, lua_upvalueindex(1)));
    trouble->deliberate = lua::raised_by_script(L, trouble->raisers);
    luaL_traceback(L, L, nullptr, 1);
    const char* text = lua_tostring(L, -1);
    lua::guarded(L, [&] { trouble->traceback = text; });
    lua_pop(L, 1);
    return 1;
}

// Of the kernels in the list at `index`.
void add_made(lua_State* L, int index, std::vector<Item>& made) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, index, i);
        Kernel& kernel = lua::check<Kernel>(L, -1);
        lua::guarded(L, [&] { made.push_back({kernel.program().name(), &kernel, false}); });
        lua_pop(L, 1);
    }
}

// Pushes a copy of the table on top of the stack, in its place.
void copy_table(lua_State* L) {
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, -3) != 0;) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
}

int append(lua_State*, const void* bytes, std::size_t size, void* to) {
    try {
        static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

// Pushes the script as a function whose globals are those before it ran, and `arg`.
void push_script_again(lua_State* L, const std::string& file, const std::vector<std::string>& arguments,
                       std::string& code) {
    if (code.empty()) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &script_key);
        if (lua_dump(L, append, &code, 0) != 0) {
            code.clear();
            lua::guarded(L, []() -> void { throw std::bad_alloc(); });
        }
        lua_pop(L, 1);
    }
    if (luaL_loadbufferx(L, code.data(), code.size(), "=(script)", "b") != LUA_OK) lua_error(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
    copy_table(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, LUA_GNAME);
    lua::push_script_arguments(L, "wgrun", file.empty() ? lua::unnamed_text : file, arguments);
    lua_setfield(L, -2, "arg");
    lua_setupvalue(L, -2, 1);
}

}  // namespace

// Makes the state ready for the script, and pushes that; false if it cannot be loaded.
bool State::begin_load(lua_State* L, Load& load) {
    State& state = load.state;
    const Source& source = state.source_;
    const char* file = source.file.empty() ? nullptr : source.file.c_str();
    if (file != nullptr && state.engine().options.restricted == 0) lua::set_script_path(L, file);
    lua::set_limits(L, state.engine().limits);
    lua::guard_handlers(L);  // a later run may be cancelled
    lua_pushglobaltable(L);
    copy_table(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
    lua::push_script_arguments(L, "wgrun", file == nullptr ? lua::unnamed_text : file, load.arguments);
    lua_setglobal(L, "arg");
    const int loaded = lua::load_script(L, file, source.has_text ? &source.text : nullptr);
    if (loaded == LUA_OK) {
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &script_key);
        return true;
    }
    const int reason = errno;
    take_error(L, load.trouble);
    load.status = loaded == LUA_ERRFILE ? WGRUN_NO_FILE : status_of(load.trouble);
    if (take_limit(L, load.trouble)) load.status = WGRUN_LIMIT_REACHED;
    if (loaded == LUA_ERRFILE)
        lua::guarded(L, [&] {
            load.trouble.code = "ENOENT";
            load.trouble.findings.assign(1, {});
            load.trouble.findings.front().message =
                "cannot read " + source.file + ": " + std::strerror(reason);
        });
    return false;
}

int State::load_main(lua_State* L) {
    auto& load = *static_cast<Load*>(lua_touserdata(L, 1));
    State& state = load.state;
    Run& run = load.run;
    lua_settop(L, 0);
    if (!load.again) {
        prepare(L, state.engine());
        lua::open_error(L);  // a script may be stopped before it requires wgrun
        auto* raisers = static_cast<lua::Raisers*>(lua_newuserdatauv(L, sizeof(lua::Raisers), 0));
        *raisers = lua::raisers(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &raisers_key);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raisers_key);
    load.trouble.raisers = *static_cast<lua::Raisers*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    std::atomic<bool>& stop = lua::session(L).stop;
    lua::guarded(L, [&] { load.interruptible.emplace(state.engine(), stop); });
    lua::session(L).withheld = false;
    constexpr int items = 1, kernels = 2, handler = 3;
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, kernels);
    lua::set_kernels(L);
    lua_pushlightuserdata(L, &load.trouble);
    lua_pushcclosure(L, keep_circumstances, 1);
    if (TokenInUse::any()) lua::watch_cancellation(L);
    if (load.again) {
        lua::set_limits(L, state.engine().limits);
        push_script_again(L, state.source_.file, load.arguments, state.code_);
    } else if (!begin_load(L, load)) {
        return 0;
    }
    luaL_checkstack(L, static_cast<int>(load.arguments.size()) + 2, "too many arguments");
    for (std::size_t i = 0; i < load.arguments.size(); ++i)
        lua_pushlstring(L, load.arguments[i].data(), load.arguments[i].size());
    const int status = lua_pcall(L, static_cast<int>(load.arguments.size()), LUA_MULTRET, handler);
    if (status != LUA_OK && lua_touserdata(L, -1) == &ended_marker) {
        lua_settop(L, handler);
    } else if (status != LUA_OK) {
        take_error(L, load.trouble);
        load.status = status_of(load.trouble);
    }
    if (take_limit(L, load.trouble)) {
        load.status = WGRUN_LIMIT_REACHED;
        return 0;
    }
    if (stop) {  // Lua code may not be stopped, but its results after the kernels were stopped prove nothing
        load.status = WGRUN_INTERRUPTED;
        lua::guarded(L, [&] {
            load.trouble.code = "EINTR";
            load.trouble.findings.assign(1, {});
            load.trouble.findings.front().message = "interrupted";
        });
        return 0;
    }
    const int results = lua_gettop(L);
    for (int i = handler + 1; i <= results; ++i) {
        lua_pushvalue(L, i);
        if (!add_item(L, items, nullptr, 0, run.returned, run.tensors) && lua_type(L, i) == LUA_TTABLE)
            add_entries(L, items, i, run.returned, run.tensors);
    }
    add_made(L, kernels, run.made);
    lua_settop(L, std::max(results, handler + 1));
    lua_createtable(L, first_place, 0);
    for (const auto& [place, index] : {std::pair(items_place, items), std::pair(kernels_place, kernels),
                                       std::pair(first_place, handler + 1)}) {
        lua_pushvalue(L, index);
        lua_rawseti(L, -2, place);
    }
    run.reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

namespace {

// Lua's allocator over the host's. Without a block, Lua passes the type of the new object in old_size.
void* allocate(void* self, void* block, std::size_t old_size, std::size_t size) {
    const wgrun_engine_options& options = static_cast<Engine*>(self)->options;
    if (block == nullptr && size == 0) return nullptr;
    void* const result =
        options.allocate(options.allocate_user, block, block == nullptr ? 0 : old_size, size);
    return size == 0 ? nullptr : result;
}

lua_State* new_state(Engine& engine) {
    return engine.options.allocate != nullptr ? lua_newstate(allocate, &engine) : luaL_newstate();
}

}  // namespace

State::State(std::shared_ptr<Engine> engine)
    : engine_(std::move(engine)), state_(new_state(*engine_), lua_close) {
    if (state_ == nullptr) throw std::bad_alloc();
    lua_setwarnf(state_.get(), State::warn, this);
}

State::~State() = default;

// Lua's warn: to the host's log, once the script says "@on". Lua's own way is the standard error of the
// process.
void State::warn(void* self, const char* message, int to_be_continued) {
    auto& state = *static_cast<State*>(self);
    try {
        state.warning_ += message;
        if (to_be_continued != 0) return;
        const std::string whole = std::exchange(state.warning_, {});
        const wgrun_engine_options& options = state.engine_->options;
        if (whole.starts_with('@')) {
            if (whole == "@on" || whole == "@off") state.warns_ = whole == "@on";
        } else if (state.warns_ && options.log != nullptr) {
            const std::string line = "Lua warning: " + whole + "\n";
            options.log(options.log_user, line.data(), line.size());
        }
    } catch (const std::bad_alloc&) {
        state.warning_.clear();  // there is no memory for the warning
    }
}

std::shared_ptr<Run> State::load(const Source& source) {
    source_ = source;
    const auto made = std::make_shared<Run>(shared_from_this());
    Load load{*this, *made, source_.arguments};
    run(load);
    return made;
}

std::shared_ptr<Run> State::again(const std::vector<std::string>& arguments) {
    const auto made = std::make_shared<Run>(shared_from_this());
    Load load{*this, *made, arguments, true};
    run(load);
    return made;
}

void State::run(Load& load) {
    struct Body {
        static void run(lua_State* L, void* context) {
            lua_pushcfunction(L, load_main);
            lua_pushlightuserdata(L, context);
            lua_call(L, 1, 0);
        }
    };
    protect(Body::run, &load);
    if (load.status == WGRUN_OK) return;
    // Errors that a script raises about the results of kernels that did not run prove nothing.
    if (load.status == WGRUN_SCRIPT_FAILED && load.trouble.deliberate &&
        lua::session(state_.get()).withheld) {
        for (Diagnostic& finding : load.trouble.findings) lua::excuse_missing_results(finding);
        load.run.warnings = std::move(load.trouble.findings);
        return;
    }
    fail(load.status, load.trouble);
}

void State::release(int reference) noexcept {
    if (reference == LUA_NOREF) return;
    const std::lock_guard lock(mutex_);
    try {
        released_.push_back(reference);
    } catch (const std::bad_alloc&) {  // it goes with the state
    }
}

// What the runs hold besides is memory that Lua does not see: it would collect too late.
void State::free_released(lua_State* L) {
    constexpr std::size_t runs_between_collections = 16;
    const std::lock_guard lock(mutex_);
    if (released_.empty()) return;
    for (const int reference : released_) luaL_unref(L, LUA_REGISTRYINDEX, reference);
    since_collected_ += released_.size();
    released_.clear();
    if (since_collected_ < runs_between_collections) return;
    since_collected_ = 0;
    lua_gc(L, LUA_GCCOLLECT);
}

void State::protect(void (*body)(lua_State* L, void* context), void* context) {
    lua_State* L = state_.get();
    Trouble trouble;
    Protected call{body, context, trouble};
    lua_settop(L, 0);
    lua_pushcfunction(L, take_last_error);
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &call);
    const int status = lua_pcall(L, 1, 0, 1);
    lua_settop(L, 0);
    free_released(L);
    if (status == LUA_OK) return;
    if (trouble.findings.empty() || trouble.findings.front().message.empty()) {
        if (lua::memory_refused(L))
            throw Failure(WGRUN_LIMIT_REACHED, "ELIMIT",
                          lua::limit_finding(lua::Limit::memory, engine_->limits).message);
        throw std::bad_alloc();
    }
    fail(status_of(trouble), trouble);
}

namespace {

void push_place(lua_State* L, int reference, int place) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    if (lua_type(L, -1) == LUA_TTABLE)
        lua_rawgeti(L, -1, place);  // none of a script that has stopped
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

// Of the list on top of the stack: replaces it by the kernel, or pops it.
bool take_kernel(lua_State* L, const Kernel& wanted) {
    const auto count = lua_type(L, -1) == LUA_TTABLE ? static_cast<lua_Integer>(lua_rawlen(L, -1)) : 0;
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, i);
        if (lua_type(L, -1) == LUA_TTABLE) {  // a launcher
            lua_getfield(L, -1, "kernel");
            lua_remove(L, -2);
        }
        if (lua::test<Kernel>(L, -1) == &wanted) return lua_remove(L, -2), true;
        lua_pop(L, 1);
    }
    return lua_pop(L, 1), false;
}

}  // namespace

void Run::push_returned(lua_State* L, std::size_t index) const {
    push_place(L, reference_, items_place);
    lua_rawgeti(L, -1, static_cast<lua_Integer>(index) + 1);
    lua_remove(L, -2);
}

void Run::push_first(lua_State* L) const { push_place(L, reference_, first_place); }

void Run::make_current(lua_State* L) const {
    push_place(L, reference_, kernels_place);
    lua::set_kernels(L);
}

void Run::push_kernel(lua_State* L, const Kernel& kernel) const {
    make_current(L);
    for (const int place : {items_place, kernels_place}) {
        push_place(L, reference_, place);
        if (take_kernel(L, kernel)) return;
    }
    lua::fail(L, [] { return std::string("the script does not keep this kernel"); });
}

KernelsRun::KernelsRun(State& state, Backend backend)
    : state_(state),
      mode_(lua::session(state.state_.get()).mode),
      backend_(lua::session(state.state_.get()).backend),
      seed_(lua::session(state.state_.get()).seed) {
    lua::Session& session = lua::session(state.state_.get());
    session.mode = lua::Mode::run;
    if (backend != Backend::automatic) session.backend = backend;
    session.resident_clusters = nullptr;
}

KernelsRun::~KernelsRun() {
    lua::Session& session = lua::session(state_.state_.get());
    session.mode = mode_;
    session.backend = backend_;
    session.seed = seed_;
}

}  // namespace wgrun::c
