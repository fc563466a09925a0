// Forms that differ from a legal one in one qualifier: either they are legal too, or resolve refuses them and
// names what is legal; and what it refuses of wgmma, ptxas refuses as well.
#include <charconv>
#include <set>

#include "isa/later.hpp"
#include "ptx/nearest_forms.hpp"
#include "ptx/pattern.hpp"
#include "tests/assemble/texts.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

Form without(const Form& form, Field field) {
    Form out;
    for (int i = 0; i < isa::field_count; ++i) {
        const auto other = static_cast<Field>(i);
        if (other != field && form.has(other)) out.set(other, form.get(other));
    }
    return out;
}

std::string between(const std::string& text, const std::string& left, const std::string& right) {
    const std::size_t from = text.find(left);
    if (from == std::string::npos) return {};
    const std::size_t to = text.find(right, from + left.size());
    return text.substr(from + left.size(), to - from - left.size());
}

bool is_legal(const Instruction& op, const Form& form) {
    try {
        return has_form(op, isa::resolve(op, form));
    } catch (const ArgumentError&) {
        return false;
    }
}

/// The message is "OP: FIELD=VALUE is not legal ... (legal: X, Y)", "OP needs `FIELD` ... (legal: X, Y)" or
/// "OP takes no `FIELD` ...": doing as it says makes the form legal.
bool names_a_remedy(const Instruction& op, const Form& refused, const std::string& message) {
    const std::string name(op.name);
    if (message.starts_with(name + " takes no `")) {
        const auto field = isa::parse_field(between(message, "`", "`"));
        return field && is_legal(op, without(refused, *field));
    }
    const bool is_missing = message.starts_with(name + " needs `");
    const auto field =
        isa::parse_field(is_missing ? between(message, "`", "`") : between(message, name + ": ", "="));
    std::string legal = between(message, "(legal: ", ")") + ", ";
    if ((!is_missing && !message.starts_with(name + ": ")) || !field || legal.size() == 2) return false;
    for (std::size_t end; (end = legal.find(", ")) != std::string::npos; legal.erase(0, end + 2)) {
        const std::string text = legal.substr(0, end);
        if (text == "...") continue;
        const auto value = isa::parse_value(*field, text);
        if (!value || !is_legal(op, Form(refused).set(*field, *value))) return false;
    }
    return true;
}

/// Calls refused(form) for every form that differs from `legal` in one qualifier and is not legal.
template <class Refused>
void mutate(const Instruction& op, const Form& legal, Refused refused) {
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<Field>(i);
        const bool known =
            std::ranges::any_of(op.rows, [&](const isa::Row& row) { return row.find(field) != nullptr; });
        std::vector<int> values = writable_values(field);
        if (!known) values.resize(1);  // whatever it is
        for (int value : values) {
            const Form form = Form(legal).set(field, value);
            if (form == legal) continue;
            try {
                // A field that only the other row has was filled in: A in shared memory has its own
                // transpose.
                const Form taken = isa::resolve(op, form);
                if (!has_form(op, taken) || (has_form(op, form) && taken != form))
                    FAIL_CHECK(op.name << " " << spelled(form) << " is taken, and is not in the table");
            } catch (const ArgumentError& error) {
                if (has_form(op, form) || error.finding().rule != "WG-FORM-01")
                    FAIL_CHECK(op.name << " " << spelled(form) << ": " << error.what());
                refused(form, error.finding().message);
            }
        }
    }
}

const Instruction& wgmma() { return *isa::find("wgmma.mma_async"); }
const Instruction& sparse_wgmma() { return *isa::find("wgmma.mma_async.sp"); }

/// wgmma has some thousand forms. All types and both places of A are here, with the first, one inner and the
/// last N, and with all immediates at their defaults or all at the other value.
std::vector<Form> sample_of_mma(const Instruction& op) {
    std::vector<Form> out;
    for (const isa::Row& row : op.rows) {
        const std::vector<int> n = row.find(Field::n)->values();
        for (const Form& form : forms_of(row)) {
            if (form.get(Field::n) != n.front() && form.get(Field::n) != n[n.size() / 2] &&
                form.get(Field::n) != n.back())
                continue;
            std::set<bool> defaults;
            for (Field field : {Field::scale_a, Field::scale_b, Field::trans_a, Field::trans_b,
                                Field::satfinite, Field::sp_sel})
                if (form.has(field)) defaults.insert(form.get(field) == row.find(field)->fallback);
            if (defaults.size() < 2) out.push_back(form);
        }
    }
    return out;
}

std::vector<Form> sample(const Instruction& op) {
    return &op == &wgmma() || &op == &sparse_wgmma() ? sample_of_mma(op) : some_forms_of(op);
}

}  // namespace

TEST_CASE("a form with one qualifier changed is another legal one, or refused with a remedy") {
    long refusals = 0;
    for (const Instruction* op : isa::all()) {
        for (const Form& form : sample(*op))
            mutate(*op, form, [&](const Form& refused, const std::string& message) {
                // The remedy is looked at in every tenth message: they are alike.
                if (refusals++ % 10 == 0 && !names_a_remedy(*op, refused, message))
                    FAIL_CHECK(op->name << " " << spelled(refused) << ": " << message);
            });
    }
    std::printf("%ld refused forms\n", refusals);
    CHECK(refusals > 200000);
}

