// Building a program: structure, registers, shared memory. Single steps are completed in step.cpp.
#include <algorithm>

#include <fmt/format.h>

#include "isa/say.hpp"
#include "program/limits.hpp"
#include "program/messages.hpp"
#include "program/step.hpp"
#include "wgrun/program.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

/// A block that is being written.
struct Builder::Open {
    enum class Kind : std::uint8_t { loop_head, loop_body, loop_next, then_body, else_body };
    Kind kind;
    Block* block;
    Loop* loop = nullptr;
    Branch* branch = nullptr;
};

namespace {
constexpr std::uint32_t most_ctas = sm_90a.cluster;

/// As PTX and C++ have them; PTX takes no lone underscore.
bool is_identifier(std::string_view name) {
    return !name.empty() && name.size() <= max_name && name != "_" && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}
/// Refuses `name`, which is no identifier.
[[noreturn]] void refuse_name(const char* what, const std::string& name) {
    if (name.size() > max_name)
        throw ArgumentError(
            fmt::format("a {} name of {} characters: {} at most", what, name.size(), max_name));
    throw ArgumentError(
        fmt::format("{} name `{}`: letters, digits and _ only, not starting with a digit", what, name));
}

/// Refuses a parameter of that type behind those of the program, where it does not fit.
void check_parameter_bytes(const Program& program, const std::string& name, isa::Type type) {
    std::size_t end = 0;
    const auto add = [&](isa::Type added) {
        const bool map = added == isa::Type::tensormap;
        const std::size_t size = map ? 128 : static_cast<std::size_t>(isa::bits(added) / 8);
        const std::size_t align = map ? 64 : size;
        end = (end + align - 1) / align * align + size;
    };
    for (const Param& param : program.params()) add(param.type);
    add(type);
    if (end > max_parameter_bytes)
        throw ArgumentError(
            fmt::format("kernel {}: parameter `{}` is beyond the {} bytes that parameters may have",
                        program.name(), name, max_parameter_bytes),
            "fewer parameters, or a tensor that holds them");
}

void check_depth(const std::string& name, std::size_t open) {
    if (open >= max_block_depth)
        throw ArgumentError(fmt::format("kernel {}: more than {} loops and branches inside each other", name,
                                        max_block_depth));
}

}  // namespace

Builder::Builder(std::string name, int threads, Dim3 cluster, Where where) : where_(where) {
    if (!is_identifier(name)) refuse_name("kernel", name);
    if (threads < 1 || threads > sm_90a.cta_threads)
        throw rules::refusal(rules::WG_FORM_03, fmt::format("kernel {}: threads = {}, a CTA has 1 to {}",
                                                            name, threads, sm_90a.cta_threads));
    const auto legal = [](std::uint32_t extent) { return extent >= 1 && extent <= most_ctas; };
    if (!legal(cluster.x) || !legal(cluster.y) || !legal(cluster.z) || cluster.volume() > most_ctas)
        throw rules::refusal(
            rules::WG_FORM_03,
            fmt::format("kernel {}: a cluster of {} x {} x {} CTAs, 1 to {} in all fit a group of SMs", name,
                        cluster.x, cluster.y, cluster.z, most_ctas));
    program_.name_ = std::move(name);
    program_.threads_ = threads;
    program_.cluster_ = cluster;
    program_.where_ = where;
}

Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

Block& Builder::block() { return open_.empty() ? program_.body_ : *open_.back().block; }

Reg Builder::reg(isa::Type type) {
    const isa::Type declared = isa::register_type(type);
    if (declared == isa::Type::none) throw ArgumentError("a register needs a type");
    if (program_.registers_.size() >= max_registers)
        throw ArgumentError(
            fmt::format("kernel {}: more than {} registers are declared", program_.name_, max_registers));
    program_.registers_.push_back({declared, where_});
    return {static_cast<std::uint32_t>(program_.registers_.size() - 1)};
}

std::vector<Reg> Builder::regs(isa::Type type, std::int64_t count) {
    if (count < 1 || count > 1024)
        throw ArgumentError("an array of " + std::to_string(count) + " registers: 1 to 1024 are possible");
    std::vector<Reg> out;
    for (std::int64_t i = 0; i < count; ++i) out.push_back(reg(type));
    return out;
}

isa::Type Builder::type_of(Reg reg) const {
    if (reg.id >= program_.registers_.size()) throw ArgumentError("a register of another kernel");
    return program_.registers_[reg.id].type;
}

