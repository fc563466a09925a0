// Engine exceptions become Lua errors here and nowhere else.
//
// Lua raises by longjmp where it was built as C and by a C++ exception where it was built as C++. A binding
// is right under both if it keeps two rules:
//   1. No object with a destructor lives in a frame that calls Lua. Such objects live in userdata, which Lua
//      collects in any case: see held() and push_object() in userdata.hpp.
//   2. The engine is called in the body of guarded() or attempted(), and that body never calls Lua.
#pragma once

#include <lua.hpp>

#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::lua {

/// An engine error on its way to Lua: the first finding is the error's own.
struct Raised {
    std::string code;
    bool environment = false;
    std::vector<Diagnostic> findings;
};

/// Copies a caught exception. Null when there is no memory for the copy.
Raised* capture(const std::exception& error) noexcept;

/// Raises the Lua error for `raised`, which it deletes: an error object (error.hpp), with the place of the
/// calling script where the error has none. Null stands for "not enough memory".
[[noreturn]] void raise(lua_State* L, Raised* raised);

/// Pushes nil, message, code for an EnvironmentError and returns 3; raises everything else. Deletes `raised`.
int give_back(lua_State* L, Raised* raised);

/// Runs `body` and returns what it returns. Its exceptions are raised as Lua errors after its frame is gone.
template <class Body>
std::invoke_result_t<Body&> guarded(lua_State* L, Body&& body) {
    using Result = std::invoke_result_t<Body&>;
    static_assert(std::is_void_v<Result> || std::is_trivially_destructible_v<Result>, "see rule 1");
    static_assert(std::is_trivially_destructible_v<std::remove_reference_t<Body>>, "capture by reference");
    Raised* raised = nullptr;
    try {
        return body();
    } catch (const std::exception& error) {
        raised = capture(error);
    }
    raise(L, raised);
}

/// Like guarded(), for functions that may fail because of the environment (no file, no GPU). Returns 0, or
/// the number of results pushed (nil, message, code):
///
///     if (int failed = attempted(L, [&] { box.tensor = Tensor::load(path); })) return failed;
template <class Body>
int attempted(lua_State* L, Body&& body) {
    static_assert(std::is_trivially_destructible_v<std::remove_reference_t<Body>>, "capture by reference");
    Raised* raised = nullptr;
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        raised = capture(error);
    }
    return give_back(L, raised);
}

/// For a body of guarded() or attempted(): calls `take`, and returns true if there is not enough memory for
/// it.
template <class Take>
bool lacks_memory(Take&& take) {
    try {
        take();
        return false;
    } catch (const EnvironmentError& error) {
        if (error.code() != "ENOMEM") throw;
        return true;
    }
}

/// Like guarded(), for bodies that allocate device memory. Lua does not know how much its objects hold there,
/// so if memory runs out, garbage is collected and `body` runs a second time.
template <class Body>
void guarded_collecting(lua_State* L, Body&& body) {
    if (!guarded(L, [&] { return lacks_memory(body); })) return;
    lua_gc(L, LUA_GCCOLLECT);
    guarded(L, body);
}

/// Raises an ArgumentError with the message that `make` (returns std::string, never calls Lua) writes.
template <class Make>
[[noreturn]] void fail(lua_State* L, Make&& make) {
    guarded(L, [&] { throw ArgumentError(make()); });
    std::terminate();  // not reached
}

}  // namespace wgrun::lua
