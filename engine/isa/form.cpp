// Qualifiers: their spelling, and the search for the legal row that a step asks for.
#include "isa/counts.hpp"
#include "isa/special.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/rules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

namespace wgrun::isa {
namespace {

constexpr std::array<std::string_view, field_count> field_names{
    "type",  "from",  "d",       "a",         "b",       "m",        "n",         "k",
    "space", "vec",   "round",   "cmp",       "approx",  "ftz",      "satfinite", "half",
    "op",    "a_in",  "trans_a", "trans_b",   "scale_a", "scale_b",  "sp_sel",    "sreg",
    "dim",   "sem",   "aligned", "multicast", "cache",   "read",     "num",       "trans",
    "noftz", "relu",  "cop",     "nc",        "evict",   "prefetch", "level",     "secondary",
    "noinc", "bytes", "sat",     "xorsign",   "combine", "part",     "property"};

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 8> spaces{"global", "shared", "shared::cta", "shared::cluster",
                                                 "local",  "const",  "param",       "generic"};
// "contract" is no word of PTX: without a rounding a sum or a product is .rn, and the assembler may make an
// fma of the two (9.7.3.3).
constexpr std::string_view contracted = "contract";
constexpr std::array<std::string_view, 10> rounds{"rn",  "rz",  "rm",  "rp",  "rna",
                                                  "rni", "rzi", "rmi", "rpi", contracted};
constexpr std::array<std::string_view, 18> compares{"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                    "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                                    "ltu", "leu", "gtu", "geu", "num", "nan"};
constexpr std::array<std::string_view, 3> halves{"lo", "hi", "wide"};
constexpr std::array<std::string_view, 23> operations{
    "and.popc", "add",  "min",  "max", "inc", "dec", "and", "or",     "xor",  "exch",  "cas", "xor.popc",
    "up",       "down", "bfly", "idx", "all", "any", "uni", "ballot", "popc", "clamp", "wrap"};
constexpr std::array<std::string_view, 6> properties{"finite",     "infinite", "number",
                                                     "notanumber", "normal",   "subnormal"};
constexpr std::array<std::string_view, 6> dims{"", "1d", "2d", "3d", "4d", "5d"};
constexpr std::array<std::string_view, 24> orders{
    "release.cta",     "release.cluster", "acquire.cta", "acquire.cluster", "relaxed.cta",
    "relaxed.cluster", "relaxed.gpu",     "acquire.gpu", "release.gpu",     "acq_rel.gpu",
    "relaxed.sys",     "release",         "relaxed",     "acquire.sys",     "release.sys",
    "acq_rel.cta",     "acq_rel.cluster", "acq_rel.sys", "sc.cta",          "sc.cluster",
    "sc.gpu",          "sc.sys",          "volatile",    "mmio.relaxed.sys"};
constexpr std::array<std::string_view, 7> cache_operators{"ca", "cg", "cs", "lu", "cv", "wb", "wt"};
constexpr std::array<std::string_view, 5> evictions{"L1::evict_normal", "L1::evict_unchanged",
                                                    "L1::evict_first", "L1::evict_last", "L1::no_allocate"};
constexpr std::array<std::string_view, 3> prefetches{"L2::64B", "L2::128B", "L2::256B"};
constexpr std::array<std::string_view, 6> levels{
    "L1", "L2", "L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"};
constexpr std::array<std::string_view, 2> sources{"shared", "registers"};
constexpr std::array<std::string_view, 3> combinations{"and", "or", "xor"};
constexpr std::array<std::string_view, 10> parts_of_maps{
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};
/// Returns the spellings of a field's values 0, 1, ...; empty for numbers, flags and types.
Names names_of(Field field) {
    switch (field) {
        case Field::space: return spaces;
        case Field::round: return rounds;
        case Field::cmp: return compares;
        case Field::half: return halves;
        case Field::op: return operations;
        case Field::a_in: return sources;
        case Field::sem: return orders;
        case Field::sreg: return special_names;
        case Field::dim: return dims;
        case Field::cop: return cache_operators;
        case Field::evict: return evictions;
        case Field::prefetch: return prefetches;
        case Field::level:
        case Field::secondary: return levels;
        case Field::combine: return combinations;
        case Field::part: return parts_of_maps;
        case Field::property: return properties;
        default: return {};
    }
}

bool is_type_field(Field field) {
    return field == Field::type || field == Field::from || field == Field::d || field == Field::a ||
           field == Field::b;
}

/// Returns the text of a flag that is set; empty for other fields.
std::string_view flag_text(Field field) {
    switch (field) {
        case Field::approx:
        case Field::ftz:
        case Field::satfinite:
        case Field::aligned:
        case Field::read:
        case Field::noftz:
        case Field::relu:
        case Field::nc:
        case Field::noinc:
        case Field::sat:
        case Field::trans: return to_string(field);
        case Field::xorsign: return "xorsign.abs";
        case Field::multicast: return "multicast::cluster";
        case Field::cache: return "L2::cache_hint";
        default: return {};
    }
}

bool is_flag(Field field) { return !flag_text(field).empty(); }

std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Returns the end of the longest run from `begin` whose numbers have the same distance.
std::size_t end_of_run(const std::vector<int>& values, std::size_t begin) {
    std::size_t end = std::min(begin + 2, values.size());
    while (end < values.size() && values[end] - values[end - 1] == values[begin + 1] - values[begin]) ++end;
    return end;
}

std::string list(Field field, const std::vector<int>& values) {
    // Long runs of numbers (the N of wgmma) read better as "8, 16, 24, ..., 256"; types are listed one by
    // one.
    std::string out;
    const bool run = values.size() > 8 && !is_type_field(field);
    constexpr std::size_t shown = 3;
    std::size_t begin = 0, end = run ? end_of_run(values, 0) : values.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i == end) begin = i, end = end_of_run(values, begin);
        if (run && i == begin + shown && end - begin > shown + 1) {
            out += ", ...";
            i = end - 1;
        }
        const std::string text = is_flag(field) ? std::to_string(values[i]) : spelled(field, values[i]);
        out += (out.empty() ? "" : ", ") + (text.empty() ? "1" : text);
    }
    return out;
}

