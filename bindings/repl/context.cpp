#include "bindings/repl/context.hpp"

#include <algorithm>

#include "bindings/repl/tokens.hpp"

namespace wgrun::repl {
namespace {

using Kind = Token::Kind;

class Words {
  public:
    explicit Words(std::string_view text) : text_(text), tokens_(tokens_of(text)) {
        in_comment_ = !tokens_.empty() && tokens_.back().kind == Kind::comment &&
                      (tokens_.back().end == text.size() || !tokens_.back().closed);
        std::erase_if(tokens_, [](const Token& token) { return token.kind == Kind::comment; });
    }

    /// The text ends inside one.
    bool in_comment() const { return in_comment_; }
    std::size_t size() const { return tokens_.size(); }
    std::string_view operator[](std::size_t i) const {
        return i < tokens_.size() ? text_of(text_, tokens_[i]) : std::string_view();
    }
    bool is(std::size_t i, Kind kind) const { return i < tokens_.size() && tokens_[i].kind == kind; }
    const Token* last() const { return tokens_.empty() ? nullptr : &tokens_.back(); }
    void drop_last() { tokens_.pop_back(); }

    bool opens(std::size_t i) const {
        return is(i, Kind::symbol) && std::string_view("([{").find((*this)[i]) != std::string_view::npos;
    }
    bool closes(std::size_t i) const {
        return is(i, Kind::symbol) && std::string_view(")]}").find((*this)[i]) != std::string_view::npos;
    }

    // The bracket that the token at `end` closes.
    std::optional<std::size_t> opening(std::size_t end) const {
        int depth = 0;
        for (std::size_t i = end + 1; i-- > 0;) {
            if (closes(i)) ++depth;
            if (opens(i) && --depth == 0) return i;
        }
        return std::nullopt;
    }

    // The innermost bracket that is open before the token at `end`.
    std::optional<std::size_t> around(std::size_t end) const {
        int depth = 0;
        for (std::size_t i = end; i-- > 0;) {
            if (closes(i)) ++depth;
            if (opens(i) && depth-- == 0) return i;
        }
        return std::nullopt;
    }

    // The path whose last token is before `end`.
    std::optional<Path> path_before(std::size_t end) const {
        if (end == 0) return std::nullopt;
        if (is(end - 1, Kind::string)) return called(end - 1);
        if (closes(end - 1)) {
            const auto open = opening(end - 1);
            return open && (*this)[*open] != "[" ? called(*open) : std::nullopt;
        }
        if (!is(end - 1, Kind::name)) return std::nullopt;
        Path path;
        std::size_t at = end - 1;
        if (at > 0 && (*this)[at - 1] == ":") {
            path.method = (*this)[at];
            if (at < 2 || !is(at - 2, Kind::name)) return std::nullopt;
            at -= 2;
        }
        for (;; at -= 2) {
            path.names.insert(path.names.begin(), std::string((*this)[at]));
            if (at == 0 || (*this)[at - 1] != ".") break;
            if (at < 2 || !is(at - 2, Kind::name)) return std::nullopt;
        }
        if (at > 0 && (*this)[at - 1] == ":") return std::nullopt;
        return path;
    }

    // The path of the function whose call the bracket or string at `open` begins.
    std::optional<Path> called(std::size_t open) const {
        auto path = path_before(open);
        if (!path || path->called) return std::nullopt;
        path->called = true;
        return path;
    }

