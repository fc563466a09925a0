// All records, and the search for the record and the qualifiers of a builder's method name.
#include "isa/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "wgrun/nearest.hpp"

namespace wgrun::isa {
namespace {

const std::vector<const Instruction*>& table() {
    static const std::vector<const Instruction*> records = [] {
        std::vector<const Instruction*> out;
        for (const auto& family :
             {move_family(),       arithmetic_family(), extrema_family(), narrow_family(),
              float_family(),      logic_family(),      bits_family(),    convert_family(),
              memory_family(),     generic_family(),    cache_family(),   sync_family(),
              wgmma_family(),      mbarrier_family(),   copy_family(),    async_store_family(),
              bulk_family(),       cluster_family(),    matrix_family(),  mma_family(),
              sparse_mma_family(), warp_family(),       atomic_family(),  tensormap_family(),
              im2col_family()})
            for (const Instruction& record : family) out.push_back(&record);
        return out;
    }();
    return records;
}

std::string as_method(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '.', '_');
    return out;
}

using Candidates = std::vector<const Instruction*>;

/// The records with which a method may start: one of that name, then those whose text starts with it (for
/// cvt, the one that takes two sources).
const std::map<std::string, Candidates, std::less<>>& methods() {
    static const auto index = [] {
        std::map<std::string, Candidates, std::less<>> out;
        for (const Instruction* record : table()) out[as_method(record->name)].push_back(record);
        for (const Instruction* record : table()) {
            const auto same_text = out.find(as_method(record->ptx.substr(0, record->ptx.find('{'))));
            if (same_text != out.end() && same_text->second.front() != record)
                same_text->second.push_back(record);
        }
        return out;
    }();
    return index;
}

/// Returns the fields in the order of the text of `op`. PTX fixes the order, so `cvt_rn_bf16_f32` is not
/// ambiguous.
std::vector<Field> text_order(const Instruction& op) {
    std::vector<Field> out;
    for (std::size_t at = op.ptx.find("{."); at != std::string_view::npos; at = op.ptx.find("{.", at + 1)) {
        const std::size_t close = op.ptx.find('}', at);
        if (const auto field = parse_field(op.ptx.substr(at + 2, close - at - 2))) out.push_back(*field);
    }
    return out;
}

/// Returns the text as part of a method name: "shared::cluster" is shared_cluster.
std::string as_token(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == ':' && out.ends_with('_')) continue;
        out += c == '.' || c == ':' ? '_' : c;
    }
    return out;
}

/// Returns the value of `field` in a row of `op` with which `tokens` starts, and the length of its spelling.
/// If there are several, it is the longest. Length 0: none.
std::pair<int, std::size_t> leading_value(const Instruction& op, Field field, std::string_view tokens) {
    std::pair<int, std::size_t> best{0, 0};
    for (const Row& row : op.rows) {
        const Choice* choice = row.find(field);
        if (choice == nullptr) continue;
        for (int value : choice->values()) {
            const std::string text = as_token(spelled(field, value));
            const std::size_t size = text.size();
            if (size > best.second && tokens.starts_with(text) &&
                (size == tokens.size() || tokens[size] == '_'))
                best = {value, size};
        }
    }
    return best;
}

/// Reads the qualifiers `tokens` ("v4_f32") into `form`, each into the first free field that accepts it.
bool read_qualifiers(const Instruction& op, std::string_view tokens, Form& form) {
    for (Field field : text_order(op)) {
        const auto [value, size] = leading_value(op, field, tokens);
        if (size == 0) continue;
        if (form.has(field) && form.get(field) != value)
            return false;  // the types of D and C of mma, which are one
        form.set(field, value);
        if (size == tokens.size()) return true;
        tokens.remove_prefix(size + 1);
    }
    return false;
}

