// Building a program: structure, registers, shared memory. step.cpp completes single steps.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "isa/device_print.hpp"
#include "program/constructs.hpp"
#include "program/limits.hpp"
#include "program/messages.hpp"
#include "program/step.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/program.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

namespace {
constexpr std::uint32_t most_ctas = sm_90a.cluster;

/// Returns whether `name` is an identifier in PTX and C++; PTX takes no lone underscore.
bool is_identifier(std::string_view name) {
    return !name.empty() && name.size() <= max_name && name != "_" && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}
/// Throws ArgumentError for `name`, which is no identifier.
[[noreturn]] void refuse_name(const char* what, const std::string& name) {
    if (name.size() > max_name)
        throw ArgumentError(
            fmt::format("a {} name of {}: {} at most", what, count_of(name.size(), "character"), max_name));
    throw ArgumentError(
        fmt::format("{} name `{}`: letters, digits and _ only, not starting with a digit", what, name));
}

/// Throws ArgumentError if the parameter does not fit after those of the program.
void check_parameter_bytes(const Program& program, const Param& param) {
    const std::int64_t used = program.param_offset(static_cast<int>(program.params().size()));
    const std::int64_t end = (used + param.align() - 1) / param.align() * param.align() + param.bytes();
    if (std::cmp_greater(end, max_parameter_bytes))
        throw ArgumentError(
            fmt::format("kernel {}: parameter `{}` is beyond the {} bytes that parameters may have",
                        program.name(), param.name, max_parameter_bytes),
            "fewer parameters, or a tensor that holds them");
}

/// Returns the threads of a CTA of these extents. Throws ArgumentError for more than a CTA has.
int threads_of(const std::string& name, Dim3 block) {
    constexpr std::uint32_t most = sm_90a.cta_threads, most_layers = sm_90a.cta_layers;
    if (block.y == 1 && block.z == 1) return static_cast<int>(std::min<std::uint32_t>(block.x, INT32_MAX));
    const auto fits = [](std::uint32_t extent, std::uint32_t limit) {
        return extent >= 1 && extent <= limit;
    };
    if (!fits(block.x, most) || !fits(block.y, most) || !fits(block.z, most_layers) || block.volume() > most)
        throw rules::refusal(
            rules::WG_FORM_03,
            fmt::format("kernel {}: threads = {{{}, {}, {}}}: {}, {} and {} at most, and {} in all", name,
                        block.x, block.y, block.z, most, most, most_layers, most));
    return static_cast<int>(block.volume());
}

void check_depth(const std::string& name, std::size_t open) {
    if (open >= max_block_depth)
        throw ArgumentError(fmt::format("kernel {}: more than {} loops and branches inside each other", name,
                                        max_block_depth));
}

}  // namespace

Builder::Builder(std::string name, int threads, Dim3 cluster, Where where)
    : where_(where), constructs_(std::make_unique<Constructs>()) {
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
    program_.block_ = {static_cast<std::uint32_t>(threads), 1, 1};
    program_.cluster_ = cluster;
    program_.where_ = where;
}

Builder::Builder(const std::string& name, Dim3 block, Dim3 cluster, Where where)
    : Builder(name, threads_of(name, block), cluster, where) {
    program_.block_ = block;
}