std::string quoted(Field field, int value) {
    if (is_flag(field)) return std::string(to_string(field)) + "=" + std::to_string(value);
    const std::string text = spelled(field, value);
    return std::string(to_string(field)) + "=" + (text.empty() ? std::to_string(value) : text);
}

/// Returns whether the field must be given.
bool is_open(const Choice& choice) {
    const bool single = choice.allowed.size() == 1 && choice.allowed.front().lo == choice.allowed.front().hi;
    return !choice.fallback && (choice.asked || !single);
}

/// The fields in which `asked` does not fit a row, one bit each; a later field has a higher bit.
using Misfits = std::uint64_t;
static_assert(field_count <= 64);

Misfits misfits(const Row& row, const Form& asked) {
    Misfits asked_for = 0, wrong = 0;
    for (int i = 0; i < field_count; ++i)
        if (asked.has(static_cast<Field>(i))) asked_for |= Misfits{1} << i;
    Misfits known = 0;
    for (const Choice& choice : row.choices) {
        const Misfits bit = Misfits{1} << static_cast<int>(choice.field);
        known |= bit;
        if ((asked_for & bit) != 0 ? !choice.allows(asked.get(choice.field)) : is_open(choice)) wrong |= bit;
    }
    return wrong | (asked_for & ~known);
}

/// Returns the first of one or more misfits (g++ 13 warns about the read for none).
Field first(Misfits misfits) {
    return static_cast<Field>(std::min(std::countr_zero(misfits), field_count - 1));
}

/// What is illegal about a form, and the legal values of that field that are nearest to its own.
struct Complaint {
    std::string message, fix;
};

/// Returns "n = 32 or 48": of numbers those below and above, of a single value that.
std::string nearest_of(Field field, int value, const std::vector<int>& legal) {
    if (legal.size() == 1 && !is_flag(field))
        return fmt::format("{} = {}", to_string(field), list(field, legal));
    if (!names_of(field).empty() || is_type_field(field) || is_flag(field)) return {};
    const auto above = std::ranges::upper_bound(legal, value);
    std::vector<int> out;
    if (above != legal.begin()) out.push_back(*std::prev(above));
    if (above != legal.end()) out.push_back(*above);
    std::string text;
    for (const int one : out) text += (text.empty() ? "" : " or ") + spelled(field, one);
    return fmt::format("{} = {}", to_string(field), text);
}