/// Returns the parts of the opcode that all forms have and the name has not: "sync", "aligned", "b64".
std::vector<std::string> fixed_parts(const Instruction& op) {
    std::string_view opcode = op.ptx.substr(0, op.ptx.find(' '));
    opcode.remove_prefix(opcode.starts_with(op.name) ? op.name.size()
                                                     : std::min(opcode.find('{'), opcode.size()));
    std::vector<std::string> out;
    for (std::size_t at = 0; at < opcode.size();) {
        const std::size_t end = std::min(opcode.find_first_of(".{", at + 1), opcode.size());
        if (opcode[at] == '.') out.push_back(as_token(opcode.substr(at + 1, end - at - 1)));
        at = end;
    }
    return out;
}

/// Takes a shape, "m16n8k16", out of "_m16n8k16_f32_", and reads it into m, n and k.
void read_shape(const Instruction& op, std::string& tokens, Form& form) {
    if (op.ptx.find("m{m}n{n}k{k}") == std::string_view::npos) return;
    for (std::size_t at = tokens.find("_m"); at != std::string::npos; at = tokens.find("_m", at + 1)) {
        Form shape = form;
        std::size_t end = at + 1;
        for (const auto& [field, letter] : {std::pair{Field::m, 'm'}, {Field::n, 'n'}, {Field::k, 'k'}}) {
            if (tokens[end] != letter) break;
            int value = 0;
            const char* const first = tokens.data() + end + 1;
            const auto [last, error] = std::from_chars(first, tokens.data() + tokens.size(), value);
            if (error != std::errc()) break;
            shape.set(field, value);
            end = static_cast<std::size_t>(last - tokens.data());
        }
        if (!shape.has(Field::k) || tokens[end] != '_') continue;
        form = shape;
        tokens.erase(at, end - at);
        return;
    }
}

/// Reads qualifiers as PTX has them, with the parts that all forms have: "sync_aligned".
bool read_opcode(const Instruction& op, std::string_view tokens, Form& form) {
    if (read_qualifiers(op, tokens, form)) return true;
    std::string rest = fmt::format("_{}_", tokens);
    for (const std::string& part : fixed_parts(op))
        if (const std::size_t at = rest.find(fmt::format("_{}_", part)); at != std::string::npos)
            rest.erase(at, part.size() + 1);
    form = {};
    read_shape(op, rest, form);
    return rest == "_" || read_qualifiers(op, std::string_view(rest).substr(1, rest.size() - 2), form);
}

/// Returns whether one row allows all these qualifiers together.
bool has_row_for(const Instruction& op, const Form& form) {
    return std::any_of(op.rows.begin(), op.rows.end(), [&](const Row& row) {
        for (int i = 0; i < field_count; ++i) {
            const auto field = static_cast<Field>(i);
            const Choice* choice = row.find(field);
            if (form.has(field) && (choice == nullptr || !choice->allows(form.get(field)))) return false;
        }
        return true;
    });
}

/// Returns what may be between the underscores of methods: parts of names, and spellings of qualifiers.
const std::set<std::string, std::less<>>& parts_of_methods() {
    static const auto parts = [] {
        std::set<std::string, std::less<>> out;
        const auto add = [&](std::string_view text) {
            for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
                end = std::min(text.find('_'), text.size());
                if (end > 0) out.emplace(text.substr(0, end));
            }
        };
        for (const Instruction* op : table()) {
            add(as_method(op->name));
            for (Field field : text_order(*op))
                for (const Row& row : op->rows)
                    if (const Choice* choice = row.find(field))
                        for (int value : choice->values()) add(as_token(spelled(field, value)));
        }
        return out;
    }();
    return parts;
}

}  // namespace

std::span<const Instruction* const> all() { return table(); }

const Instruction* find(std::string_view name) {
    for (const Instruction* record : table())
        if (record->name == name) return record;
    return nullptr;
}

Spelling parse_method(std::string_view method) {
    // The longest record name that starts the method is taken; qualifiers follow it.
    for (std::size_t end = method.size();; end = method.rfind('_', end - 1)) {
        if (end == std::string_view::npos) return {};
        if (const auto found = methods().find(method.substr(0, end)); found != methods().end()) {
            Spelling illegal;  // well-formed, and the message should say what is wrong with it
            for (const Instruction* op : found->second) {
                Spelling out{op, {}};
                if (end != method.size() && !read_opcode(*op, method.substr(end + 1), out.form)) continue;
                if (has_row_for(*op, out.form)) return out;
                if (illegal.op == nullptr) illegal = out;
            }
            return illegal;
        }
        if (end == 0) return {};
    }
}