void Builder::only_grid(Dim3 grid) {
    const Dim3 cluster = program_.cluster_;
    if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        throw rules::refusal(
            rules::WG_FORM_04,
            fmt::format("kernel {}: a grid of {} x {} x {} is no whole number of clusters of {} x {} x {}",
                        program_.name_, grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    program_.grid_ = grid;
}

Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

BasicBlock& Builder::block() { return constructs_->here(); }

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

int Builder::add(Param param) {
    check_parameter_name(param.name);
    check_parameter_bytes(program_, param);
    program_.params_.push_back(std::move(param));
    return static_cast<int>(program_.params_.size() - 1);
}

int Builder::param(std::string name, isa::Type type, std::optional<Dtype> pointee, bool constant) {
    return add({std::move(name), type, pointee, {}, constant, where_});
}

int Builder::any_param(std::string name) {
    Param param{std::move(name), isa::Type::u64, {}, {}, false, where_};
    param.any = true;
    return add(std::move(param));
}

int Builder::integer_param(std::string name, isa::Type type) {
    Param param{std::move(name), type, {}, {}, false, where_};
    param.either_sign = true;
    return add(std::move(param));
}

void Builder::at_least(int index, std::int64_t least) {
    Param& param = program_.params_[static_cast<std::size_t>(index)];
    if (param.pointee || isa::is_float(param.type))
        throw ArgumentError(
            fmt::format("parameter `{}`: an integer has a least number, and it is none", param.name));
    const int width = isa::bits(param.type) - (isa::is_signed(param.type) ? 1 : 0);
    const std::int64_t most = width >= 63 ? INT64_MAX : (std::int64_t{1} << width) - 1;
    if (least < 1 || least > most)
        throw ArgumentError(
            fmt::format("parameter `{}`: the least number is {}, must be 1..{}", param.name, least, most));
    param.least = least;
}

int Builder::tensor_map(std::string name, std::int64_t align) {
    constexpr std::int64_t least = sm_90a.tensor_maps.align, most = 2 * least;
    if (align != least && align != most)
        throw ArgumentError(fmt::format("parameter `{}`: a tensor map is aligned to {} or {} bytes, not {}",
                                        name, least, most, align));
    return add({std::move(name), isa::Type::tensormap, {}, {}, false, where_, 0, align});
}

int Builder::structure(std::string name, std::int64_t bytes, std::int64_t align) {
    constexpr std::int64_t widest = 128;
    if (bytes < 1 || std::cmp_greater(bytes, max_parameter_bytes))
        throw ArgumentError(fmt::format("parameter `{}`: a structure of {}: 1 to {} are possible", name,
                                        count_of(bytes, "byte"), max_parameter_bytes));
    if (align < 1 || align > widest || (align & (align - 1)) != 0)
        throw ArgumentError(fmt::format("parameter `{}`: alignment {}: a power of two up to {}", name, align,
                                        count_of(widest, "byte")));
    return add({std::move(name), isa::Type::b8, {}, {}, true, where_, bytes, align});
}

int Builder::tensor_map(std::string name, TensorBox box, bool constant, std::int64_t align) {
    check_parameter_name(name);
    check_box(box);
    const int index = tensor_map(std::move(name), align);
    Param& param = program_.params_[static_cast<std::size_t>(index)];
    param.box = std::move(box);
    param.constant = constant;
    return index;
}

int Builder::shared(std::string name, std::int64_t bytes, std::int64_t align,
                    const std::optional<Tile>& tile) {
    if (name.size() > max_name) refuse_name("buffer", name);
    if (std::ranges::any_of(name, [](char c) { return (c >= 0 && c < ' ') || c == 127; }))
        throw ArgumentError("shared buffer `" + name + "`: a name has no control characters");
    if (bytes < 1) throw ArgumentError("shared memory of " + std::to_string(bytes) + " bytes");
    if (align < 1 || align > max_shared_align || (align & (align - 1)) != 0)
        throw ArgumentError(
            fmt::format("alignment {}: a power of two up to {} bytes", align, max_shared_align));
    const std::int64_t used = program_.shared_bytes();
    const std::int64_t offset = (used + align - 1) / align * align;
    if (bytes > max_shared_bytes || offset + bytes > max_shared_bytes) {
        throw rules::refusal(
            rules::WG_FORM_03,
            fmt::format("shared memory: {} on top of {} exceed the {} bytes ({} KiB) of a CTA",
                        count_of(bytes, "byte"), used, max_shared_bytes, max_shared_bytes / 1024),
            "smaller tiles or fewer stages");
    }
    program_.shared_.push_back({std::move(name), offset, bytes, align, tile, where_});
    return static_cast<int>(program_.shared_.size() - 1);
}

std::int64_t Builder::local(std::int64_t bytes, std::int64_t align) {
    constexpr std::int64_t most = 512 << 10;  // a thread's (CUDA programming guide, compute capability 9.0)
    constexpr std::int64_t most_align = 128;
    if (bytes < 1) throw ArgumentError(fmt::format("local memory of {}", count_of(bytes, "byte")));
    if (align < 1 || align > most_align || (align & (align - 1)) != 0)
        throw ArgumentError(fmt::format("alignment {}: a power of two up to {} bytes", align, most_align));
    const std::int64_t used = program_.local_bytes_, offset = (used + align - 1) / align * align;
    if (bytes > most || offset + bytes > most)
        throw rules::refusal(rules::WG_FORM_03,
                             fmt::format("local memory: {} on top of {} exceed the {} bytes of a thread",
                                         count_of(bytes, "byte"), used, most));
    program_.local_bytes_ = offset + bytes;
    program_.local_align_ = std::max(program_.local_align_, align);
    return offset;
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
    return block().steps.emplace_back(std::move(step));
}

void Builder::say(Message::Kind kind, std::string_view format, const std::vector<Operand>& values,
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
            if (isa::bits(type_of(reg)) > 64)
                throw ArgumentError("a message has values of 64 bits at most",
                                    "print the halves: k:unpack_b128(x)");
            regs.push_back(reg);
        }
        counts.push_back(list ? static_cast<int>(value.list.size()) : 0);
    }
    message.pieces = parse_format(format, message.types, counts);
    Step step;
    step.op = kind == Message::Kind::print  ? &isa::device_print::print()
              : kind == Message::Kind::trap ? &isa::device_print::trap()
                                            : &isa::device_print::assertion();
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
    block().steps.reserve(block().steps.size() + 1);
    program_.messages_.push_back(std::move(message));
    block().steps.push_back(std::move(step));
}

