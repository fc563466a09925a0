// Parses the documentation of names (member.hpp), from tables and from the comments of stdlib/.
#include <algorithm>
#include <map>
#include <utility>

#include "bindings/lua/docs.hpp"
#include "bindings/lua/stdlib.hpp"

namespace wgrun::lua {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// Takes the line off the front of `rest`.
std::string_view take_line(std::string_view& rest) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

/// Takes a word off the front of `rest`: up to a space outside of brackets and quotes.
std::string_view take_word(std::string_view& rest) {
    rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    int depth = 0;
    bool quoted = false;
    std::size_t end = 0;
    for (; end < rest.size(); ++end) {
        const char c = rest[end];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '(' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '}' || c == ']') --depth;
        if (c == ' ' && depth <= 0) break;
    }
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    return word;
}

/// "integer = 0 the first value": type, default and text.
void read_type(std::string_view rest, Described& out) {
    std::string_view type = take_word(rest);
    if (type.ends_with('?')) {
        out.optional = true;
        type.remove_suffix(1);
    }
    out.type = type;
    if (rest.starts_with("= ")) {
        rest.remove_prefix(2);
        out.optional = true;
        out.fallback = take_word(rest);
    }
    out.text = trimmed(rest);
}

/// Appends a line of text to its paragraph: an empty line ends a paragraph, and an indented line stays a
/// line.
void append_line(std::string& text, std::string_view line) {
    if (trimmed(line).empty()) {
        if (!text.empty() && !text.ends_with("\n\n")) text += text.ends_with('\n') ? "\n" : "\n\n";
    } else if (line.starts_with("    ") || line.starts_with("- ")) {
        if (!text.empty() && !text.ends_with('\n')) text += '\n';
        text += line;
        text += '\n';
    } else {
        if (!text.empty() && !text.ends_with('\n')) text += ' ';
        text += trimmed(line);
    }
}

/// "kernel:run without grid, args".
Borrowed borrowed_from(std::string_view rest) {
    Borrowed out{std::string(take_word(rest)), {}};
    constexpr std::string_view without = "without ";
    if (rest.starts_with(without)) rest.remove_prefix(without.size());
    while (!rest.empty()) {
        std::string_view key = take_word(rest);
        if (key.ends_with(',')) key.remove_suffix(1);
        out.without.emplace_back(key);
    }
    return out;
}

/// "add sub: reg|number -> reg", "len: -> integer".
void read_operators(std::string_view rest, std::vector<Operator>& out) {
    const auto colon = rest.find(':'), arrow = rest.find("->");
    if (colon == std::string_view::npos || arrow == std::string_view::npos) return;  // the tests find it
    const std::string_view operand = trimmed(rest.substr(colon + 1, arrow - colon - 1));
    const std::string_view result = trimmed(rest.substr(arrow + 2));
    for (std::string_view names = rest.substr(0, colon); !names.empty();)
        out.push_back({std::string(take_word(names)), std::string(operand), std::string(result)});
}

/// Reads one tag with all of its lines.
void read_tag(std::string_view tag, std::string_view body, Entry& entry) {
    if (tag == "example") {
        std::size_t indent = std::string_view::npos;
        for (std::string_view rest = body; !rest.empty();) {
            const std::string_view line = take_line(rest);
            if (!trimmed(line).empty()) indent = std::min(indent, line.find_first_not_of(' '));
        }
        for (std::string_view rest = body; !rest.empty();) {
            const std::string_view line = take_line(rest);
            if (entry.example.empty() && trimmed(line).empty()) continue;
            entry.example += line.substr(std::min(indent, line.size()));
            entry.example += '\n';
        }
        entry.example.erase(entry.example.find_last_not_of(" \n") + 1);
        return;
    }
    std::string joined;
    for (std::string_view rest = body; !rest.empty();) append_line(joined, trimmed(take_line(rest)));
    std::string_view rest = trimmed(joined);
    Described one;
    if (tag == "raise") {
        entry.raises = rest;
    } else if (tag == "see") {
        entry.see.emplace_back(rest);
    } else if (tag == "options") {
        entry.borrowed.push_back(borrowed_from(rest));
    } else if (tag == "operator") {
        read_operators(rest, entry.operators);
    } else if (tag == "return") {
        read_type(rest, one);
        entry.results.push_back(std::move(one));
    } else {
        one.name = take_word(rest);
        read_type(rest, one);
        (tag == "param"    ? entry.params
         : tag == "option" ? entry.options
                           : entry.fields)
            .push_back(std::move(one));
    }
}

bool is_tag(std::string_view word) {
    constexpr std::string_view tags[] = {"param",    "option", "options", "return", "field",
                                         "operator", "raise",  "see",     "example"};
    return std::ranges::find(tags, word) != std::end(tags);
}

/// "  --- text" without its margin, or nothing for any other line.
std::optional<std::string_view> comment_of(std::string_view line) {
    line = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with("---") || line.starts_with("----")) return std::nullopt;
    line.remove_prefix(3);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
}

/// The definition in the line below a comment: "function k:loop(range, body)" or "local pipeline = {}".
struct Defined {
    std::string_view owner, member;
    bool method = false;
};

