#include "ptx/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "isa/opaque.hpp"
#include "program/limits.hpp"
#include "program/rewriting.hpp"
#include "ptx/read.hpp"
#include "ptx/symbols.hpp"

namespace wgrun::ptx {
namespace {

using isa::OperandRule;
using isa::Type;

// --- instructions without a record ---------------------------------------------------------------------

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings, [&](std::string_view b) { return text.starts_with(b); });
}

/// Returns whether the first operand of the instruction is no destination.
bool writes_nothing(std::string_view opcode) {
    return begins_with_any(
               opcode,
               {"st.",          "st ",           "red",           "bar",          "membar",    "fence",
                "cp.",          "prefetch",      "trap",          "brkpt",        "nanosleep", "pmevent",
                "discard",      "applypriority", "wgmma",         "tensormap",    "brx",       "sust",
                "sured",        "setmaxnreg",    "griddep",       "stackrestore", "call",      "multimem.st",
                "multimem.red", "mbarrier.init", "mbarrier.inval"}) &&
           !begins_with_any(opcode, {"barrier.cta.red", "barrier.red", "bar.red", "redux"});
}

/// Returns what an instruction without a record may do. `address`: it has an operand in brackets.
isa::Reach reach_of(std::string_view opcode, bool address) {
    // Parameters and local memory are nobody else's.
    if (begins_with_any(opcode, {"ld.param", "st.param", "ld.local", "st.local", "ld.const", "nanosleep",
                                 "cvta", "prefetch", "pmevent", "isspacep", "activemask"}))
        return isa::Reach::registers;
    if (begins_with_any(opcode,
                        {"ld", "st.", "atom", "red.", "multimem.", "tex", "tld4", "suld", "sust", "sured"}) &&
        !begins_with_any(opcode, {"st.async", "red.async", "st.bulk"}))
        return isa::Reach::memory;
    const bool meets =
        begins_with_any(opcode, {"vote", "shfl", "match", "elect", "redux", "mma", "wmma", "ldmatrix"});
    if (meets) return isa::Reach::registers;
    return address || writes_nothing(opcode) || opcode.starts_with("mbarrier") || opcode.starts_with("bar")
               ? isa::Reach::anything
               : isa::Reach::registers;
}

// --- the head of an entry ------------------------------------------------------------------------------

struct Shape {
    Dim3 block{128, 1, 1};
    Dim3 cluster;
    bool threads_given = false, cluster_given = false;
};

Shape shape_of(const Module& module, const Function& function, const LaunchFacts& facts) {
    Shape out;
    const auto extent = [](const Directive& directive, std::size_t i) {
        return i < directive.numbers.size() ? std::clamp<std::int64_t>(directive.numbers[i], 1, 1 << 20) : 1;
    };
    for (const Directive& directive : function.directives) {
        const std::string_view name = module.at(directive.name);
        const std::int64_t x = extent(directive, 0), y = extent(directive, 1), z = extent(directive, 2);
        if (name == ".reqntid" || name == ".maxntid") {
            constexpr std::int64_t most_layers = 64;
            if (x * y * z > sm_90a.cta_threads || z > most_layers) continue;
            out.block = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                         static_cast<std::uint32_t>(z)};
            out.threads_given = true;
        } else if (name == ".reqnctapercluster" && x * y * z <= sm_90a.cluster) {
            out.cluster = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                           static_cast<std::uint32_t>(z)};
            out.cluster_given = true;
        }
    }
    if (facts.block) out.block = *facts.block;
    if (facts.cluster) out.cluster = *facts.cluster;
    out.threads_given |= facts.block.has_value();
    out.cluster_given |= facts.cluster.has_value();
    return out;
}

