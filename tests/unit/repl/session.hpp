// Sessions of the prompt without a terminal.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "bindings/repl/repl.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"

using Catch::Matchers::StartsWith;

namespace wgrun::test {

/// A console that is fed from a list; "^C" is an interrupt, "TEXT<Tab>" asks what may come next.
class Script : public repl::Console {
  public:
    explicit Script(std::deque<std::string> lines) : lines_(std::move(lines)) {}

    Input read(std::string_view prompt, repl::Assistant& assistant, std::string& line) override {
        prompts += prompt;
        while (!lines_.empty() && lines_.front().ends_with("<Tab>")) {
            const std::string text = lines_.front().substr(0, lines_.front().size() - 5);
            lines_.pop_front();
            completion = assistant.complete(text, text.size());
            offered.clear();
            for (const repl::Candidate& c : completion.candidates) offered.push_back(c.text);
        }
        if (lines_.empty()) return Input::end;
        line = lines_.front();
        lines_.pop_front();
        return line == "^C" ? Input::interrupted : Input::line;
    }
    void write(std::string_view text) override { out += text; }
    void remark(std::string_view text) override { err += text; }

    std::string prompts, out, err;
    repl::Completion completion;       ///< the last one
    std::vector<std::string> offered;  ///< its candidates

  private:
    std::deque<std::string> lines_;
};

inline int run_loop(lua_State* L) {
    repl::run(L, *static_cast<repl::Console*>(lua_touserdata(L, 1)));
    return 0;
}

inline Script session(std::deque<std::string> lines) {
    State state;
    state.open();
    Script console(std::move(lines));
    lua_pushcfunction(state, run_loop);
    lua_pushlightuserdata(state, &console);
    REQUIRE(lua_pcall(state, 1, 0, 0) == LUA_OK);
    CHECK(lua_gettop(state) == 0);
    return console;
}

/// What the prompt shows of an expression.
inline std::string shown(const char* expression) {
    const Script s = session({"wg = require 'wgrun'", expression});
    return s.out + s.err;
}

}  // namespace wgrun::test
