// What is said of everything that scripts can use, put together from where it is defined: the Member tables
// of the bindings, the `---` comments of stdlib/ (member.hpp has their form), and the records of the
// instruction set. The command line, the prompt, docs/api and the LuaLS annotations read it here.
//
// Names are those of scripts: "wg.tile" (a function), "tile" (a type), "tile:offset" (a method), "tile.mn" (a
// field), "k:loop", "k:wgmma_fence" (an instruction; "k:ld_global_v4_b32" finds k:ld). All views live as long
// as the program, or as the Documentation that they are of.
#pragma once

#include <lua.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/lua/member.hpp"

namespace wgrun::lua {

/// An argument, an option, a result or a field.
struct Described {
    std::string name;      ///< of a result: empty. A key of a nested table: "numerics.block"
    std::string type;      ///< "integer|reg"
    std::string fallback;  ///< the default as Lua writes it; empty: none
    bool optional = false;
    std::string text;
};

/// "function", "type", ...
std::string_view to_string(MemberKind kind);

/// What is said of one name.
struct Entry {
    std::string name;    ///< as scripts write it: "tile:offset"
    std::string owner;   ///< "tile"; of a type: empty
    std::string member;  ///< "offset"; of a type: its name
    MemberKind kind = MemberKind::function;
    std::string text;  ///< all of the prose, with backquotes around code; paragraphs parted by empty lines
    std::vector<Described> params;
    std::vector<Described> options;  ///< of the option table, the parameter called `options`
    std::vector<Described> results;
    std::vector<Described> fields;  ///< of the table that is the result; of a type that is a Lua table
    std::string raises;
    std::string example;           ///< Lua
    std::vector<std::string> see;  ///< names
    // Of instructions:
    std::string ptx;                 ///< the text that the example, or the shortest call, becomes
    std::string section;             ///< of the PTX ISA
    std::string executed_by;         ///< "thread", "warp", "warpgroup", ...
    std::vector<std::string> forms;  ///< one line each

    /// The first sentence of the text.
    std::string summary() const;
    /// "tile:offset(row, column) -> integer"; options in braces: "wg.tile{ dtype =, mn =, k = } -> tile".
    std::string signature() const;
};

/// Everything that is said in one Lua state. Constant once made; not for several threads at once.
class Documentation {
  public:
    explicit Documentation(std::vector<Entry> entries);

    /// The entry called `name`; also by "k.loop", "kernel.run" for methods, "wgrun.tile" for a type, a
    /// member's bare name ("copy_tile") where one type alone has it. Null where there is none.
    const Entry* find(std::string_view name) const;
    /// Functions, methods, fields and instructions of a type or table ("tile", "k", "wg"), by name.
    std::vector<const Entry*> members(std::string_view owner) const;
    /// All types, by name.
    std::vector<const Entry*> types() const;
    /// Every entry: types first, then their members, by name.
    const std::vector<Entry>& all() const { return entries_; }
    /// Names near `name`, the nearest first; at most five.
    std::vector<std::string_view> suggestions(std::string_view name) const;

  private:
    std::vector<Entry> entries_;
};

/// The documentation of this Lua state, put together when it is first asked for. Lives as long as the state.
/// Raises where there is no memory.
const Documentation& documentation(lua_State* L);

/// What the documentation calls the type of the value at `index`: "tile", "k", "pipeline", "wg"; empty for
/// others. A string literal, or valid as long as the state.
std::string_view described_type(lua_State* L, int index);

/// The name that `documentation` knows the value at `index` by, where it is a function of wg or of one of the
/// types, or an object: "wg.tile", "k:loop", "tile". Empty for others. Valid as long as the state.
std::string_view described_name(lua_State* L, int index);

/// The entry as text for a terminal, at most `width` columns wide.
std::string to_text(const Entry& entry, int width = 100);

/// A file that is printed: its path in the folder, and its text.
struct Page {
    std::string path;
    std::string text;
};

/// docs/api.md and docs/api/: an index, a page a type, the instructions.
std::vector<Page> markdown_pages(const Documentation& docs);

/// meta/: annotations of the Lua language server.
std::vector<Page> annotation_pages(const Documentation& docs);

/// The entries of stdlib/: parsed once a process.
const std::vector<Entry>& stdlib_entries();

/// Reads a text of the form that member.hpp describes into `entry`.
void read_text(std::string_view text, Entry& entry);

}  // namespace wgrun::lua