bool is_identifier(std::string_view name) {
    return !name.empty() && name.size() <= max_name && name != "_" && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

Type declared_type(const Module& module, const Variable& variable) {
    std::string_view text = module.at(variable.type);
    text.remove_prefix(1);
    return isa::parse_type(text).value_or(Type::none);
}

/// Bytes of a variable; -1: an array without an extent.
std::int64_t bytes_of(const Module& module, const Variable& variable) {
    const Type type = declared_type(module, variable);
    std::int64_t bytes = std::max(1, isa::bits(type) / 8);
    if (variable.vector) bytes *= module.at(variable.vector)[2] - '0';
    for (const std::int64_t extent : variable.extents) {
        if (extent < 0) return -1;
        if (extent > max_shared_bytes || bytes > max_shared_bytes) return max_shared_bytes + 1;
        bytes *= extent;
    }
    return bytes;
}

// --- the body ------------------------------------------------------------------------------------------

/// The program that has no blocks yet, and what its names stand for.
struct Head {
    Program program;
    std::vector<std::pair<std::string_view, Symbol>> names;
    Shape shape;
};

class Lowering final : private Rewriting, private Names {
  public:
    Lowering(const Module& module, const Function& function, const Head& head, Lowered& out)
        : Rewriting(head.program),
          module_(module),
          function_(function),
          out_(out),
          reader_(module),
          symbols_([this](const Symbol& symbol) { return reg(symbol.type); }) {
        file_ = Where::at(module.file, 1).file;
        given_registers_ = std::ranges::any_of(function.directives, [&](const Directive& directive) {
            return module.at(directive.name) == ".maxnreg";
        });
        for (const auto& [name, symbol] : head.names) symbols_.declare(name, symbol);
    }

    Program run() {
        find_labels();
        end_label_ = text().label({});
        std::uint32_t scopes = 0;
        std::vector<std::uint32_t> open{0};
        for (std::uint32_t i = function_.first; i < function_.last;) {
            const Statement& statement = module_.statements[i];
            switch (statement.kind) {
                case Statement::Kind::open:
                    symbols_.open();
                    open.push_back(++scopes);
                    break;
                case Statement::Kind::close:
                    symbols_.close();
                    open.pop_back();
                    break;
                case Statement::Kind::variable: declare(statement); break;
                case Statement::Kind::label: place(open.back(), statement); break;
                case Statement::Kind::instruction:
                    scope_ = open.back();
                    i += instruction(i);
                    continue;
                default: break;
            }
            ++i;
        }
        const Where end = where(function_.last > function_.first ? module_.statements[function_.last - 1].text
                                                                 : function_.text);
        if (end_used_) text().place(end_label_, end);
        return take_text(end);
    }

  private:
    Where where(Span span) const { return {file_, module_.line(span.offset)}; }

    void error(Span span, std::string message) {
        const Where place = where(span);
        const auto told = [&](const Diagnostic& other) {
            return other.where == place && other.message == message;
        };
        constexpr std::size_t most = 100;
        if (out_.errors.size() >= most || std::ranges::any_of(out_.errors, told)) return;
        Diagnostic finding;
        finding.where = place;
        finding.message = std::move(message);
        out_.errors.push_back(std::move(finding));
    }

    // --- names ---

    Operand find(std::string_view name, std::int64_t added) override {
        if (const auto found = symbols_.reg(name)) return Operand::of(*found);
        const Symbol* symbol = symbols_.find(name);
        if (symbol == nullptr) return {};
        if (symbol->kind == Symbol::Kind::parameter && symbol->index >= 0) {
            Operand param = Operand::param(symbol->index);
            param.offset = added;
            return param;
        }
        if (symbol->kind == Symbol::Kind::shared) return shared(*symbol, symbol->offset + added);
        if (symbol->kind == Symbol::Kind::local) return Operand::immediate(symbol->offset + added);
        return {};
    }
    Type type_of(Reg reg) const override { return Rewriting::type_of(reg); }
    Reg constant(std::int64_t bits, Type type) override {
        constants_.push_back({reg(type), bits});
        return constants_.back().reg;
    }

    Reg low_half(Reg wide) override {
        halves_.push_back({reg(Type::u32), wide});
        return halves_.back().reg;
    }

    /// Writes the constants in the lists of a step, and the low halves of its addresses, to their registers.
    void prepare(const Step& step) {
        const isa::Form narrow =
            isa::Form().set(isa::Field::type, Type::u32).set(isa::Field::from, Type::u64);
        for (const Half& half : halves_)
            for (const Operand& operand : step.operands)
                if (operand.kind == Operand::Kind::address && operand.reg == half.reg)
                    add(made(*isa::find("cvt"), narrow, {Operand::of(half.reg), Operand::of(half.wide)},
                             step.where));
        halves_.clear();
        for (const Constant& constant : constants_)
            for (const Operand& operand : step.operands)
                if (std::ranges::find(operand.list, constant.reg) != operand.list.end())
                    add(made(*isa::find("mov"), isa::Form().set(isa::Field::type, type_of(constant.reg)),
                             {Operand::of(constant.reg), Operand::immediate(constant.bits)}, step.where));
        constants_.clear();
    }

    /// Returns the buffer that the byte of a variable lies in. The dynamic memory of wgrun's own texts has
    /// several.
    Operand shared(const Symbol& symbol, std::int64_t offset) const {
        const std::vector<SharedBuffer>& buffers = from().shared();
        const auto index = static_cast<std::size_t>(symbol.index);
        const std::int64_t at = buffers[index].offset + offset;
        for (std::size_t i = index; i < buffers.size(); ++i)
            if (at >= buffers[i].offset && at < buffers[i].offset + buffers[i].bytes)
                return Operand::shared(static_cast<int>(i), at - buffers[i].offset);
        return Operand::shared(symbol.index, offset);
    }

    void declare(const Statement& statement) {
        for (std::uint32_t i = 0; i < statement.count; ++i) {
            const Variable& variable = module_.variables[statement.index + i];
            if (module_.at(variable.space) == ".shared") continue;  // they are in the head
            Symbol symbol;
            if (module_.at(variable.space) == ".reg") {
                symbol.kind = Symbol::Kind::registers;
                symbol.type = declared_type(module_, variable);
                symbol.counted = variable.counted;
                symbol.count = variable.count;
                if (isa::register_type(symbol.type) == Type::none || variable.vector)
                    symbol.kind = Symbol::Kind::other;
            }
            if (const std::int64_t bytes = bytes_of(module_, variable);
                module_.at(variable.space) == ".local" && bytes > 0) {
                symbol.kind = Symbol::Kind::local;
                symbol.offset = local(bytes, std::max<std::int64_t>(variable.align, 1));
            }
            symbols_.declare(module_.at(variable.name), symbol);
        }
    }

    // --- labels ---

    /// Calls visit(statement, scope) for each statement. Scopes are numbered in the order in which they open.
    template <class Visit>
    void for_each_statement(Visit visit) {
        std::uint32_t scopes = 0;
        std::vector<std::uint32_t> open{0};
        for (std::uint32_t i = function_.first; i < function_.last; ++i) {
            const Statement& statement = module_.statements[i];
            if (statement.kind == Statement::Kind::open) open.push_back(++scopes);
            if (statement.kind == Statement::Kind::close && open.size() > 1) open.pop_back();
            visit(statement, open);
        }
    }

    /// Finds the labels, which belong to the scope that they stand in, and those that are jumped to: others
    /// are for a debugger, and divide no blocks.
    void find_labels() {
        for_each_statement([&](const Statement& statement, const std::vector<std::uint32_t>& open) {
            if (statement.kind == Statement::Kind::open) parents_.push_back(open[open.size() - 2]);
            if (statement.kind != Statement::Kind::label) return;
            const std::string_view name = module_.at(statement.name);
            if (!labels_.try_emplace({open.back(), name}, not_a_target).second)
                error(statement.name, fmt::format("the label `{}` is here twice", name));
        });
        for_each_statement([&](const Statement& statement, const std::vector<std::uint32_t>& open) {
            if (statement.kind != Statement::Kind::instruction || statement.operands == nothing) return;
            if (!module_.at(statement.name).starts_with("bra")) return;
            int* label = label_in(open.back(), module_.at(module_.nodes[statement.operands].text));
            if (label == nullptr || *label != not_a_target) return;
            // Names of inner scopes are used again and again.
            const std::string_view name = module_.at(module_.nodes[statement.operands].text);
            const bool outer = label == label_in(0, name) && name.size() <= max_name;
            *label = text().label(outer ? std::string(name) : std::string());
        });
    }

    /// Returns the label that a jump in the scope means; null: there is none.
    int* label_in(std::uint32_t scope, std::string_view name) {
        for (;; scope = parents_[scope]) {
            const auto found = labels_.find({scope, name});
            if (found != labels_.end()) return &found->second;
            if (scope == 0) return nullptr;
        }
    }

    void place(std::uint32_t scope, const Statement& statement) {
        int& label = labels_.at({scope, module_.at(statement.name)});
        if (label < 0) return;
        text().place(label, where(statement.text));
        label = -label - 2;
    }

    // --- instructions ---

    /// Adds the instruction, and returns how many statements it is.
    std::uint32_t instruction(std::uint32_t index) {
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
        out_.unknown.cluster |= begins_with_any(module_.at(statement.name), {"barrier.cluster", "mapa"});
        if (opcode == "bra") return jump(statement, guard);
        if (opcode == "ret" || opcode == "exit")
            return index + 1 == function_.last && !guard ? 1 : leave(statement, guard);
        Reading reading = reader_.read(index, function_.last, *this);
        Step step;
        step.guard = guard;
        step.guard_negated = statement.guard_negated;
        step.where = where(statement.text);
        if (reading.op == nullptr) {
            unread(statement, step);
        } else {
            out_.instructions += reading.statements - 1;
            step.op = reading.op;
            step.form = reading.form;
            step.operands = std::move(reading.operands);
        }
        if (counts_registers(step)) return reading.statements;
        prepare(step);
        Step kept = step;  // what it returns and its record does not
        add(std::move(step));
        if (!reading.results.empty()) {
            kept.op = &isa::opaque(isa::Reach::registers);
            kept.operands = {Operand::of(std::move(reading.results)), Operand::of(std::vector<Reg>())};
            add(std::move(kept));
        }
        return reading.statements;
    }

    /// With .maxnreg a CTA does not begin with the registers that its threads let expect: what setmaxnreg
    /// then makes of them is not followed.
    bool counts_registers(const Step& step) {
        if (step.op->awaits != isa::Awaits::registers) return false;
        if (!given_registers_ && !out_.unknown.setmaxnreg) out_.unknown.setmaxnreg = step.where;
        if (!given_registers_) return false;
        out_.unknown.registers = true;
        return true;
    }

    std::uint32_t jump(const Statement& statement, Reg guard) {
        const Node* target = statement.operands == nothing ? nullptr : &module_.nodes[statement.operands];
        const int* to = target == nullptr ? nullptr : label_in(scope_, module_.at(target->text));
        if (to == nullptr)
            error(statement.text,
                  target == nullptr ? "a branch without a label"
                                    : fmt::format("no label is called `{}` here", module_.at(target->text)));
        else
            text().jump(*to >= 0 ? *to : -*to - 2, guard, statement.guard_negated, where(statement.text));
        return 1;
    }

    std::uint32_t leave(const Statement& statement, Reg guard) {
        if (!guard) {
            text().leave(Leave::kernel, where(statement.text));
        } else {
            text().jump(end_label_, guard, statement.guard_negated, where(statement.text));
            end_used_ = true;
        }
        return 1;
    }

    /// An instruction without a record. What it writes comes first, unless it writes nothing.
    void unread(const Statement& statement, Step& step) {
        const std::string opcode = module_.opcode(statement);
        ++out_.opaque;
        out_.unread[opcode].push_back(module_.line(statement.text.offset));
        out_.unknown.calls |= opcode.starts_with("call");
        out_.unknown.indirect |= opcode.starts_with("brx");
        std::vector<Reg> written, read;
        bool address = false;
        for (std::uint32_t at = statement.operands; at != nothing; at = module_.nodes[at].next) {
            const Node& node = module_.nodes[at];
            const bool first = at == statement.operands && node.kind != Node::Kind::address;
            address |= node.kind == Node::Kind::address;
            registers(node, first && !writes_nothing(opcode) ? written : read);
        }
        step.op = &isa::opaque(reach_of(opcode, address));
        step.operands = {Operand::of(std::move(written)), Operand::of(std::move(read))};
    }

    /// Collects the registers of an operand, and reports names that nothing declares.
    void registers(const Node& node, std::vector<Reg>& out) {
        if (node.kind == Node::Kind::name) {
            const std::string_view name = module_.at(node.text);
            if (const auto found = symbols_.reg(name))
                out.push_back(*found);
            else if (const auto found = symbols_.reg(name.substr(0, name.find('.'))))
                out.push_back(*found);
            else if (name.starts_with('%') && name.find_first_of("0123456789") != std::string_view::npos &&
                     symbols_.find(name) == nullptr && !isa::parse_value(isa::Field::sreg, name.substr(1)) &&
                     !is_special(name))
                error(node.text, fmt::format("no register is called `{}` here", name));
        }
        for (std::uint32_t at = node.child; at != nothing; at = module_.nodes[at].next)
            registers(module_.nodes[at], out);
    }
    static bool is_special(std::string_view name) {
        return begins_with_any(name,
                               {"%clock", "%globaltimer", "%envreg", "%pm", "%reserved_smem", "%lanemask"});
    }

    const Module& module_;
    const Function& function_;
    Lowered& out_;
    Reader reader_;
    Symbols symbols_;
    struct Constant {
        Reg reg;
        std::int64_t bits;
    };
    struct Half {
        Reg reg, wide;
    };
    std::vector<Half> halves_;         ///< addresses of 64 bits that the instruction at hand may take
    std::vector<Constant> constants_;  ///< that the instruction at hand may need in registers
    std::string_view file_;
    std::uint32_t scope_ = 0;                ///< the current one
    std::vector<std::uint32_t> parents_{0};  ///< by scope: the one around it
    static constexpr int not_a_target = -1;
    /// By scope and name; after its place, label n is -n - 2.
    std::map<std::pair<std::uint32_t, std::string_view>, int> labels_;
    bool given_registers_ = false;  ///< .maxnreg
    int end_label_ = 0;
    bool end_used_ = false;
};

/// Adds the buffers that a text of wgrun's own names in comments, "// wgrun_shared+0: a, 8192 bytes". Returns
/// whether there are any.
bool name_buffers(const Module& module, const Function& function, std::string_view array, std::int64_t align,
                  Builder& builder) {
    const std::string mark = fmt::format("// {}+", array);
    const std::string& text = module.text();
    const std::size_t end =
        function.last > function.first ? module.statements[function.last - 1].text.offset : text.size();
    bool any = false;
    for (std::size_t at = text.find(mark, function.text.offset); at < end; at = text.find(mark, at + 1)) {
        const std::string_view line = module.line_text(module.line(static_cast<std::uint32_t>(at)));
        const std::string_view rest = line.substr(line.find(mark) + mark.size());
        const std::size_t colon = rest.find(": "), comma = rest.rfind(", ");
        if (colon == std::string_view::npos || comma == std::string_view::npos || comma < colon) continue;
        std::int64_t offset = -1, bytes = 0;
        std::from_chars(rest.data(), rest.data() + colon, offset);
        std::from_chars(rest.data() + comma + 2, rest.data() + rest.size(), bytes);
        if (offset < 0) continue;
        // The offset tells the alignment, as far as it is known.
        std::int64_t its = align;
        while (its > 1 && offset % its != 0) its /= 2;
        try {
            builder.shared(std::string(rest.substr(colon + 2, comma - colon - 2)), bytes, its, {});
        } catch (const ArgumentError&) {  // a comment that only looks like one of wgrun's
            return any;
        }
        any = true;
    }
    return any;
}

class HeadMaker {
  public:
    HeadMaker(const Module& module, const Function& function, const LaunchFacts& facts, Lowered& out)
        : module_(module),
          function_(function),
          facts_(facts),
          out_(out),
          shape_(shape_of(module, function, facts)),
          builder_(is_identifier(out.name) ? out.name : "kernel", shape_.block, shape_.cluster, out.where) {}

    Head run() {
        parameters();
        shared();
        return {builder_.finish(), std::move(names_), shape_};
    }

  private:
    void parameters() {
        constexpr std::string_view prefix = "param_";
        for (std::size_t i = 0; i < function_.params.size(); ++i) {
            const Variable& variable = function_.params[i];
            Type type = declared_type(module_, variable);
            const LaunchFacts::Passed& passed = i < facts_.params.size() ? facts_.params[i] : nothing_passed_;
            const bool map = variable.array && bytes_of(module_, variable) == 128 && !passed.structure &&
                             (variable.align >= 64 || passed.box.has_value());
            if (map) type = Type::tensormap;
            Symbol symbol;
            symbol.kind = Symbol::Kind::parameter;
            std::string_view name = module_.at(variable.name);
            if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
            if (variable.array || type != Type::none) {
                try {
                    std::string known = is_identifier(name) ? std::string(name) : fmt::format("p{}", i);
                    if (map && passed.box)
                        symbol.index = builder_.tensor_map(std::move(known), *passed.box, false);
                    else if (variable.array && !map)
                        symbol.index = builder_.structure(std::move(known), bytes_of(module_, variable),
                                                          std::max<std::int64_t>(variable.align, 1));
                    else
                        symbol.index = builder_.param(std::move(known), type, pointee(type, passed));
                } catch (const ArgumentError&) {  // more of them than wgrun's own kernels may have
                    symbol.index = -1;
                }
            }
            names_.emplace_back(module_.at(variable.name), symbol);
        }
    }

    /// Only an integer as wide as an address can be a pointer.
    static std::optional<Dtype> pointee(Type type, const LaunchFacts::Passed& passed) {
        const bool wide = type != Type::tensormap && isa::bits(type) == 64 && !isa::is_float(type);
        return wide ? passed.pointee : std::nullopt;
    }

    /// The variables in shared memory: those with a size one after the other, then the dynamic memory, where
    /// all arrays without a size begin.
    void shared() {
        std::vector<const Variable*> open;
        const auto visit = [&](const Variable& variable) {
            if (module_.at(variable.space) != ".shared") {
                names_.emplace_back(module_.at(variable.name), Symbol{});
                return;
            }
            const std::int64_t bytes = bytes_of(module_, variable);
            if (bytes < 0) {
                open.push_back(&variable);
                return;
            }
            add(std::string(module_.at(variable.name)), variable, std::max<std::int64_t>(bytes, 1));
        };
        for (const Item& item : module_.items)
            if (item.kind == Item::Kind::variable) visit(module_.variables[item.index]);
        for (std::uint32_t i = function_.first; i < function_.last; ++i) {
            const Statement& statement = module_.statements[i];
            if (statement.kind != Statement::Kind::variable) continue;
            for (std::uint32_t j = 0; j < statement.count; ++j)
                if (const Variable& variable = module_.variables[statement.index + j];
                    module_.at(variable.space) == ".shared")
                    visit(variable);
        }
        if (open.empty()) return;
        std::int64_t align = 16;
        for (const Variable* variable : open) align = std::max(align, variable->align);
        align = std::min<std::int64_t>(align, 1024);
        builder_.at(module_.where(open.front()->name));
        if (!name_buffers(module_, function_, module_.at(open.front()->name), align, builder_)) {
            const std::int64_t left = max_shared_bytes - (used_ + align - 1) / align * align;
            if (left <= 0) return;
            // An array that is declared has an address, also where it is empty.
            const std::int64_t bytes = std::max<std::int64_t>(facts_.dynamic_shared.value_or(left), 1);
            builder_.shared("shared", bytes, align, {});
        }
        Symbol symbol;
        symbol.kind = Symbol::Kind::shared;
        symbol.index = buffers_;
        for (const Variable* variable : open) names_.emplace_back(module_.at(variable->name), symbol);
    }

    void add(std::string name, const Variable& variable, std::int64_t bytes) {
        Symbol symbol;
        if (name.size() > 64) name = name.substr(0, 61) + "...";
        try {
            const std::int64_t align = std::clamp<std::int64_t>(variable.align, 1, 1024);
            builder_.at(module_.where(variable.name));
            symbol.index = builder_.shared(std::move(name), bytes, align, {});
            symbol.kind = Symbol::Kind::shared;
            used_ = builder_.shared_buffer(symbol.index).offset + bytes;
            ++buffers_;
        } catch (const ArgumentError& error) {  // more than a CTA has
            Diagnostic finding = error.finding();
            finding.where = out_.where;
            out_.errors.push_back(std::move(finding));
        }
        names_.emplace_back(module_.at(variable.name), symbol);
    }

    const Module& module_;
    const Function& function_;
    const LaunchFacts& facts_;
    const LaunchFacts::Passed nothing_passed_{};
    Lowered& out_;
    Shape shape_;
    Builder builder_;
    int buffers_ = 0;        ///< variables with a size
    std::int64_t used_ = 0;  ///< bytes up to the end of the last of them
    std::vector<std::pair<std::string_view, Symbol>> names_;
};

}  // namespace

