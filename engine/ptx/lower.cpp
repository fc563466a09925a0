#include "ptx/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "isa/opaque.hpp"
#include "isa/special.hpp"
#include "ptx/lowering.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::ptx {

Lowering::Lowering(const Module& module, const Function& function, const Head& head, bool whole, Lowered& out)
    : Rewriting(head.program),
      module_(module),
      function_(function),
      out_(out),
      reader_(module),
      refusals_(module),
      symbols_([this](const Symbol& symbol, std::string_view name) {
          const Reg made = reg(symbol.type);
          out_.register_names.resize(made.id + 1);
          out_.register_names.back() = name;
          return made;
      }) {
    file_ = Where::at(module.file, 1).file;
    given_registers_ = std::ranges::any_of(function.directives, [&](const Directive& directive) {
        return module.at(directive.name) == ".maxnreg";
    });
    whole_ = whole;
    for (const auto& [name, symbol] : head.names) symbols_.declare(name, symbol);
}

Program Lowering::run() {
    Frame frame = frame_of(function_);
    body(frame);
    out_.refused = refusals_.take();
    return take_text(where(function_.last > function_.first ? module_.statements[function_.last - 1].text
                                                            : function_.text));
}

Lowering::Frame Lowering::frame_of(const Function& function) {
    // Several copies of a function's labels may not have its names.
    const bool named = &function == &function_;
    return {function,
            Labels(
                module_, function,
                [&](std::string name) { return text().label(named ? std::move(name) : std::string()); },
                [&](Span span, std::string message) { error(span, std::move(message)); }),
            text().label({})};
}

void Lowering::body(Frame& frame) {
    Frame* const outer = std::exchange(frame_, &frame);
    active_.push_back(&frame.function);
    const Function& function = frame.function;
    int scopes = 0;
    for (std::uint32_t i = function.first; i < function.last;) {
        Cancellation::poll();
        const Statement& statement = module_.statements[i];
        switch (statement.kind) {
            case Statement::Kind::open:
                symbols_.open();
                frame.labels.open();
                ++scopes;
                break;
            case Statement::Kind::close:
                if (scopes-- == 0) break;
                symbols_.close();
                frame.labels.close();
                break;
            case Statement::Kind::variable: declare(statement); break;
            case Statement::Kind::label:
                if (const int* label = frame.labels.here(module_.at(statement.name)))
                    text().place(*label, where(statement.text));
                break;
            case Statement::Kind::instruction: i += instruction(i); continue;
            case Statement::Kind::directive: advise(statement); break;
            default: break;
        }
        ++i;
    }
    if (frame.end_used)
        text().place(frame.end,
                     where(function.last > function.first ? module_.statements[function.last - 1].text
                                                          : function.text));
    active_.pop_back();
    frame_ = outer;
}

void Lowering::error(Span span, std::string message) {
    const Where place = where(span);
    const auto told = [&](const Diagnostic& other) {
        return other.where == place && other.message == message;
    };
    if (out_.errors.size() >= most_errors || std::ranges::any_of(out_.errors, told)) return;
    out_.errors.push_back(plain_error(std::move(message), {}, place));
}

/// Adds the instruction, and returns how many statements it is.
std::uint32_t Lowering::instruction(std::uint32_t index) {
    const Statement& statement = module_.statements[index];
    std::string_view opcode = module_.at(statement.name);
    opcode = opcode.substr(0, opcode.find('.'));
    ++out_.instructions;
    Reg guard;
    if (statement.guard) {
        const auto found = symbols_.reg(module_.at(statement.guard));
        if (!found || type_of(*found) != Type::pred) {
            error(statement.guard,
                  fmt::format("no predicate is called `{}` here", module_.at(statement.guard)));
            return 1;
        }
        guard = *found;
    }
    if (opcode == "bra") return jump(statement, guard), 1;
    if (opcode == "brx" && jump_by_index(statement, guard)) return 1;
    if (opcode == "ret" || opcode == "exit") {
        // The last statement of a kernel ends it anyway.
        const bool last = index + 1 == frame_->function.last && active_.size() == 1;
        if (!last || guard) leave(statement, guard);
        return 1;
    }
    if (opcode == "call" && (call(statement, guard) || calls_library(statement, guard))) return 1;
    return plain(index, guard);
}