/// Returns a text such as "n=40 is not legal for d=s32, a=s8 (legal: 8, 16, ...)": the rows that differ in
/// only one field tell the legal values of that field.
Complaint complaint(const Instruction& op, const Form& asked) {
    std::vector<Misfits> of_rows;
    int fewest = field_count;
    for (const Row& row : op.rows) {
        of_rows.push_back(misfits(row, asked));
        fewest = std::min(fewest, std::popcount(of_rows.back()));
    }

    // A missing field is reported before a wrong one; of two that do not fit together, the later one is
    // reported.
    const auto latest = [&](bool missing) {
        std::optional<Field> out;
        for (const Misfits wrong : of_rows)
            if (std::popcount(wrong) == fewest && !(missing && asked.has(first(wrong))))
                out = std::max(out, std::optional(first(wrong)));
        return out;
    };
    const std::optional<Field> absent = latest(true);
    const Field guilty = absent ? *absent : *latest(false);

    std::vector<int> legal;
    for (std::size_t i = 0; i < of_rows.size(); ++i) {
        if (std::popcount(of_rows[i]) != fewest || first(of_rows[i]) != guilty) continue;
        if (const Choice* choice = op.rows[i].find(guilty))
            for (int value : choice->values())
                if (std::find(legal.begin(), legal.end(), value) == legal.end()) legal.push_back(value);
    }
    std::sort(legal.begin(), legal.end());

    std::string context;
    for (int i = 0; i < field_count; ++i) {
        const auto field = static_cast<Field>(i);
        if (field != guilty && asked.has(field) &&
            (is_type_field(field) || field == Field::space || field == Field::a_in))
            context += (context.empty() ? " for " : ", ") + quoted(field, asked.get(field));
    }
    const std::string name(op.name);
    if (!asked.has(guilty))
        return {name + " needs `" + std::string(to_string(guilty)) + "`" + context +
                    " (legal: " + list(guilty, legal) + ")",
                {}};
    if (legal.empty()) {
        const bool known =
            std::any_of(op.rows.begin(), op.rows.end(), [&](const Row& r) { return r.find(guilty); });
        return {name + " takes no `" + std::string(to_string(guilty)) + "`" + (known ? context : ""),
                std::string(instead_of(op, guilty))};
    }
    return {name + ": " + quoted(guilty, asked.get(guilty)) + " is not legal" + context +
                " (legal: " + list(guilty, legal) + ")",
            nearest_of(guilty, asked.get(guilty), legal)};
}

}  // namespace

std::string to_string(Arch arch) { return fmt::format("sm_{}{}", arch.sm, arch.specific ? "a" : ""); }

std::string_view to_string(Field field) { return field_names[static_cast<std::size_t>(field)]; }

std::string_view summary(Field field) {
    constexpr std::array<std::string_view, field_count> summaries{
        "the type of the operation and of its operands",
        "the type of the source",
        "the type of the accumulators D",
        "the element type of A",
        "the element type of B",
        "the rows of D",
        "the columns of D",
        "the K extent of one instruction, in elements",
        "the state space of the address",
        "the number of values moved at once",
        "the rounding mode",
        "the comparison",
        "a fast approximation in place of the correctly rounded result",
        "subnormal inputs and results become zero",
        "results out of range become the nearest representable value",
        "which half of an integer product: lo, hi, or all of it (wide)",
        "the operation",
        "where A is: in shared memory or in registers",
        "1: A is MN-major in shared memory",
        "1: B is MN-major in shared memory",
        "-1: A is negated",
        "-1: B is negated",
        "which threads of four hold the metadata",
        "the special register",
        "the dimensions of the tensor",
        "the memory order and its scope",
        "all threads of the warp execute it together",
        "the data is multicast to the CTAs of a mask",
        "an operand holds the L2 cache policy",
        "waits only until the sources have been read",
        "the number of 8x8 matrices",
        "the matrices are transposed",
        "subnormal values are kept",
        "negative results become zero",
        "the cache operator",
        "a load of memory that is read-only while the kernel runs",
        "the L1 eviction priority",
        "how much is prefetched into the L2 cache",
        "the level of the cache, or the priority there",
        "the priority of the accesses that the fraction leaves out",
        "the pending count of the mbarrier is not incremented",
        "the bytes that are copied",
        "results are limited to 0 to 1, or to the range of the type",
        "the result has the larger or smaller magnitude, and the signs' exclusive or",
        "how the comparison is combined with a predicate",
        "the part of a tensor map that is replaced",
        "what a float is tested for",
    };
    static_assert(!summaries.back().empty());
    return summaries[static_cast<std::size_t>(field)];
}

std::optional<Field> parse_field(std::string_view name) {
    const auto found = std::find(field_names.begin(), field_names.end(), name);
    if (found == field_names.end()) return std::nullopt;
    return static_cast<Field>(found - field_names.begin());
}