Lowered lower(const Module& module, const Function& function, const LaunchFacts& facts) {
    Lowered out;
    out.name = module.at(function.name);
    out.where = module.where(function.text);
    const Head head = HeadMaker(module, function, facts, out).run();
    out.program = Lowering(module, function, head, out).run();
    out.unknown.threads = !head.shape.threads_given;
    out.unknown.cluster &= !head.shape.cluster_given;
    if (head.shape.threads_given) out.unknown.setmaxnreg = {};
    std::ranges::stable_sort(out.errors, {}, [](const Diagnostic& error) { return error.where.line; });
    return out;
}

std::vector<Where> sources_of(const Module& module, int line) {
    // The last .loc before the line, in its function.
    const Location* last = nullptr;
    for (const Function& function : module.functions) {
        if (!function.body || module.line(function.text.offset) > line) continue;
        last = nullptr;
        for (std::uint32_t i = function.first; i < function.last; ++i) {
            const Statement& statement = module.statements[i];
            if (module.line(statement.text.offset) > line) break;
            if (statement.kind == Statement::Kind::location) last = &module.locations[statement.index];
        }
    }
    std::vector<Where> out;
    constexpr std::size_t deepest = 8;
    while (last != nullptr && last->line > 0 && out.size() < deepest) {
        const std::string_view file = module.source(last->file);
        if (file.empty()) break;
        out.push_back(Where::at(file, last->line));
        if (last->at_line == 0) break;
        // The call may itself be in a function that was inlined: then a .loc for it says where.
        const Location at{last->at_file, last->at_line, last->at_column};
        const auto outer = std::ranges::find_if(module.locations, [&](const Location& other) {
            return other.file == at.file && other.line == at.line && other.column == at.column &&
                   other.at_line != 0;
        });
        if (outer != module.locations.end()) {
            last = &*outer;
            continue;
        }
        if (const std::string_view call = module.source(at.file); !call.empty())
            out.push_back(Where::at(call, at.line));
        break;
    }
    return out;
}

}  // namespace wgrun::ptx