std::string method_of(const Instruction& op, const Form& form) {
    const auto agrees = [&](const std::string& method) {
        const Spelling read = parse_method(method);
        if (read.op != &op) return false;
        for (int i = 0; i < field_count; ++i) {
            const auto field = static_cast<Field>(i);
            if (read.form.has(field) && read.form.get(field) != form.get(field)) return false;
        }
        return true;
    };
    std::vector<std::string> names{as_method(op.name)};
    for (const Field field : text_order(op)) {
        const std::string token = form.has(field) ? as_token(spelled(field, form.get(field))) : "";
        if (!token.empty()) names.push_back(names.back() + '_' + token);
    }
    while (!names.empty() && !agrees(names.back())) names.pop_back();
    return names.empty() ? std::string() : names.back();
}

std::string nearest_method(std::string_view method) {
    constexpr std::size_t longest = 64, least = 3;  // characters of a method, and of a part that is corrected
    if (method.size() > longest) return {};
    std::string best;
    std::size_t best_distance = 3;
    const auto consider = [&](std::string candidate) {
        const std::size_t distance = edit_distance(method, candidate);
        if (distance < best_distance && parse_method(candidate).op != nullptr)
            best = std::move(candidate), best_distance = distance;
    };
    for (std::size_t begin = 0, end = 0; begin <= method.size(); begin = end + 1) {
        end = std::min(method.find('_', begin), method.size());
        if (end - begin < least) continue;
        const std::string head(method.substr(0, begin)), tail(method.substr(end));
        for (const std::string& part : parts_of_methods())
            if (edit_distance(method.substr(begin, end - begin), part) < best_distance)
                consider(head + part + tail);
    }
    // An underscore is missing, or there is one too many.
    for (std::size_t i = 1; i < method.size(); ++i) {
        std::string candidate(method);
        if (method[i] == '_')
            candidate.erase(i, 1);
        else
            candidate.insert(i, 1, '_');
        consider(std::move(candidate));
    }
    return best;
}

std::vector<Continuation> continuations(std::string_view beginning) {
    std::map<std::string, std::string_view> found;
    const auto add = [&](const Instruction& op, std::string head, std::string_view typed) {
        Form form;
        const std::vector<Field> order = text_order(op);
        auto next = order.begin();
        for (auto field = order.begin(); field != order.end(); ++field) {
            const auto [value, size] = leading_value(op, *field, typed);
            if (size == 0 || size == typed.size()) continue;  // the last one may not be at its end
            form.set(*field, value);
            head += typed.substr(0, size + 1);
            typed.remove_prefix(size + 1);
            next = field + 1;
        }
        for (; next != order.end(); ++next)
            for (const Row& row : op.rows) {
                const Choice* choice = row.find(*next);
                if (choice == nullptr) continue;
                for (const int value : choice->values()) {
                    const std::string token = as_token(spelled(*next, value));
                    Form wanted = form;
                    wanted.set(*next, value);
                    if (!token.empty() && token.starts_with(typed) && has_row_for(op, wanted))
                        found.emplace(head + token, op.summary);
                }
            }
    };
    for (std::size_t end = beginning.find('_'); end != std::string_view::npos;
         end = beginning.find('_', end + 1))
        if (const auto ops = methods().find(beginning.substr(0, end)); ops != methods().end())
            for (const Instruction* op : ops->second)
                add(*op, std::string(beginning.substr(0, end + 1)), beginning.substr(end + 1));
    std::vector<Continuation> out;
    for (auto& [method, summary] : found)
        if (parse_method(method).op != nullptr) out.push_back({method, summary});
    return out;
}

const Operand& Step::operand(std::string_view name) const {
    for (std::size_t i = 0; i < op->operands.size(); ++i)
        if (op->operands[i].name == name) return operands[i];
    throw std::logic_error("instruction " + std::string(op->name) + " has no operand " + std::string(name));
}

}  // namespace wgrun::isa
