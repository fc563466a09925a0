#include "check/value.hpp"

#include <algorithm>
#include <array>

namespace wgrun::check {

namespace {

bool same(const isa::Value& a, const isa::Value& b) {
    return a.uniform == b.uniform && a.constant == b.constant && a.thread_shift == b.thread_shift &&
           a.buffer == b.buffer && a.is_descriptor == b.is_descriptor && a.offset == b.offset;
}

/// A machine that runs one step on known values, the same in all lanes. What depends on anything else clears
/// `known`.
class ConstantMachine final : public isa::Machine {
  public:
    ConstantMachine(const Program& program, const std::function<const Known&(Reg)>& source)
        : program_(program), source_(source) {}

    bool known() const { return known_; }
    int origin() const { return origin_; }
    /// What was written, extended as an immediate of the register's type would be.
    std::int64_t result(isa::Type type) const {
        const std::uint64_t bits = wide(type) ? wide_out_[0] : narrow_out_[0];
        if (wide(type)) return static_cast<std::int64_t>(bits);
        if (type == isa::Type::pred) return static_cast<std::int64_t>(bits & 1U);
        const int width = isa::bits(type);
        const std::uint64_t low = bits & ((std::uint64_t{1} << width) - 1);
        const bool negative = (low >> (width - 1) & 1U) != 0;
        const bool is_unsigned = type == isa::Type::u16 || type == isa::Type::u32;
        return static_cast<std::int64_t>(low) -
               (negative && !is_unsigned ? std::int64_t{1} << width : std::int64_t{0});
    }

    isa::Mask active() const override { return ~isa::Mask{0}; }
    const void* read(Reg reg) override {
        const Known& value = source_(reg);
        if (value.bits) {
            from(value.origin);
        } else {
            known_ = false;
        }
        if (used_ == sources_.size()) {
            known_ = false;
            used_ = 0;
        }
        Source& lanes = sources_[used_++];
        const auto bits = static_cast<std::uint64_t>(value.bits.value_or(0));
        if (wide(program_.registers()[reg.id].type)) {
            lanes.wide.fill(bits);
            return lanes.wide.data();
        }
        lanes.narrow.fill(static_cast<std::uint32_t>(bits));
        return lanes.narrow.data();
    }
    void* write(Reg reg) override {
        return wide(program_.registers()[reg.id].type) ? static_cast<void*>(wide_out_.data())
                                                       : static_cast<void*>(narrow_out_.data());
    }
    std::uint32_t special(int, int) override { return unknown(); }
    std::uint64_t param(int) override { return unknown(); }
    std::uint32_t shared_address(int buffer) override {
        from(buffer);
        return 0;
    }
    void load(isa::Space, const std::array<std::uint64_t, isa::lanes>&, int, void*, int) override {
        unknown();
    }
    void store(isa::Space, const std::array<std::uint64_t, isa::lanes>&, int, const void*, int) override {
        unknown();
    }
    void barrier(std::uint32_t, std::uint32_t) override { unknown(); }
    void proxy_fence(std::optional<isa::Space>) override { unknown(); }
    void order_registers() override { unknown(); }
    void select(int) override { unknown(); }
    void begin_mma(const isa::AsyncMma&) override { unknown(); }
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override {
        unknown();
        return reinterpret_cast<const std::byte*>(wide_out_.data());
    }
    const void* async_read(Reg reg) override { return read(reg); }
    void* async_write(Reg reg) override { return write(reg); }
    void end_mma() override { unknown(); }
    void commit_mma() override { unknown(); }
    void wait_mma(int) override { unknown(); }

  private:
    union Source {
        std::array<std::uint64_t, isa::lanes> wide;
        std::array<std::uint32_t, isa::lanes> narrow;
    };

    static bool wide(isa::Type type) { return type != isa::Type::pred && isa::bits(type) == 64; }
    std::uint32_t unknown() {
        known_ = false;
        return 0;
    }
    void from(int buffer) {
        if (buffer == Known::no_buffer || buffer == origin_) return;
        origin_ = origin_ == Known::no_buffer ? buffer : Known::many_buffers;
    }

    const Program& program_;
    const std::function<const Known&(Reg)>& source_;
    bool known_ = true;
    int origin_ = Known::no_buffer;
    std::size_t used_ = 0;
    std::array<Source, 4> sources_;
    std::array<std::uint64_t, isa::lanes> wide_out_{};
    std::array<std::uint32_t, isa::lanes> narrow_out_{};
};

}  // namespace

bool Known::operator==(const Known& other) const {
    return same(value, other.value) && bits == other.bits && origin == other.origin &&
           inputs == other.inputs && writer == other.writer && written == other.written;
}

Known join(const Known& a, const Known& b, const Known& condition, const void* place) {
    if (a == b) return a;
    Known out = a;
    out.written = a.written || b.written;
    if (!a.written || !b.written) {  // the other way leaves nothing that may be read
        if (b.written) out = b;
        return out;
    }
    out.inputs |= b.inputs;
    if (a.writer == b.writer && same(a.value, b.value) && a.bits == b.bits && a.origin == b.origin)
        return out;
    out.writer = place;
    out.value.uniform = std::min({a.value.uniform, b.value.uniform, condition.value.uniform});
    out.inputs |= condition.inputs;
    if (a.bits != b.bits || a.origin != b.origin) {
        out.bits.reset();
        out.origin = a.origin == b.origin ? a.origin : Known::many_buffers;
    }
    if (a.value.constant != b.value.constant || a.value.thread_shift != b.value.thread_shift) {
        out.value.constant.reset();
        out.value.thread_shift = -1;
    }
    if (a.value.buffer != b.value.buffer || a.value.is_descriptor != b.value.is_descriptor) {
        out.value.buffer = -1;
        out.value.is_descriptor = false;
    }
    if (a.value.offset != b.value.offset) out.value.offset.reset();
    return out;
}

std::optional<Folded> fold(const Program& program, const Step& step,
                           const std::function<const Known&(Reg)>& known) {
    const isa::Instruction& op = *step.op;
    if (!op.run || op.effects || op.taken_by != isa::Participants::thread) return {};
    Reg destination;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (op.operands[i].access == isa::Access::in) {
            if (operand.kind == Operand::Kind::param || operand.kind == Operand::Kind::list) return {};
            if (operand.reg && !known(operand.reg).bits) return {};
        } else {
            if (operand.kind != Operand::Kind::reg || destination) return {};
            destination = operand.reg;
        }
    }
    if (!destination) return {};
    ConstantMachine machine(program, known);
    op.run(step, machine);
    if (!machine.known() || machine.origin() == Known::many_buffers) return {};
    return Folded{machine.result(program.registers()[destination.id].type), machine.origin()};
}

}  // namespace wgrun::check
