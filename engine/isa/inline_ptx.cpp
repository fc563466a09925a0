#include "wgrun/inline_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <map>
#include <memory>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/machine.hpp"

namespace wgrun::isa {
namespace {

constexpr std::size_t longest = 1 << 20;  // bytes of a text

using TypeOf = Type (*)(const Form&);

template <Type... types>
TypeOf type_function(Type type) {
    TypeOf found = nullptr;
    ((type == types ? void(found = fixed<types>) : void()), ...);
    if (found == nullptr) throw ArgumentError(fmt::format("asm: no operand is of type {}", to_string(type)));
    return found;
}

TypeOf constant_type(Type type) {
    using enum Type;
    return type_function<pred, b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64>(type);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the text without comments; with `strict`, one that stays within its place in any other text.
std::string without_comments(std::string_view text, bool strict) {
    const auto refuse = [&](const char* what) {
        if (strict) throw ArgumentError(fmt::format("asm: {}", what));
    };
    std::string out;
    int open = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r') || c == '\x7f')
            refuse("the text has a control character");
        std::size_t end = i + 1;
        if (c == '"') {
            end = text.find('"', i + 1);
            if (end >= text.find('\n', i)) refuse("the text has a string without its end");
            if (end != std::string_view::npos && text[end - 1] == '\\')  // assemblers differ in what that is
                refuse("the text has a string that ends with a backslash");
            end = end == std::string_view::npos ? text.size() : end + 1;
        } else if (text.substr(i, 2) == "//") {
            i = std::min(text.find('\n', i), text.size());
            continue;
        } else if (text.substr(i, 2) == "/*") {
            end = text.find("*/", i + 2);
            if (end == std::string_view::npos) refuse("the text has a comment without its end");
            i = end == std::string_view::npos ? text.size() : end + 2;
            out += ' ';
            continue;
        }
        open += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (open < 0) refuse("the text has a } without its {");
        out.append(text.substr(i, end - i));
        i = end;
    }
    if (open > 0) refuse("the text has a { without its }");
    return out;
}

/// Returns the text as a template of operands, with its braces doubled.
std::string as_template(const InlinePtx& request) {
    std::string out;
    std::vector<bool> used(request.places.size());
    const std::string text = without_comments(request.text, true);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '{' || c == '}') out += c;
        if (c != '%') {
            out += c;
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && is_word(text[end])) ++end;
        const std::string_view name = std::string_view(text).substr(i + 1, end - i - 1);
        const auto place = std::ranges::find(request.places, name, &InlinePtx::Place::name);
        if (place != request.places.end()) {
            used[static_cast<std::size_t>(place - request.places.begin())] = true;
            out.append("{%").append(name).append("}");
            i = end - 1;
        } else if (is_special(name)) {
            out += c;
        } else {
            std::vector<std::string_view> names;
            for (const InlinePtx::Place& other : request.places) names.push_back(other.name);
            throw ArgumentError(
                fmt::format("asm: %{} is no operand{}", name, nearest(name, names)),
                "give it in out, inputs or inout, or declare it in the text: { .reg .b32 name; ... }");
        }
    }
    for (std::size_t i = 0; i < used.size(); ++i)
        if (!used[i])
            throw ArgumentError(
                fmt::format("asm: the text does not name operand %{}", request.places[i].name));
    return out;
}

/// Removes spaces around a statement and its last semicolon.
std::string_view trimmed(std::string_view text) {
    const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && space(text.front())) text.remove_prefix(1);
    while (!text.empty() && (space(text.back()) || text.back() == ';')) text.remove_suffix(1);
    return text;
}

}  // namespace

/// Owns the strings that its instruction's views refer to.
struct InlineRecord {
    InlinePtx made_of;
    std::string text;
    Instruction op{};
    mutable std::atomic<std::size_t> uses{0};
};

void InstructionRef::retain() const noexcept {
    if (op_ != nullptr && op_->of_text != nullptr) op_->of_text->uses.fetch_add(1, std::memory_order_relaxed);
}

