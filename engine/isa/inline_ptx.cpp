#include "wgrun/inline_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/machine.hpp"

namespace wgrun::isa {
namespace {

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

/// Returns the text as a template of operands, with its braces doubled.
std::string as_template(const InlinePtx& request) {
    std::string out;
    std::vector<bool> used(request.places.size());
    const std::string_view text = request.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '{' || c == '}') out += c;
        if (c != '%') {
            out += c;
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && is_word(text[end])) ++end;
        const std::string_view name = text.substr(i + 1, end - i - 1);
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

/// Owns the strings that a record's views refer to.
struct Record {
    InlinePtx made_of;
    std::string text;
    Instruction op{};
};

void run(const Step& step, Machine&) {
    const InlinePtx* made_of = inline_ptx_of(*step.op);
    if (made_of != nullptr && made_of->simulated) return;
    throw ArgumentError("the simulator does not know what inline PTX does",
                        "k:asm{ ..., meaning = function(k, v) ... end } says it with other instructions");
}

std::unique_ptr<Record> make(InlinePtx request) {
    auto record = std::make_unique<Record>();
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
    return record;
}

struct Store {
    std::mutex mutex;
    std::vector<std::unique_ptr<Record>> records;
    std::map<const Instruction*, std::unique_ptr<Instruction>> simulated;
    std::size_t bytes = 0;
};

/// It is never destroyed: programs may be read while the process ends.
Store& store() {
    static auto& all = *new Store();
    return all;
}

}  // namespace

const Instruction& inline_ptx(InlinePtx request) {
    constexpr std::size_t most_bytes = 4 << 20;
    Store& all = store();
    const std::lock_guard lock(all.mutex);
    for (const auto& record : all.records)
        if (record->made_of == request) return record->op;
    all.bytes += request.text.size() + 256;
    if (all.bytes > most_bytes) throw ArgumentError("asm: more than 4 MiB of inline PTX in one process");
    return all.records.emplace_back(make(std::move(request)))->op;
}

const InlinePtx* inline_ptx_of(const Instruction& op) {
    if (op.run != run) return nullptr;
    Store& all = store();
    const std::lock_guard lock(all.mutex);
    const auto found =
        std::ranges::find_if(all.records, [&](const auto& record) { return &record->op == &op; });
    return found == all.records.end() ? nullptr : &(*found)->made_of;
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
    std::string text;
    for (std::string_view rest = request.text; !rest.empty();) {  // without comments
        const std::size_t begin = std::min(rest.find("//"), rest.find("/*"));
        text += rest.substr(0, begin);
        if (begin == std::string_view::npos) break;
        const std::string_view close = rest[begin + 1] == '/' ? "\n" : "*/";
        const std::size_t end = rest.find(close, begin + 2);
        text += ' ';
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + close.size());
    }
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
    Store& all = store();
    const std::lock_guard lock(all.mutex);
    std::unique_ptr<Instruction>& copy = all.simulated[&op];
    if (copy == nullptr) {
        copy = std::make_unique<Instruction>(op);
        copy->ptx = copy->cuda = {};
    }
    return *copy;
}

}  // namespace wgrun::isa