TEST_CASE("a form with one qualifier left out is completed or refused with the choices") {
    for (const Instruction* op : isa::all()) {
        for (const Form& form : sample(*op))
            for (int i = 0; i < isa::field_count; ++i) {
                const auto field = static_cast<Field>(i);
                if (!form.has(field)) continue;
                const Form asked = without(form, field);
                try {
                    const Form completed = isa::resolve(*op, asked);
                    if (!has_form(*op, completed)) FAIL_CHECK(op->name << " " << spelled(completed));
                } catch (const ArgumentError& error) {
                    const std::string text = error.what();
                    if (text.find("needs `") == std::string::npos ||
                        text.find("(legal: ") == std::string::npos)
                        FAIL_CHECK(text);
                }
            }
    }
}

namespace {

/// The text of the illegal form, with as many registers as its rules ask for.
std::string text_of(const Instruction& op, const Form& form) {
    isa::Step step;
    step.op = &op;
    step.form = form;
    step.operands.resize(op.operands.size());
    return isa::expand(op.ptx, step, [&](const Operand&, const OperandRule& rule) -> std::string {
        if (rule.name == "scale_d") return "1";
        if (rule.name == "sp_meta") return "%r0";
        const bool half = form.type(Field::d) == Type::f16;
        const std::string prefix = rule.name == "b" || (rule.name == "a" && form.get(Field::a_in) == 0)
                                       ? "%rd"
                                   : rule.name == "d" && form.type(Field::d) == Type::f32 ? "%f"
                                                                                          : "%r";
        if (prefix == "%rd") return "%rd0";
        // A list without registers is a syntax error, after which ptxas looks no further.
        const int count = rule.name == "a" ? 4 : std::max(1, form.get(Field::n) / (half ? 4 : 2));
        std::string list = "{";
        for (int i = 0; i < count; ++i) list += fmt::format("{}{}{}", i ? "," : "", prefix, i);
        return list + "}";
    });
}

constexpr std::string_view head =
    ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.maxntid 128, 1, 1\n{\n"
    ".reg .f32 %f<256>;\n.reg .b32 %r<256>;\n.reg .b64 %rd<1>;\n";
constexpr int head_lines = 9;

/// Which of the instructions ptxas refuses.
std::set<std::size_t> refused_by_ptxas(const std::vector<std::string>& instructions) {
    std::string text(head);
    for (const std::string& instruction : instructions) text += instruction + ";\n";
    std::set<std::size_t> out;
    try {
        gpu::ptxas_assemble(text + "ret;\n}\n");
    } catch (const gpu::CompileError& error) {
        for (const gpu::AssemblerNote& note : error.log().notes)
            if (note.severity == Severity::error && note.line > head_lines)
                out.insert(static_cast<std::size_t>(note.line - head_lines - 1));
    }
    return out;
}

}  // namespace

TEST_CASE("what resolve refuses of wgmma, ptxas refuses too") {
    if (no_ptxas()) return;
    std::set<std::string> illegal;
    for (const Instruction* op : {&wgmma(), &sparse_wgmma()}) {
        std::set<std::string> legal;
        for (const Form& form : forms_of(*op)) legal.insert(text_of(*op, form));
        for (const Form& form : sample_of_mma(*op)) {
            if (form.get(Field::n) != 8 && form.get(Field::n) != 256) continue;
            mutate(*op, form, [&](const Form& refused, const std::string&) {
                // Qualifiers that wgmma has no place for, and flags that are off, do not show in the text.
                const std::string text = text_of(*op, refused);
                if (!legal.contains(text)) illegal.insert(text);
            });
        }
    }
    const std::vector<std::string> instructions(illegal.begin(), illegal.end());
    std::printf("%zu illegal instructions\n", instructions.size());
    CHECK(instructions.size() > 10000);
    constexpr std::size_t batch = 2000;
    for (std::size_t first = 0; first < instructions.size(); first += batch) {
        const auto from = instructions.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t count = std::min(batch, instructions.size() - first);
        const std::vector<std::string> part(from, from + static_cast<std::ptrdiff_t>(count));
        const std::set<std::size_t> refused = refused_by_ptxas(part);
        for (std::size_t i = 0; i < count; ++i)
            if (!refused.contains(i)) FAIL_CHECK("ptxas takes " << part[i].substr(0, 90));
    }
}

TEST_CASE("what is no opcode is none that ptxas takes") {
    if (no_ptxas()) return;
    constexpr std::size_t step = 60;  // they are alike: all of them are 80,000
    std::size_t forms = 0;
    std::set<std::string> illegal;
    for (const Instruction* op : isa::all()) {
        if (op == &wgmma() || op == &sparse_wgmma()) continue;  // they have a test of their own
        for (const Form& form : some_forms_of(*op)) {
            if (forms++ % step != 0) continue;
            mutate(*op, form, [&](const Form& refused, const std::string&) {
                const std::string text = any_text_of(*op, refused);
                if (ptx::is_no_opcode(ptx::usual_spelling(text.substr(0, text.find(' ')))))
                    illegal.insert(text);
            });
        }
    }
    const std::vector<std::string> texts(illegal.begin(), illegal.end());
    const std::set<std::string> refused = refused_texts(texts);
    std::printf("%zu illegal texts\n", texts.size());
    CHECK(texts.size() > 500);
    for (const std::string& text : texts)
        if (!refused.contains(text)) FAIL_CHECK("ptxas takes " << text);
}