  private:
    std::string_view text_;
    std::vector<Token> tokens_;
    bool in_comment_ = false;
};

// The call in whose braces the token at `end` would stand as a key: context.path, keys and given.
bool read_options(const Words& words, std::size_t end, Context& context) {
    const auto brace = words.around(end);
    if (!brace || words[*brace] != "{") return false;
    const std::string_view before = words[end - 1];
    if (before != "{" && before != "," && before != ";") return false;
    int depth = 0;
    for (std::size_t i = *brace + 1; i + 1 < end; ++i) {
        depth += words.opens(i) ? 1 : words.closes(i) ? -1 : 0;
        if (depth == 0 && words.is(i, Kind::name) && words[i + 1] == "=")
            context.given.emplace_back(words[i]);
    }
    std::size_t open = *brace;
    // { key = { : keys of a nested table.
    while (open >= 2 && words[open - 1] == "=" && words.is(open - 2, Kind::name)) {
        const auto outer = words.around(open - 2);
        if (!outer || words[*outer] != "{") return false;
        context.keys.insert(0, std::string(words[open - 2]) + '.');
        open = *outer;
    }
    // f(first, { : the function before the parenthesis.
    if (open > 0 && (words[open - 1] == "(" || words[open - 1] == ",")) {
        const auto parenthesis = words.around(open);
        if (!parenthesis || words[*parenthesis] != "(") return false;
        open = *parenthesis;
    }
    const auto path = words.called(open);
    if (path) context.path = *path;
    return path.has_value();
}

bool begins_command(std::string_view text) {
    return text.starts_with('.') && text.find_first_of(" \t\n") == std::string_view::npos &&
           (text.size() == 1 || !(text[1] >= '0' && text[1] <= '9'));
}

}  // namespace

Context context_of(std::string_view text) {
    Context context;
    if (begins_command(text)) {
        context.kind = Context::Kind::command;
        context.prefix = text;
        return context;
    }
    // .time CODE and .ptx KERNEL continue as Lua.
    if (text.starts_with('.')) text.remove_prefix(std::min(text.find_first_of(" \t\n"), text.size()));
    Words words(text);
    if (words.in_comment()) return context;
    if (const Token* last = words.last()) {
        const bool open = !last->closed || last->kind == Kind::number;
        if (last->end == text.size() && open) return context;
        if (last->end == text.size() && (last->kind == Kind::name || last->kind == Kind::keyword)) {
            context.prefix = text_of(text, *last);
            words.drop_last();
        }
    }
    const std::size_t count = words.size();
    const std::string_view last = count == 0 ? std::string_view() : words[count - 1];
    if (last == "." || last == ":") {
        const auto path = words.path_before(count - 1);
        if (!path || (!path->method.empty() && !path->called)) return context;
        context.kind = Context::Kind::member;
        context.path = *path;
        context.colon = last == ":";
    } else if (last != "function" && last != "goto" && last != "local" && last != "for" && last != "::") {
        context.kind =
            count > 0 && read_options(words, count, context) ? Context::Kind::option : Context::Kind::name;
    }
    return context;
}

Declared declared(std::string_view text, std::string_view name) {
    const Words words(text);
    Declared result;
    for (std::size_t i = words.size(); i-- > 0;) {
        if (words[i] != name || !words.is(i, Kind::name)) continue;
        if (words[i + 1] == "=" && (i == 0 || (words[i - 1] != "." && !words.opens(i - 1)))) {
            std::size_t end = i + 2;
            while (words.is(end, Kind::name) && (words[end + 1] == "." || words[end + 1] == ":")) end += 2;
            if (!words.is(end, Kind::name)) return result;
            ++end;
            result.path = words.path_before(end);
            const bool call = words[end] == "(" || words[end] == "{" || words.is(end, Kind::string);
            if (result.path) result.path->called = call;
            return result;
        }
        if (i >= 2 && words[i - 1] == "(" && words[i - 2] == "function") {
            for (std::size_t j = 0; j + 2 < i; ++j) result.builder = result.builder || words[j] == "kernel";
            return result;
        }
    }
    return result;
}

std::vector<std::string> names_before(std::string_view text) {
    const Words words(text);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool typing = i + 1 == words.size() && words.last()->end == text.size();
        const bool field = i > 0 && (words[i - 1] == "." || words[i - 1] == ":");
        if (words.is(i, Kind::name) && !typing && !field) names.emplace_back(words[i]);
    }
    return names;
}

}  // namespace wgrun::repl
