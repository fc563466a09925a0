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

/// A thing in shared memory that has a name in the script.
struct LuaAllocation {
    std::string name, says;            ///< "full", and what it is
    std::int64_t base = 0;             ///< where the buffer begins that it lies in
    std::vector<std::int64_t> places;  ///< where its parts begin, in bytes from there
};

/// The place of a byte in a thing.
struct LuaPlace {
    std::size_t allocation = 0, part = 0;
    std::int64_t more = 0;  ///< bytes behind the beginning of the part
};

/// What numbers and registers of a program mean.
struct LuaMeanings {
    std::vector<LuaAllocation> allocations;
    /// Of an operand of a step: its number, or the offset of its address.
    std::map<std::pair<const Step*, std::size_t>, LuaPlace> numbers;
    std::vector<std::string> registers;  ///< names, by the registers' numbers; empty: none
    std::vector<std::string> params;     ///< names
};

/// What a script may say besides the program.
struct LuaNotes {
    std::vector<std::string> names;  ///< of registers, by their numbers; empty, or missing at the end: none
    std::vector<OpaqueText> opaque;  ///< in the order of the opaque steps
    std::function<std::string(int line)> source;  ///< what a comment says of a line of the program
    std::string variable;                         ///< the Lua variable that gets the kernel
    std::vector<std::string> heading;             ///< comments
    LuaMeanings meanings;
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
