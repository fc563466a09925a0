#include "bindings/repl/locals.hpp"

#include <algorithm>
#include <array>

#include "bindings/repl/tokens.hpp"

namespace wgrun::repl {
namespace {

using Kind = Token::Kind;

template <std::size_t n>
bool one_of(std::string_view word, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

class Rewriter {
  public:
    explicit Rewriter(std::string_view chunk) : chunk_(chunk) {
        for (const Token& token : tokens_of(chunk))
            if (token.kind != Kind::comment) tokens_.push_back(token);
    }

    std::string run() {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (depth_ == 0 && begins_statement(i)) keep(tokens_[i].begin);
            if (depth_ == 0 && word(i) == "local") i = declare(i + 1);
            if (i < tokens_.size()) follow(i);
        }
        if (!tokens_.empty()) keep(tokens_.back().end);
        out_ += chunk_.substr(copied_);
        return std::move(out_);
    }

  private:
    std::string_view word(std::size_t i) const {
        return i < tokens_.size() ? text_of(chunk_, tokens_[i]) : std::string_view();
    }
    bool is_name(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == Kind::name; }

    // Can an expression end with this token?
    bool ends_operand(std::size_t i) const {
        static constexpr std::array<std::string_view, 8> words{"end", "nil", "true", "false",
                                                               ")",   "]",   "}",    "..."};
        return tokens_[i].kind == Kind::name || tokens_[i].kind == Kind::number ||
               tokens_[i].kind == Kind::string || one_of(word(i), words);
    }

    // At the top level: some tokens always begin a statement. A name does after the end of an expression,
    // since no expression continues with a name; a parenthesis there is a call, as in Lua. Labels count,
    // since a goto may jump past locals to a label at the end only if no statement follows it.
    bool begins_statement(std::size_t i) const {
        static constexpr std::array<std::string_view, 9> words{"local",  "if",   "for",   "while", "repeat",
                                                               "return", "goto", "break", "::"};
        if (i == 0 || brackets_ > 0) return false;
        if (one_of(word(i), words) || word(i - 1) == ";") return true;
        if (word(i) == "do") return !loop_head_;
        if (word(i) == "function") return is_name(i + 1);
        return is_name(i) && word(i - 1) != "goto" && ends_operand(i - 1);
    }

    // The names of the local statement whose first token after `local` is at `i`, and the last token read:
    // `function`, which opens a block, or the last of the names.
    std::size_t declare(std::size_t i) {
        if (word(i) == "function") {
            if (is_name(i + 1)) fresh_.push_back({std::string(word(i + 1)), Local::Kind::plain});
            return i;
        }
        for (; is_name(i); i += 2) {
            Local local{std::string(word(i)), Local::Kind::plain};
            if (word(i + 1) == "<") {
                if (word(i + 2) == "const") local.kind = Local::Kind::constant;
                if (word(i + 2) == "close") local.kind = Local::Kind::closed;
                i += 3;
            }
            fresh_.push_back(std::move(local));
            if (word(i + 1) != ",") return i;
        }
        return i;
    }

    // Blocks and brackets that the token opens or closes.
    void follow(std::size_t i) {
        static constexpr std::array<std::string_view, 4> openers{"function", "do", "repeat", "if"};
        const std::string_view token = word(i);
        if (tokens_[i].kind == Kind::string) return;
        if (token == "(" || token == "[" || token == "{") ++brackets_;
        if (token == ")" || token == "]" || token == "}") --brackets_;
        if (depth_ == 0 && (token == "while" || token == "for")) loop_head_ = true;
        if (one_of(token, openers)) {
            if (token == "do") loop_head_ = loop_head_ && depth_ > 0;
            ++depth_;
        }
        if (token == "end" || token == "until") --depth_;
    }

    // Hands over the locals declared since the last call, at `place` of the chunk.
    void keep(std::size_t place) {
        if (fresh_.empty()) return;
        out_ += chunk_.substr(copied_, place - copied_);
        copied_ = place;
        std::string calls;
        for (auto local = fresh_.begin(); local != fresh_.end(); ++local) {
            const bool hidden = std::any_of(local + 1, fresh_.end(),
                                            [&](const Local& later) { return later.name == local->name; });
            if (hidden || local->kind == Local::Kind::closed) continue;
            calls += ';';
            calls += keep_name;
            calls += "(\"" + local->name + "\",function()return " + local->name + " end";
            calls += local->kind == Local::Kind::constant ? ",true)" : ")";
        }
        if (!calls.empty()) out_ += calls + "; ";
        fresh_.clear();
    }

    std::string_view chunk_;
    std::vector<Token> tokens_;
    std::vector<Local> fresh_;
    std::string out_;
    std::size_t copied_ = 0;
    int depth_ = 0;
    int brackets_ = 0;
    bool loop_head_ = false;  ///< between while or for and its do, at the top level
};

}  // namespace

std::string with_kept_locals(std::string_view chunk) { return Rewriter(chunk).run(); }

std::vector<std::string> names_in(std::string_view chunk) {
    std::vector<std::string> names;
    for (const Token& token : tokens_of(chunk))
        if (token.kind == Kind::name) names.emplace_back(text_of(chunk, token));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace wgrun::repl