InstructionRef::~InstructionRef() {
    if (op_ != nullptr && op_->of_text != nullptr &&
        op_->of_text->uses.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete op_->of_text;
}

namespace {

void run(const Step& step, Machine&) {
    const InlinePtx* made_of = inline_ptx_of(*step.op);
    if (made_of != nullptr && made_of->simulated) return;
    throw ArgumentError("the simulator does not know what inline PTX does",
                        "k:asm{ ..., meaning = function(k, v) ... end } says it with other instructions");
}

}  // namespace

InstructionRef inline_ptx(InlinePtx request) {
    if (request.text.size() > longest)
        throw ArgumentError(
            fmt::format("asm: a text of {} bytes: {} are possible", request.text.size(), longest));
    auto record = std::make_unique<InlineRecord>();
    record->made_of = std::move(request);
    const InlinePtx& made_of = record->made_of;
    const std::string body = as_template(made_of);
    const std::string_view statement = trimmed(body);
    if (statement.empty()) throw ArgumentError("asm: the text has no statement");
    // Several statements go into braces of their own, so that their declarations are local.
    const bool several = statement.find(';') != std::string_view::npos;
    record->text = several ? fmt::format("{{{{\n    {};\n}}}}", statement) : std::string(statement);
    Instruction& op = record->op;
    op.name = "asm";
    op.summary = "inline PTX";
    op.section = "4.3";
    op.rows = {{{}, made_of.min_ptx}};
    for (const InlinePtx::Place& place : made_of.places) {
        const unsigned kinds =
            place.access == Access::in ? OperandRule::reg | OperandRule::shared : OperandRule::reg;
        op.operands.push_back(
            {place.name, place.access, kinds, constant_type(place.type), nullptr, false, {}, {}});
    }
    op.ptx = record->text;
    op.effects = [](const Step&, Effects& e) { e.unknown(); };       // the effects cannot be analysed
    op.value = [](const Step&, const ValueOf&) { return Value{}; };  // nor can the results
    op.run = run;
    op.of_text = record.get();
    return &record.release()->op;
}

const InlinePtx* inline_ptx_of(const Instruction& op) {
    return op.of_text == nullptr ? nullptr : &op.of_text->made_of;
}

bool pinned(const Instruction& op) {
    if (const InlinePtx* text = inline_ptx_of(op); text != nullptr && text->declared)
        return text->reads || text->writes || text->synchronises;
    return op.effects != nullptr || op.convergent || op.taken_by != Participants::thread;
}

namespace {

/// Returns the part before the first of these characters.
std::string_view until(std::string_view text, std::string_view ends) {
    return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

/// Judges by the first word alone, which is the same for all instructions of a family: ld, st, mbarrier.
bool has_effects(std::string_view mnemonic) {
    constexpr std::string_view constant[] = {"ld.param", "ld.const"},
                               without_record[] = {"membar", "multimem"};
    if (std::ranges::any_of(constant, [&](std::string_view c) { return mnemonic.starts_with(c); }))
        return false;
    const std::string_view family = until(mnemonic, ".");
    return std::ranges::find(without_record, family) != std::end(without_record) ||
           std::ranges::any_of(all(), [&](const Instruction* op) {
               return op->effects != nullptr && until(op->name, ".") == family;
           });
}

}  // namespace

std::string hidden_effect(const InlinePtx& request) {
    if (!request.declared || request.reads || request.writes || request.synchronises) return {};
    const std::string text = without_comments(request.text, false);
    std::string_view left = text;
    while (!left.empty()) {
        std::string_view statement = until(left, ";{}\n");
        left.remove_prefix(std::min(statement.size() + 1, left.size()));
        statement.remove_prefix(std::min(statement.find_first_not_of(" \t"), statement.size()));
        if (statement.starts_with('@')) {  // a guard
            statement.remove_prefix(until(statement, " \t").size());
            statement.remove_prefix(std::min(statement.find_first_not_of(" \t"), statement.size()));
        }
        const std::string_view mnemonic = until(statement, " \t");
        if (!mnemonic.empty() && has_effects(mnemonic)) return std::string(mnemonic);
    }
    return {};
}

const Instruction& simulated_only(const Instruction& op) {
    // Never destroyed: programs may be read while the process ends.
    static const auto& copies = *[] {
        auto made = std::make_unique<std::map<const Instruction*, Instruction>>();
        for (const Instruction* each : all()) {
            Instruction copy = *each;
            copy.ptx = copy.cuda = {};
            made->emplace(each, std::move(copy));
        }
        return made.release();
    }();
    return copies.at(&op);
}

}  // namespace wgrun::isa
