#include "bindings/c/state.hpp"

#include <new>
#include <utility>

#include "bindings/c/new_state.hpp"
#include "bindings/c/trouble.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/session.hpp"

namespace wgrun::c {
namespace {

char call_key;  // registry: light userdata, the Protected that runs

struct Protected {
    void (*body)(lua_State* L, void* context);
    void* context;
    Trouble& trouble;
};

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
