#include "bindings/lua/docs.hpp"

#include <algorithm>
#include <utility>

#include "bindings/lua/doc_instruction.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/nearest.hpp"

namespace wgrun::lua {
namespace {

/// The arguments of remember_members.
struct Remembered {
    const char* owner;
    MemberKind kind;
    const Member* members;
    const char* text;
};

/// "wgrun.builder" is what messages call k.
std::string_view owner_named(std::string_view name) {
    if (name == class_name<BuilderBox>) return "k";
    constexpr std::string_view prefix = "wgrun.";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

void add_options(std::string_view prefix, std::span<const Option> options, std::vector<Described>& out) {
    for (const Option& option : options) {
        Entry read;  // for its one option
        read_text("@option " + std::string(prefix) + std::string(option.name) + " " +
                      std::string(option.type.empty() ? "any" : option.type) + " " + std::string(option.text),
                  read);
        out.push_back(std::move(read.options.front()));
        add_options(std::string(prefix) + std::string(option.name) + ".", option.keys, out);
    }
}

void add_remembered(const Remembered& told, std::vector<Entry>& out) {
    const std::string owner(owner_named(told.owner));
    if (told.text != nullptr) {
        Entry entry;
        entry.kind = MemberKind::type;
        entry.name = entry.member = owner;
        read_text(told.text, entry);
        out.push_back(std::move(entry));
    }
    for (const Member* member = told.members; member != nullptr && member->name != nullptr; ++member) {
        Entry entry;
        entry.kind = told.kind;
        entry.owner = owner;
        entry.member = member->name;
        entry.name = owner + (told.kind == MemberKind::method ? ":" : ".") + member->name;
        if (member->text != nullptr) read_text(member->text, entry);
        add_options("", member->options, entry.options);
        out.push_back(std::move(entry));
    }
}

/// Puts the options that `entry` borrows behind its own.
void add_borrowed(const std::vector<Entry>& all, Entry& entry) {
    for (const Borrowed& borrowed : std::exchange(entry.borrowed, {})) {
        const auto from = std::ranges::find(all, borrowed.entry, &Entry::name);
        if (from == all.end()) continue;  // the tests report it
        Entry lender = *from;
        add_borrowed(all, lender);
        for (Described& option : lender.options) {
            const std::string_view key = std::string_view(option.name).substr(0, option.name.find('.'));
            if (std::ranges::find(borrowed.without, key) == borrowed.without.end())
                entry.options.push_back(std::move(option));
        }
    }
}

std::vector<Entry> collect(const std::vector<Remembered>& remembered) {
    std::vector<Entry> all;
    for (const Remembered& told : remembered) add_remembered(told, all);
    all.insert(all.end(), stdlib_entries().begin(), stdlib_entries().end());
    for (Entry& entry : all) add_borrowed(all, entry);
    const std::vector<Entry>& instructions = instruction_entries();
    all.insert(all.end(), instructions.begin(), instructions.end());
    return all;
}

std::string_view first_sentence(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool end = text[at] == '\n' && text.substr(at).starts_with("\n\n");
        const bool stop =
            (text[at] == '.' || text[at] == ':') &&
            (at + 1 == text.size() || text[at + 1] == '\n' || (text[at + 1] == ' ' && text[at] == '.'));
        // Not after "e.g." or a section's number.
        if (end) return text.substr(0, at);
        if (stop && !text.substr(0, at + 1).ends_with("e.g."))
            return text.substr(0, at + (text[at] == '.' ? 1 : 0));
    }
    return text;
}

std::string option_list(const std::vector<Described>& options) {
    std::string list;
    for (const Described& option : options)
        if (option.name.find('.') == std::string::npos)
            list += (list.empty() ? " " : ", ") + option.name + " =";
    return "{" + list + " }";
}

/// "k.loop" and "kernel.run" mean the methods, "wgrun.tile" the type.
bool same_name(const Entry& entry, std::string_view name) {
    if (entry.name == name) return true;
    if (name.size() != entry.name.size() || entry.owner.empty()) return false;
    return name.starts_with(entry.owner) && name.ends_with(entry.member) &&
           (name[entry.owner.size()] == '.' || name[entry.owner.size()] == ':');
}

/// Pushes the module table, or nil.
void push_module(lua_State* L) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushliteral(L, "wgrun");
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

/// The string key under which the table at `table` has the value at `value`; leaves the stack as it was.
const char* key_of(lua_State* L, int table, int value) {
    table = lua_absindex(L, table), value = lua_absindex(L, value);
    if (lua_type(L, table) != LUA_TTABLE) return nullptr;
    const char* key = nullptr;
    for (lua_pushnil(L); key == nullptr && lua_next(L, table) != 0; lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, value) != 0) key = lua_tostring(L, -2);
    if (key != nullptr) lua_pop(L, 1);
    return key;
}

}  // namespace

