// A program as a script that builds it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::emit {

/// The text of a step of isa::opaque.
struct OpaqueText {
    std::string text;                                    ///< operands are written %name
    std::vector<std::pair<std::string, Reg>> registers;  ///< by name; the first `written` of them are written
    std::size_t written = 0;
    /// It is the step before it, with results that this one's record does not have.
    bool replaces = false;
};

/// What a script may say besides the program.
struct LuaNotes {
    std::vector<std::string> names;  ///< of registers, by their numbers; empty, or missing at the end: none
    std::vector<OpaqueText> opaque;  ///< in the order of the opaque steps
    std::function<std::string(int line)> source;  ///< what a comment says of a line of the program
    std::string variable;                         ///< the Lua variable that gets the kernel
    std::vector<std::string> heading;             ///< comments
    std::map<int, std::string> names_at;          ///< comments before the steps of a line of the program
    Assumed assumed;
};

struct LuaText {
    std::string text;
    std::vector<std::string> remarks;  ///< what the script does not say as the program does
};

/// Returns the functions that the kernels of a script use.
std::string lua_helpers();

/// Returns the call of wg.kernel that builds the program, with its blocks in the same order: each step is a
/// call of the builder, branches are k:if_ and k:repeat_ where they nest, and k:jump elsewhere.
LuaText lua(const Program& program, const LuaNotes& notes);

}  // namespace wgrun::emit