/// Adds an instruction that neither jumps nor calls, and returns how many statements it is. It is a function
/// of its own, so that calls inside each other take little stack.
[[gnu::noinline]] std::uint32_t Lowering::plain(std::uint32_t index, Reg guard) {
    const Statement& statement = module_.statements[index];
    if (passes(statement, guard)) return 1;
    Reading reading = reader_.read(index, frame_->function.last, *this);
    Step step;
    step.guard = guard;
    step.guard_negated = statement.guard_negated;
    step.where = where(statement.text);
    if (reading.op == nullptr) {
        if (!illegal(statement, step)) unread(statement, step);
    } else {
        out_.instructions += reading.statements - 1;
        step.op = reading.op;
        step.form = reading.form;
        out_.unknown.cluster |= step.op->of_cluster || (step.form.has(isa::Field::sreg) &&
                                                        isa::is_of_cluster(isa::special_of(step.form)));
        step.operands = std::move(reading.operands);
        refusals_.look_at(step, module_.at(statement.name));
    }
    if (counts_registers(step)) return reading.statements;
    prepare(step);
    Step kept = step;  // what it returns and its record does not
    add(std::move(step));
    extend(kept);
    if (!reading.results.empty()) {
        keep_text(statement, reading.results, read_by(statement));
        out_.texts.back().replaces = true;
        kept.op = &isa::opaque(isa::Reach::registers);
        kept.operands = {Operand::of(std::move(reading.results)), Operand::of(std::vector<Reg>())};
        add(std::move(kept));
    }
    return reading.statements;
}

/// With .maxnreg a CTA does not begin with the registers that its threads let expect: what setmaxnreg
/// then makes of them is not followed.
bool Lowering::counts_registers(const Step& step) {
    if (step.op->awaits != isa::Awaits::registers) return false;
    if (!given_registers_ && !out_.unknown.setmaxnreg) out_.unknown.setmaxnreg = step.where;
    if (!given_registers_ || whole_) return false;
    out_.unknown.registers = true;
    return true;
}

/// Returns whether the call is of a function that CUDA provides to every kernel, which synchronises nothing.
bool Lowering::known_to_synchronise_nothing(const Statement& statement) const {
    constexpr std::array<std::string_view, 4> library{"vprintf", "__assertfail", "malloc", "free"};
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next)
        if (module_.nodes[at].kind == Node::Kind::name)
            return std::ranges::find(library, module_.at(module_.nodes[at].text)) != library.end();
    return false;
}

/// Returns whether it reads a special register that no record reads, whose value is unknown: mov.u32 %r1,
/// %envreg2.
bool Lowering::reads_special(const Statement& statement) const {
    if (!module_.at(statement.name).starts_with("mov.") || statement.operands == nothing) return false;
    const std::uint32_t from = module_.nodes[statement.operands].next;
    if (from == nothing || module_.nodes[from].kind != Node::Kind::name) return false;
    const std::string_view name = module_.at(module_.nodes[from].text);
    return name.starts_with('%') && !symbols_.known(name) && isa::is_special(name.substr(1));
}

/// An illegal form of an instruction: it is said so, and what it does is nothing but to write its result.
bool Lowering::illegal(const Statement& statement, Step& step) {
    if (!refusals_.look_at(statement, *this)) return false;
    // An address is read; and of what is read nothing follows.
    std::vector<Reg> written;
    if (statement.operands != nothing) {
        const Node& first = module_.nodes[statement.operands];
        if (first.kind != Node::Kind::address) registers(first, written);
    }
    step.op = &isa::opaque(isa::Reach::anything);
    keep_text(statement, written, {});
    step.operands = {Operand::of(std::move(written)), Operand::of(std::vector<Reg>())};
    return true;
}

/// An instruction without a record. What it writes comes first, unless it writes nothing.
void Lowering::unread(const Statement& statement, Step& step) {
    const std::string opcode = module_.opcode(statement);
    const bool calls = opcode.starts_with("call");
    const bool known = (calls && known_to_synchronise_nothing(statement)) || reads_special(statement);
    if (!known) {
        ++out_.opaque;
        out_.unread[opcode].push_back(module_.line(statement.text.offset));
    }
    out_.unknown.calls |= calls && !known;
    out_.unknown.indirect |= opcode.starts_with("brx");
    bool address = false;
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next)
        address |= module_.nodes[at].kind == Node::Kind::address;
    const isa::OpcodeFacts facts = isa::facts_of(opcode, address);
    std::vector<Reg> written, read;
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next) {
        const Node& node = module_.nodes[at];
        const bool first = at == statement.operands && node.kind != Node::Kind::address;
        registers(node, first && facts.writes ? written : read);
    }
    step.op = &isa::opaque(known && calls ? isa::Reach::memory : facts.reach);
    keep_text(statement, written, read);
    step.operands = {Operand::of(std::move(written)), Operand::of(std::move(read))};
}