void remember_members(lua_State* L, const char* owner, MemberKind kind, const Member* members,
                      const char* text) {
    auto& remembered = kept<std::vector<Remembered>>(L);
    guarded(L, [&] {
        // luaopen_wgrun may run more than once in a state.
        const auto same = [&](const Remembered& r) {
            return r.owner == owner && r.members == members && r.kind == kind;
        };
        if (std::ranges::none_of(remembered, same)) remembered.push_back({owner, kind, members, text});
    });
}

std::string_view to_string(MemberKind kind) {
    constexpr std::string_view names[] = {"type", "function", "method", "field", "instruction"};
    return names[static_cast<std::size_t>(kind)];
}

std::string Entry::summary() const { return std::string(first_sentence(text)); }

std::string Entry::signature() const {
    std::string out = name;
    if (kind == MemberKind::type) return out;
    if (kind != MemberKind::field) {
        std::string list;
        for (const Described& param : params) {
            const bool keys = param.name == "options" && !options.empty();
            list += list.empty() ? "" : ", ";
            list += keys ? option_list(options) : param.name;
            if (param.optional) list += '?';
        }
        // A lone option table is written without parentheses.
        out += params.size() == 1 && list.starts_with('{') && list.ends_with('}') ? list : "(" + list + ")";
    }
    std::string types;
    for (const Described& result : results)
        types += (types.empty() ? "" : ", ") + result.type + (result.optional ? "?" : "");
    if (!types.empty()) out += (kind == MemberKind::field ? ": " : " -> ") + types;
    if (kind == MemberKind::field && !results.empty() && !results[0].text.empty())
        out += "  -- " + results[0].text;
    return out;
}

Documentation::Documentation(std::vector<Entry> entries) : entries_(std::move(entries)) {
    // The first entry of a name is kept: a method of the bindings comes before the instruction of that name.
    std::ranges::stable_sort(entries_, {}, [](const Entry& e) {
        return std::pair(e.kind != MemberKind::type, std::string_view(e.name));
    });
    // Not std::ranges::unique: clang 14 refuses libstdc++ 12's.
    entries_.erase(std::unique(entries_.begin(), entries_.end(),
                               [](const Entry& a, const Entry& b) { return a.name == b.name; }),
                   entries_.end());
}

const Entry* Documentation::find(std::string_view name) const {
    constexpr std::string_view prefix = "wgrun.";
    if (name.starts_with(prefix)) name = owner_named(name);
    for (const Entry& entry : entries_)
        if (entry.name == name) return &entry;
    std::string of_builder;
    constexpr std::string_view builder = "builder";
    if (name.starts_with(builder)) name = of_builder = "k" + std::string(name.substr(builder.size()));
    const Entry* bare = nullptr;
    bool unique = true;
    for (const Entry& entry : entries_) {
        if (same_name(entry, name)) return &entry;
        if (entry.member != name) continue;
        unique = bare == nullptr;
        bare = &entry;
    }
    if (bare != nullptr && unique) return bare;
    // An instruction with its qualifiers, or in the spelling of PTX.
    std::string method(name.starts_with("k:") || name.starts_with("k.") ? name.substr(2) : name);
    std::ranges::replace(method, '.', '_');
    const isa::Spelling spelling = isa::parse_method(method);
    if (spelling.op == nullptr) return nullptr;
    const std::string full = instruction_name(*spelling.op);
    const auto found = std::ranges::find(entries_, full, &Entry::name);
    return found == entries_.end() ? nullptr : &*found;
}

std::vector<const Entry*> Documentation::members(std::string_view owner) const {
    std::vector<const Entry*> out;
    for (const Entry& entry : entries_)
        if (entry.kind != MemberKind::type && entry.owner == owner) out.push_back(&entry);
    return out;
}

std::vector<const Entry*> Documentation::nested() const {
    std::vector<const Entry*> out;
    for (const Entry& entry : entries_)
        if (entry.owner.starts_with("wg.")) out.push_back(&entry);
    return out;
}

std::vector<const Entry*> Documentation::types() const {
    std::vector<const Entry*> out;
    for (const Entry& entry : entries_)
        if (entry.kind == MemberKind::type) out.push_back(&entry);
    return out;
}