void Builder::breakpoint() {
    Step step;
    step.op = &isa::device_print::breakpoint();
    step.form = isa::resolve(*step.op, {});
    step.where = where_;
    block().steps.push_back(std::move(step));
}

void Builder::begin_loop() {
    check_depth(program_.name_, constructs_->depth());
    constructs_->begin_loop(where_);
}

void Builder::loop_condition(Reg condition) {
    constructs_->check_condition();
    if (type_of(condition) != isa::Type::pred) throw ArgumentError("the condition of a loop is a predicate");
    constructs_->loop_condition(condition);
}

void Builder::loop_next() { constructs_->loop_next(); }
void Builder::end_loop() { constructs_->end_loop(); }

void Builder::begin_if(Reg condition, bool negated) {
    if (type_of(condition) != isa::Type::pred)
        throw ArgumentError("the condition of a branch is a predicate");
    check_depth(program_.name_, constructs_->depth());
    constructs_->begin_if(condition, negated, where_);
}

void Builder::begin_else() { constructs_->begin_else(); }
void Builder::end_if() { constructs_->end_if(); }
void Builder::leave(Leave what) { constructs_->leave(what, where_); }

int Builder::label(std::string name) { return constructs_->label(std::move(name)); }
void Builder::place(int label) { constructs_->place(label, where_); }
void Builder::jump(int label, Reg condition, bool negated) {
    if (condition && type_of(condition) != isa::Type::pred)
        throw ArgumentError("the condition of a jump is a predicate");
    constructs_->jump(label, condition, negated, where_);
}

Program Builder::finish() {
    if (const auto open = constructs_->open())
        throw ArgumentError(
            plain_error("kernel " + program_.name_ + ": a loop or branch is still open", {}, *open));
    std::size_t steps = 0;
    for (const BasicBlock& block : constructs_->blocks()) steps += block.steps.size();
    if (steps > max_steps)
        throw ArgumentError(fmt::format("kernel {} has {}: {} at most", program_.name_,
                                        count_of(steps, "instruction"), max_steps),
                            "k:loop where Lua's own loop unrolls");
    program_.blocks_ = constructs_->take(program_.where_);
    *constructs_ = Constructs();
    return std::move(program_);
}

}  // namespace wgrun