/// A .pragma, for who prints the program: some of them change what the assembler makes of a loop.
void Lowering::advise(const Statement& statement) {
    if (!whole_ || !module_.at(statement.text).starts_with(".pragma")) return;
    Step step;
    step.where = where(statement.text);
    step.op = &isa::opaque(isa::Reach::registers);
    step.operands = {Operand::of(std::vector<Reg>()), Operand::of(std::vector<Reg>())};
    std::string text(module_.at(statement.text));
    if (!text.ends_with(';')) text += ';';
    out_.texts.push_back({std::move(text), {}, 0, false});
    add(std::move(step));
}

/// Returns the registers of all operands.
std::vector<Reg> Lowering::read_by(const Statement& statement) {
    std::vector<Reg> out;
    for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next)
        registers(module_.nodes[at], out);
    return out;
}

/// Keeps the text of an instruction without a record, for who prints the program.
void Lowering::keep_text(const Statement& statement, std::vector<Reg> written, std::vector<Reg> read) {
    UnreadText& out = out_.texts.emplace_back();
    for (std::vector<Reg>* const regs : {&written, &read}) {
        std::ranges::sort(*regs, {}, &Reg::id);
        regs->erase(std::unique(regs->begin(), regs->end()), regs->end());
    }
    for (const auto& [regs, is_written] : {std::pair{&written, true}, {&read, false}})
        for (const Reg reg : *regs) {
            if (reg.id >= out_.register_names.size()) continue;
            std::string name = out_.register_names[reg.id];
            if (name.starts_with('%')) name.erase(0, 1);
            out.registers.emplace_back(std::move(name), reg);
            if (is_written) ++out.written;
        }
    // The names, as words of the text, get a %.
    const std::string_view text = module_.at(
        {statement.name.offset, statement.text.offset + statement.text.size - statement.name.offset});
    const auto in_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '$';
    };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && in_word(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const bool named =
            std::ranges::any_of(out.registers, [&](const auto& one) { return one.first == word; });
        if (named && (at == 0 || text[at - 1] != '%')) out.text += '%';
        out.text += word;
        if (end < text.size()) out.text += text[end];
        at = end + 1;
    }
    out.text += ';';
}

/// Collects the registers of an operand, and reports names that nothing declares.
void Lowering::registers(const Node& node, std::vector<Reg>& out) {
    if (node.kind == Node::Kind::name) {
        const std::string_view name = module_.at(node.text);
        if (const auto found = symbols_.reg(name))
            out.push_back(*found);
        else if (const auto found = symbols_.reg(name.substr(0, name.find('.'))))
            out.push_back(*found);
        else if (const std::vector<Reg> vector = components(name); !vector.empty())
            out.insert(out.end(), vector.begin(), vector.end());
        else if (name.starts_with('%') && name.find_first_of("0123456789") != std::string_view::npos &&
                 !symbols_.known(name) && !isa::is_special(name.substr(1)))
            error(node.text, fmt::format("no register is called `{}` here", name));
    }
    for (std::uint32_t at = node.child; at != nothing; at = module_.nodes[at].next)
        registers(module_.nodes[at], out);
}
Lowered lower(const Module& module, const Function& function, const LaunchFacts& facts) {
    Lowered out;
    out.name = module.at(function.name);
    out.where = module.where(function.text);
    const Head head = head_of(module, function, facts, out);
    out.program = Lowering(module, function, head, facts.whole, out).run();
    out.unknown.threads = !head.shape.threads_given;
    out.unknown.cluster &= !head.shape.cluster_given;
    if (head.shape.threads_given) out.unknown.setmaxnreg = {};
    std::ranges::stable_sort(out.errors, {}, [](const Diagnostic& error) { return error.where.line; });
    return out;
}

}  // namespace wgrun::ptx