std::vector<std::string> Documentation::suggestions(std::string_view name) const {
    std::vector<std::string> out;
    const auto add = [&](const Entry& entry) {
        if (out.size() < 5 && std::ranges::find(out, entry.name) == out.end()) out.push_back(entry.name);
    };
    if (name.empty()) return out;
    // Members of other owners, then similar names, then names that contain the word.
    const auto mark = name.find_last_of(".:");
    const std::string_view member = mark == std::string_view::npos ? name : name.substr(mark + 1);
    for (const Entry& entry : entries_)
        if (entry.member == member) add(entry);
    std::vector<std::string_view> names;
    for (const Entry& entry : entries_)
        names.push_back(mark == std::string_view::npos ? entry.member : entry.name);
    const std::string near = nearest(name, names);  // ": did you mean `x`?" or the like
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!near.empty() && near.find("`" + std::string(names[i]) + "`") != std::string::npos)
            add(entries_[i]);
    if (member.size() >= 3)
        for (const Entry& entry : entries_)
            if (entry.name.find(member) != std::string::npos) add(entry);
    // A form of an instruction, of which one part is misspelt.
    if (out.empty())
        if (const std::string method = isa::nearest_method(member); !method.empty())
            out.push_back("k:" + method);
    return out;
}

const Documentation& documentation(lua_State* L) {
    const auto& remembered = kept<std::vector<Remembered>>(L);
    auto& made = kept<std::optional<Documentation>>(L);
    if (!made) guarded(L, [&] { made.emplace(collect(remembered)); });
    return *made;
}

void option_schema(lua_State* L, std::string_view entry, std::string_view inner,
                   std::vector<Described>& options) {
    const auto& remembered = kept<std::vector<Remembered>>(L);
    guarded(L, [&] {
        const std::vector<Entry>& own = stdlib_entries();
        const auto found = std::ranges::find(own, entry, &Entry::name);
        if (found == own.end()) return;
        Entry one = *found;
        if (!one.borrowed.empty()) {
            std::vector<Entry> lenders(own);
            for (const Remembered& told : remembered) add_remembered(told, lenders);
            add_borrowed(lenders, one);
        }
        for (Described& option : one.options) {
            const auto mark = option.name.rfind('.');
            const bool nested = mark != std::string::npos;
            if (nested ? option.name.compare(0, mark, inner) != 0 : !inner.empty()) continue;
            if (nested) option.name.erase(0, mark + 1);
            options.push_back(std::move(option));
        }
    });
}

std::string_view described_type(lua_State* L, int index) {
    luaL_checkstack(L, 4, nullptr);
    index = lua_absindex(L, index);
    const int top = lua_gettop(L);
    std::string_view type;
    if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) {
        const std::string_view name = lua_tostring(L, -1);
        if (name.starts_with("wgrun.")) type = owner_named(name);
    } else if (lua_type(L, index) == LUA_TTABLE) {
        lua_settop(L, top);
        push_module(L);
        if (lua_rawequal(L, -1, index) != 0)
            type = "wg";
        else if (const char* key = key_of(L, -1, index))
            for (const Entry* entry : documentation(L).nested())
                if (std::string_view(entry->owner).substr(3) == key) type = entry->owner;
    }
    lua_settop(L, top);
    return type;
}

std::string_view described_name(lua_State* L, int index) {
    luaL_checkstack(L, 6, nullptr);
    index = lua_absindex(L, index);
    if (lua_type(L, index) != LUA_TFUNCTION) return described_type(L, index);
    const Documentation& all = documentation(L);
    const auto known = [&](std::string_view owner, const char* member) -> std::string_view {
        if (member == nullptr) return {};
        for (const Entry& entry : all.all())
            if (entry.owner == owner && entry.member == member) return entry.name;
        return {};
    };
    if (lua_iscfunction(L, index) != 0) {
        if (const isa::Instruction* op = instruction_of(L, index)) {
            std::string_view name;
            guarded(L, [&] {
                const Entry* entry = all.find(instruction_name(*op));
                if (entry != nullptr) name = entry->name;
            });
            return name;
        }
        for (const Remembered& told : kept<std::vector<Remembered>>(L))
            for (const Member* member = told.members; member != nullptr && member->name != nullptr; ++member)
                if (is_member(L, index, *member)) return known(owner_named(told.owner), member->name);
    }
    const int top = lua_gettop(L);
    push_module(L);
    std::string_view name = known("wg", key_of(L, -1, index));
    for (const Entry* entry : all.nested()) {
        if (!name.empty()) break;
        if (lua_getfield(L, top + 1, entry->owner.c_str() + 3) == LUA_TTABLE)
            name = known(entry->owner, key_of(L, -1, index));
        lua_pop(L, 1);
    }
    if (name.empty()) {
        push_methods(L, &class_key<BuilderBox>, class_name<BuilderBox>);
        name = known("k", key_of(L, -1, index));
    }
    if (name.empty() && push_lua_classes(L)) {
        const int classes = lua_gettop(L);
        for (lua_pushnil(L); name.empty() && lua_next(L, classes) != 0; lua_pop(L, 1))
            name = known(lua_tostring(L, -2), key_of(L, -1, index));
    }
    lua_settop(L, top);
    return name;
}

}  // namespace wgrun::lua
