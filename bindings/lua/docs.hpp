// The documentation of everything that scripts can use, collected from the definitions: the Member tables of
// the bindings, the `---` comments of stdlib/ (member.hpp describes their form), and the records of the
// instruction set. The command line, the prompt, docs/api and the LuaLS annotations are made from it.
//
// Names are those of scripts: "wg.tile" (a function), "tile" (a type), "tile:offset" (a method), "tile.mn" (a
// field), "k:loop", "k:wgmma_fence" (an instruction; "k:ld_global_v4_b32" finds k:ld). All views live as long
// as the program, or as their Documentation.
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
    std::string name;      ///< empty for a result; of a key of a nested table: "numerics.block"
    std::string type;      ///< "integer|reg"
    std::string fallback;  ///< the default as Lua writes it; empty: none
    bool optional = false;
    std::string text;
    std::string meaning = {};  ///< of an instruction's operand: the text without the types
};

/// Options of another entry that a function takes as well (@options).
struct Borrowed {
    std::string entry;                 ///< "kernel:run"
    std::vector<std::string> without;  ///< keys that it does not take
};

/// The result of an operator of a type (@operator).
struct Operator {
    std::string name;     ///< as LuaLS calls it: "add", "unm", "call", "len", "index"
    std::string operand;  ///< its type; empty: none
    std::string result;
};

/// "function", "type", ...
std::string_view to_string(MemberKind kind);

/// The documentation of one name.
struct Entry {
    std::string name;    ///< as scripts write it: "tile:offset"
    std::string owner;   ///< "tile"; of a type: empty
    std::string member;  ///< "offset"; of a type: its name
    MemberKind kind = MemberKind::function;
    std::string text;  ///< all of the prose, with backquotes around code; paragraphs separated by empty lines
    std::vector<Described> params;
    std::vector<Described> options;  ///< of the option table, the parameter called `options`
    std::vector<Borrowed> borrowed;  ///< not yet in `options`; empty in a Documentation
    std::vector<Described> results;
    std::vector<Described> fields;  ///< of the table that is the result, or of a type that is a Lua table
    std::vector<Operator> operators;
    std::string raises;
    std::string example;           ///< Lua
    std::vector<std::string> see;  ///< names
    // Of instructions:
    std::string ptx;                 ///< the PTX text of the example, or of the shortest call
    std::string section;             ///< of the PTX ISA
    std::string executed_by;         ///< "thread", "warp", "warpgroup", ...
    std::vector<std::string> forms;  ///< one line each

    /// The first sentence of the text.
    std::string summary() const;
    /// "tile:offset(row, column) -> integer"; options in braces: "wg.tile{ dtype =, mn =, k = } -> tile".
    std::string signature() const;
};

/// The documentation of one Lua state. Constant once made; not thread-safe.
class Documentation {
  public:
    explicit Documentation(std::vector<Entry> entries);

    /// The entry called `name`. Methods are found as "k.loop" and "kernel.run" as well, types as
    /// "wgrun.tile", and members by their bare name ("copy_tile") if only one type has it. Null if there is
    /// none.
    const Entry* find(std::string_view name) const;
    /// Functions, methods, fields and instructions of a type or table ("tile", "k", "wg"), by name.
    std::vector<const Entry*> members(std::string_view owner) const;
    /// Functions of the tables of the module ("wg.sparse"), by table and name.
    std::vector<const Entry*> nested() const;
    /// All types, by name.
    std::vector<const Entry*> types() const;
    /// Every entry: types first, then their members, by name.
    const std::vector<Entry>& all() const { return entries_; }
    /// Names near `name`, the nearest first; at most five.
    std::vector<std::string> suggestions(std::string_view name) const;

  private:
    std::vector<Entry> entries_;
};

/// The documentation of this Lua state, collected on first use. Lives as long as the state. Raises if there
/// is not enough memory.
const Documentation& documentation(lua_State* L);

/// The name of the type of the value at `index` in the documentation: "tile", "k", "pipeline", "wg"; empty
/// for other values. A string literal, or valid as long as the state.
std::string_view described_type(lua_State* L, int index);

/// The name in the documentation of the value at `index`, if it is a function of wg or of one of the types,
/// or an object: "wg.tile", "k:loop", "tile". Empty for other values. Valid as long as the state.
std::string_view described_name(lua_State* L, int index);

/// The entry as text for a terminal, at most `width` columns wide.
std::string to_text(const Entry& entry, int width = 100);

/// How help is asked for.
struct HelpWords {
    std::string_view list;  ///< "wgrun help"
    std::string_view one;   ///< "wgrun help NAME"
};

/// What help shows of `name`: the entry and a line for each of its members; of no name the functions of wg
/// and the types. Throws ArgumentError, with suggestions, where nothing is called so. Lines of lists are cut
/// at `width`; 0: not at all.
std::string help_text(const Documentation& docs, std::string_view name, int width, const HelpWords& words);

/// A generated file: its path in the folder, and its text.
struct Page {
    std::string path;
    std::string text;
};

/// docs/api.md and docs/api/: an index, a page a type, and a table of instructions for each of their
/// families.
std::vector<Page> markdown_pages(const Documentation& docs);

/// Annotations for the Lua language server, which the build writes into its folder meta/.
std::vector<Page> annotation_pages(const Documentation& docs);

/// The entries of stdlib/: parsed once a process.
const std::vector<Entry>& stdlib_entries();

/// Adds to `options` those of an option table that is described in stdlib/: of "k:epilogue", or with
/// `inner` = "source" of the table in its option `source`. Raises if there is not enough memory.
void option_schema(lua_State* L, std::string_view entry, std::string_view inner,
                   std::vector<Described>& options);

/// Reads a text of the form that member.hpp describes into `entry`.
void read_text(std::string_view text, Entry& entry);

}  // namespace wgrun::lua