std::string spelled(Field field, int value) {
    if (is_type_field(field)) return std::string(to_string(static_cast<Type>(value)));
    if (is_flag(field)) return value ? std::string(flag_text(field)) : "";
    if (field == Field::vec) return value == 1 ? "" : fmt::format("v{}", value);
    if (field == Field::num) return fmt::format("x{}", value);
    const Names names = names_of(field);
    return names.empty() ? std::to_string(value) : std::string(names[static_cast<std::size_t>(value)]);
}

bool unwritten(Field field, int value) {
    return field == Field::round && spelled(field, value) == contracted;
}

std::optional<int> parse_value(Field field, std::string_view text) {
    if (is_type_field(field)) {
        const auto type = parse_type(text);
        return type ? std::optional<int>(static_cast<int>(*type)) : std::nullopt;
    }
    if (is_flag(field)) return text == flag_text(field) ? std::optional(1) : parse_number(text);
    if (field == Field::vec && text.starts_with('v')) return parse_number(text.substr(1));
    if (field == Field::num && text.starts_with('x')) return parse_number(text.substr(1));
    const Names names = names_of(field);
    if (names.empty()) return parse_number(text);
    const auto found = std::find(names.begin(), names.end(), text);
    return found == names.end() ? std::nullopt : std::optional(static_cast<int>(found - names.begin()));
}

bool Choice::allows(int value) const {
    return std::any_of(allowed.begin(), allowed.end(), [&](const Range& r) {
        return value >= r.lo && value <= r.hi && (value - r.lo) % r.step == 0;
    });
}

std::vector<int> Choice::values() const {
    std::vector<int> out;
    for (const Range& r : allowed)
        for (int v = r.lo; v <= r.hi; v += r.step) out.push_back(v);
    return out;
}

const Choice* Row::find(Field field) const {
    for (const Choice& choice : choices)
        if (choice.field == field) return &choice;
    return nullptr;
}

Form resolve(const Instruction& op, const Form& asked) {
    for (const Row& row : op.rows) {
        if (misfits(row, asked) != 0) continue;
        Form form = asked;
        for (const Choice& choice : row.choices)
            if (!form.has(choice.field))
                form.set(choice.field, choice.fallback.value_or(choice.allowed.front().lo));
        return form;
    }
    Complaint why = complaint(op, asked);
    ArgumentError error = rules::refusal(rules::WG_FORM_01, std::move(why.message), std::move(why.fix));
    error.finding().section = op.section;
    throw error;
}

const Row& row_of(const Instruction& op, const Form& form) {
    for (const Row& row : op.rows)
        if (misfits(row, form) == 0) return row;
    throw ArgumentError(std::string(op.name) + ": " + complaint(op, form).message);
}

namespace {

std::string operand_text(const Step& step, std::string_view name, bool optional, const PrintOperand& print) {
    for (std::size_t i = 0; i < step.op->operands.size(); ++i) {
        const OperandRule& rule = step.op->operands[i];
        if (rule.name != name) continue;
        const Operand& operand = step.operands[i];
        if (optional && operand.kind == Operand::Kind::imm && operand.imm == rule.fallback) return "";
        if (optional && operand.kind == Operand::Kind::none) return "";
        return print(operand, rule);
    }
    throw std::logic_error("no operand " + std::string(name) + " in the text of " +
                           std::string(step.op->name));
}

}  // namespace

std::string expand(std::string_view text, const Step& step, const PrintOperand& print) {
    std::string out;
    out.reserve(text.size() + 32);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find('{', at);
        const std::string_view between = text.substr(at, open - at);
        for (std::size_t i = 0; i < between.size(); i += between.substr(i).starts_with("}}") ? 2U : 1U)
            out += between[i];
        if (open == std::string_view::npos) break;
        if (text.substr(open).starts_with("{{")) {
            out += '{';
            at = open + 2;
            continue;
        }
        const std::size_t close = text.find('}', open);
        std::string_view hole = text.substr(open + 1, close - open - 1);
        at = close + 1;
        std::string_view separator;
        if (hole.starts_with('.')) separator = ".";
        if (hole.starts_with(',')) separator = ", ";
        if (hole.starts_with('|')) separator = "|";
        if (!separator.empty()) hole.remove_prefix(1);
        std::string filled;
        if (hole.starts_with('%')) {
            filled = operand_text(step, hole.substr(1), !separator.empty(), print);
        } else if (const auto field = parse_field(hole); field && step.form.has(*field)) {
            filled = spelled(*field, step.form.get(*field));
            if (unwritten(*field, step.form.get(*field))) filled.clear();
        }
        if (!filled.empty()) out.append(separator).append(filled);
    }
    return out;
}

}  // namespace wgrun::isa