void Builder::check_parameter_name(const std::string& name) const {
    if (!is_identifier(name)) refuse_name("parameter", name);
    for (const Param& other : program_.params_)
        if (other.name == name) throw ArgumentError("two parameters called `" + name + "`");
}

int Builder::param(std::string name, isa::Type type, std::optional<Dtype> pointee, bool constant) {
    check_parameter_name(name);
    check_parameter_bytes(program_, name, type);
    program_.params_.push_back({std::move(name), type, pointee, {}, constant, where_});
    return static_cast<int>(program_.params_.size() - 1);
}

int Builder::tensor_map(std::string name, TensorBox box, bool constant) {
    check_parameter_name(name);
    check_box(box);
    check_parameter_bytes(program_, name, isa::Type::tensormap);
    program_.params_.push_back({std::move(name), isa::Type::tensormap, {}, std::move(box), constant, where_});
    return static_cast<int>(program_.params_.size() - 1);
}

int Builder::shared(std::string name, std::int64_t bytes, std::int64_t align,
                    const std::optional<Tile>& tile) {
    if (name.size() > max_name) refuse_name("buffer", name);
    if (std::ranges::any_of(name, [](char c) { return (c >= 0 && c < ' ') || c == 127; }))
        throw ArgumentError("shared buffer `" + name + "`: a name has no control characters");
    if (bytes < 1) throw ArgumentError("shared memory of " + std::to_string(bytes) + " bytes");
    if (align < 1 || align > 1024 || (align & (align - 1)) != 0)
        throw ArgumentError("alignment " + std::to_string(align) + ": a power of two up to 1024 bytes");
    const std::int64_t used = program_.shared_bytes();
    const std::int64_t offset = (used + align - 1) / align * align;
    if (bytes > max_shared_bytes || offset + bytes > max_shared_bytes) {
        throw rules::refusal(
            rules::WG_FORM_03,
            fmt::format("shared memory: {} bytes on top of {} exceed the {} bytes ({} KiB) of a CTA", bytes,
                        used, max_shared_bytes, max_shared_bytes / 1024),
            "smaller tiles or fewer stages");
    }
    program_.shared_.push_back({std::move(name), offset, bytes, align, tile, where_});
    return static_cast<int>(program_.shared_.size() - 1);
}

const Step& Builder::add(const isa::Instruction& op, isa::Form asked, std::vector<Operand> operands,
                         Reg guard, bool guard_negated) {
    Step step = complete_step(*this, op, asked, std::move(operands));
    if (guard && type_of(guard) != isa::Type::pred)
        throw ArgumentError("guard of " + std::string(op.name) +
                            ": a predicate is expected, not a register of type " +
                            std::string(isa::to_string(type_of(guard))));
    step.guard = guard;
    step.guard_negated = guard_negated;
    step.where = where_;
    return std::get<Step>(block().emplace_back(std::move(step)));
}

void Builder::say(Message::Kind kind, std::string_view format, std::vector<Operand> values,
                  const Operand& condition, Reg guard, bool guard_negated) {
    if (guard && type_of(guard) != isa::Type::pred)
        throw ArgumentError("the guard of a message is a predicate");
    std::vector<Reg> regs;
    std::vector<int> counts;
    Message message{kind, {}, {}, where_};
    for (const Operand& value : values) {
        if (value.kind != Operand::Kind::reg && value.kind != Operand::Kind::list)
            throw ArgumentError("a message has values that are registers, or lists of them");
        if (value.negated)
            throw ArgumentError("a negated predicate cannot be printed", "print the predicate itself");
        const bool list = value.kind == Operand::Kind::list;
        for (Reg reg : list ? value.list : std::vector{value.reg}) {
            message.types.push_back(type_of(reg));
            regs.push_back(reg);
        }
        counts.push_back(list ? static_cast<int>(value.list.size()) : 0);
    }
    message.pieces = parse_format(format, message.types, counts);
    Step step;
    step.op = kind == Message::Kind::print  ? &isa::say::print()
              : kind == Message::Kind::trap ? &isa::say::trap()
                                            : &isa::say::assertion();
    step.form = isa::resolve(*step.op, {});
    if (kind == Message::Kind::assertion) {
        if (condition.kind != Operand::Kind::reg || type_of(condition.reg) != isa::Type::pred)
            throw ArgumentError("the condition of an assertion is a predicate",
                                "x:lt(y), x:eq(y), k:setp_...");
        step.operands.push_back(condition);
    }
    step.operands.push_back(Operand::immediate(static_cast<std::int64_t>(program_.messages_.size())));
    step.operands.push_back(Operand::of(std::move(regs)));
    step.guard = guard;
    step.guard_negated = guard_negated;
    step.where = where_;
    block().reserve(block().size() + 1);
    program_.messages_.push_back(std::move(message));
    block().emplace_back(std::move(step));
}