std::optional<Defined> definition_of(std::string_view line) {
    line = trimmed(line);
    constexpr std::string_view function = "function ";
    if (!line.starts_with(function)) return std::nullopt;
    line.remove_prefix(function.size());
    const std::string_view name = line.substr(0, line.find('('));
    const auto mark = name.find_last_of(".:");
    if (mark == std::string_view::npos) return std::nullopt;
    return Defined{name.substr(0, mark), name.substr(mark + 1), name[mark] == ':'};
}

/// `local pipeline = classes.new "pipeline"`: the variable and the class.
std::optional<std::pair<std::string_view, std::string_view>> class_of(std::string_view line) {
    line = trimmed(line);
    constexpr std::string_view local = "local ", made = " = classes.new \"";
    const auto at = line.find(made);
    if (!line.starts_with(local) || at == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(at + made.size());
    return std::pair{line.substr(local.size(), at - local.size()), name.substr(0, name.find('"'))};
}

/// `wg.mainloop = {}`: the table of the module.
std::optional<std::string_view> table_of(std::string_view line) {
    line = trimmed(line);
    constexpr std::string_view module = "wg.", made = " = {}";
    if (!line.starts_with(module) || !line.ends_with(made)) return std::nullopt;
    return line.substr(module.size(), line.size() - module.size() - made.size());
}

/// Options of an entry that another file describes, as an operation of the epilogue does its own.
struct Extension {
    std::string entry;
    std::vector<Described> options;
};

/// Puts the options behind those of the same table, or behind all.
void extend(Extension& extension, std::vector<Entry>& entries) {
    const auto entry = std::ranges::find(entries, extension.entry, &Entry::name);
    if (entry == entries.end()) return;  // the tests report it
    for (Described& option : extension.options) {
        const std::string table = option.name.substr(0, option.name.rfind('.') + 1);
        const auto same = [&](const Described& one) { return one.name.starts_with(table); };
        const auto last = std::ranges::find_if(entry->options.rbegin(), entry->options.rend(), same);
        entry->options.insert(last.base(), std::move(option));
    }
}

/// Adds the entries of one file's comments. A comment before `local x = classes.new "NAME"` describes that
/// type, and methods of x belong to it; one before `wg.x = {}` a table of the module; one that begins with
/// `@type NAME` describes a table that has no class, and one that begins with `@extends NAME` describes more
/// options of that function.
void read_file(std::string_view text, std::vector<Entry>& out, std::vector<Extension>& extensions) {
    std::map<std::string_view, std::string, std::less<>> owners{{"wg", "wg"}, {"k", "k"}};
    std::string comment;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (const auto found = comment_of(line)) {
            comment += *found;
            comment += '\n';
            continue;
        }
        const std::string said = std::exchange(comment, {});
        const auto made = class_of(line);
        if (made) owners[made->first] = made->second;
        if (said.empty()) continue;
        std::string_view words = said;
        constexpr std::string_view type_tag = "@type ", extends_tag = "@extends ";
        if (words.starts_with(extends_tag)) {
            Entry read;  // for its options
            const std::string entry(trimmed(take_line(words).substr(extends_tag.size())));
            read_text(words, read);
            extensions.push_back({entry, std::move(read.options)});
            continue;
        }
        if (made || words.starts_with(type_tag)) {
            Entry entry;
            entry.kind = MemberKind::type;
            entry.name = entry.member =
                made ? made->second : trimmed(take_line(words).substr(type_tag.size()));
            read_text(words, entry);
            out.push_back(std::move(entry));
            continue;
        }
        if (const auto table = table_of(line)) {
            Entry entry;
            entry.kind = MemberKind::field;
            entry.owner = "wg";
            entry.member = *table;
            entry.name = entry.owner + "." + entry.member;
            read_text(words, entry);
            out.push_back(std::move(entry));
            continue;
        }
        const auto defined = definition_of(line);
        if (!defined) continue;
        auto owner = owners.find(defined->owner);
        if (owner == owners.end()) {
            if (!defined->owner.starts_with("wg.")) continue;
            owner = owners.emplace(defined->owner, defined->owner).first;  // a table of the module
        }
        Entry entry;
        entry.kind = defined->method ? MemberKind::method : MemberKind::function;
        entry.owner = owner->second;
        entry.member = defined->member;
        entry.name = entry.owner + (defined->method ? ":" : ".") + entry.member;
        read_text(words, entry);
        out.push_back(std::move(entry));
    }
}

}  // namespace

void read_text(std::string_view text, Entry& entry) {
    std::string tag, body;
    const auto close = [&] {
        if (!tag.empty()) read_tag(tag, body, entry);
        tag.clear(), body.clear();
    };
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (line.starts_with('@')) {
            const std::string_view word =
                line.substr(1, line.find(' ') == std::string_view::npos ? line.size() : line.find(' ') - 1);
            if (is_tag(word)) {
                close();
                tag = word;
                body = line.substr(std::min(line.size(), word.size() + 2));
                body += '\n';
                continue;
            }
        }
        if (tag.empty()) {
            append_line(entry.text, line);
        } else {
            body += line;
            body += '\n';
        }
    }
    close();
    entry.text = trimmed(entry.text);
}

const std::vector<Entry>& stdlib_entries() {
    static const std::vector<Entry> entries = [] {
        std::vector<Entry> out;
        std::vector<Extension> extensions;
        for (const StdlibFile& file : stdlib_files()) read_file(file.text, out, extensions);
        for (Extension& extension : extensions) extend(extension, out);
        return out;
    }();
    return entries;
}

}  // namespace wgrun::lua
