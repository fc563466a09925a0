// Completion of what a person is typing.
//
// No code of the script runs for it. Values are looked up without metamethods, and Lua's collector, which
// would run finalizers, is stopped meanwhile.
#pragma once

#include <lua.hpp>

#include <string>

#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

/// For one state and one session, for as long as both last.
class Helper : public Assistant {
  public:
    /// `locals`: the stack index of the session's locals (chunk.hpp), good for every call.
    Helper(lua_State* L, int locals) : L_(L), locals_(locals) {}

    /// The text being typed continues `chunk`.
    void begin_with(const std::string& chunk) { before_ = chunk + '\n'; }

    bool unfinished(const std::string& text) override;

    /// After a name and a dot or colon, its fields or methods; in the braces of a call, the keys of its
    /// options; at the beginning of a line with a dot, commands; elsewhere locals, globals and Lua's words.
    /// Nothing in strings and comments. Never raises: without memory there are no candidates.
    Completion complete(const std::string& text, std::size_t cursor) override;

  private:
    lua_State* L_;
    int locals_;
    std::string before_;
};

}  // namespace wgrun::repl