void Builder::breakpoint() {
    Step step;
    step.op = &isa::say::breakpoint();
    step.form = isa::resolve(*step.op, {});
    step.where = where_;
    block().emplace_back(std::move(step));
}

void Builder::begin_loop() {
    check_depth(program_.name_, open_.size());
    open_.reserve(open_.size() + 1);  // nothing is half opened when memory runs out
    auto loop = std::make_unique<Loop>();
    loop->where = where_;
    Loop* raw = loop.get();
    block().emplace_back(std::move(loop));
    open_.push_back({Open::Kind::loop_head, &raw->head, raw, nullptr});
}

void Builder::loop_condition(Reg condition) {
    if (open_.empty() || open_.back().kind != Open::Kind::loop_head)
        throw ArgumentError("no loop is waiting for its condition");
    if (type_of(condition) != isa::Type::pred) throw ArgumentError("the condition of a loop is a predicate");
    Open& open = open_.back();
    open.loop->condition = condition;
    open.kind = Open::Kind::loop_body;
    open.block = &open.loop->body;
}

void Builder::loop_next() {
    if (open_.empty() || open_.back().kind != Open::Kind::loop_body)
        throw ArgumentError("no body of a loop to end here");
    Open& open = open_.back();
    open.kind = Open::Kind::loop_next;
    open.block = &open.loop->next;
}

void Builder::end_loop() {
    if (open_.empty() ||
        (open_.back().kind != Open::Kind::loop_body && open_.back().kind != Open::Kind::loop_next))
        throw ArgumentError("no loop to end here");
    open_.pop_back();
}

void Builder::begin_if(Reg condition, bool negated) {
    if (type_of(condition) != isa::Type::pred)
        throw ArgumentError("the condition of a branch is a predicate");
    check_depth(program_.name_, open_.size());
    open_.reserve(open_.size() + 1);  // nothing is half opened when memory runs out
    auto branch = std::make_unique<Branch>();
    branch->where = where_;
    branch->condition = condition;
    branch->negated = negated;
    Branch* raw = branch.get();
    block().emplace_back(std::move(branch));
    open_.push_back({Open::Kind::then_body, &raw->then_body, nullptr, raw});
}

void Builder::begin_else() {
    if (open_.empty() || open_.back().kind != Open::Kind::then_body)
        throw ArgumentError("no branch to continue with an else");
    open_.back().kind = Open::Kind::else_body;
    open_.back().block = &open_.back().branch->else_body;
}

void Builder::end_if() {
    if (open_.empty() ||
        (open_.back().kind != Open::Kind::then_body && open_.back().kind != Open::Kind::else_body))
        throw ArgumentError("no branch to end here");
    open_.pop_back();
}

void Builder::leave(Leave::Kind kind) {
    if (kind != Leave::Kind::kernel) {
        const auto around = std::ranges::find_if(open_.rbegin(), open_.rend(),
                                                 [](const Open& open) { return open.loop != nullptr; });
        const bool leaves_iteration = kind == Leave::Kind::iteration;
        if (around == open_.rend())
            throw ArgumentError(leaves_iteration ? "no loop around, whose next iteration could begin"
                                                 : "no loop around that could be left");
        if (leaves_iteration) {
            if (around->kind != Open::Kind::loop_body)
                throw ArgumentError("only the body of a loop can be left for the next iteration");
            around->loop->continues = true;
        }
    }
    block().emplace_back(Leave{kind, where_});
}

Program Builder::finish() {
    if (!open_.empty()) {
        const Open& open = open_.back();
        Diagnostic finding;
        finding.where = open.loop ? open.loop->where : open.branch->where;
        finding.message = "kernel " + program_.name_ + ": a loop or branch is still open";
        throw ArgumentError(std::move(finding));
    }
    std::size_t steps = 0;
    for_each_step(program_.body_, [&](const Step&) { ++steps; });
    if (steps > max_steps)
        throw ArgumentError(
            fmt::format("kernel {} has {} instructions: {} at most", program_.name_, steps, max_steps),
            "k:loop where Lua's own loop unrolls");
    return std::move(program_);
}

}  // namespace wgrun
