#include "check/exact.hpp"

#include <algorithm>
#include <array>

#include "check/value.hpp"
#include "isa/effects.hpp"
#include "isa/thread_machine.hpp"
#include "machine/coordinates.hpp"

namespace wgrun::check {

namespace {

using isa::lanes;

/// A machine that executes one step for one warp on known values. A step that depends on anything else clears
/// `known`.
class FoldingMachine final : public isa::ThreadMachine {
  public:
    FoldingMachine(const Program& program, const std::function<const Known&(Reg)>& source)
        : program_(program), source_(source), varies_(program.threads() % lanes != 0) {}

    void begin(int warp) {
        warp_ = warp;
        used_ = 0;
    }
    bool known() const { return known_; }
    /// Returns whether the result depends on the thread.
    bool varies() const { return varies_; }
    int origin() const { return origin_; }
    /// Appends the results of the first `count` lanes, extended like immediates of the register's type.
    void results(isa::Type type, int count, std::vector<std::int64_t>& out) const {
        if (wide(type)) {
            out.insert(out.end(), wide_out_.begin(), wide_out_.begin() + count);
            return;
        }
        const int width = isa::bits(type);
        const bool is_signed = type != isa::Type::pred && type != isa::Type::u16 && type != isa::Type::u32;
        const std::int64_t range = std::int64_t{1} << width, sign = is_signed ? range >> 1 : range;
        const std::size_t before = out.size();
        out.resize(before + static_cast<std::size_t>(count));
        std::transform(narrow_out_.begin(), narrow_out_.begin() + count, &out[before],
                       [&](std::uint32_t bits) {
                           const std::int64_t low = bits & (range - 1);
                           return low < sign ? low : low - range;
                       });
    }

    isa::Mask active() const override { return existing(); }
    isa::Mask existing() const override {
        return existing_lanes() == lanes ? ~isa::Mask{0} : (isa::Mask{1} << existing_lanes()) - 1;
    }
    const void* read(Reg reg) override {
        const Known& source = source_(reg);
        if (!source.exact.known() || used_ == sources_.size()) {
            known_ = false;
            sources_[0].wide.fill(0);
            return sources_[0].wide.data();
        }
        from(source.origin);
        varies_ |= !source.exact.uniform();
        Source& out = sources_[used_++];
        if (wide(program_.registers()[reg.id].type))
            take(source.exact, out.wide);
        else
            take(source.exact, out.narrow);
        return &out;
    }
    void* write(Reg reg) override {
        return wide(program_.registers()[reg.id].type) ? static_cast<void*>(wide_out_.data())
                                                       : static_cast<void*>(narrow_out_.data());
    }
    std::uint64_t special(isa::Special which, int lane) override {
        using enum isa::Special;
        const bool of_lane = which == laneid || (which >= lanemask_eq && which <= lanemask_gt);
        const bool of_thread = of_lane || which <= tid_z || which == warpid;
        if (!of_thread && (which < ntid_x || which > ntid_z)) return unknown();
        // Only x differs between the threads of a CTA of one dimension.
        const bool flat = program_.block().x == static_cast<std::uint32_t>(program_.threads());
        varies_ |= of_thread && !(flat && (which == tid_y || which == tid_z));
        const int index = of_lane ? lane : thread(lane);
        const machine::ThreadCoordinates coordinates{.block = program_.block(),
                                                     .warp = static_cast<std::uint32_t>(index / lanes)};
        return machine::special(coordinates, which, index % lanes);
    }
    std::uint32_t shared_address(int buffer) override {
        from(buffer);
        return 0;
    }
    std::uint64_t param(int) override { return unknown(); }
    std::uint64_t param_address(int) override { return unknown(); }
    void load(isa::Space, const isa::Addresses&, int, void*, int) override { unknown(); }
    void store(isa::Space, const isa::Addresses&, int, const void*, int) override { unknown(); }
    void update(isa::Space, const isa::Addresses&, int,
                const std::function<void(int, std::byte*)>&) override {
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
    const void* async_read(Reg reg, isa::Mask) override { return read(reg); }
    void* async_write(Reg reg) override { return write(reg); }
    void end_mma() override { unknown(); }
    void commit_mma() override { unknown(); }
    void wait_mma(int) override { unknown(); }

  private:
    union Source {
        std::array<std::uint64_t, lanes> wide;
        std::array<std::uint32_t, lanes> narrow;
    };

    static bool wide(isa::Type type) { return type != isa::Type::pred && isa::bits(type) == 64; }
    std::size_t existing_lanes() const {
        return static_cast<std::size_t>(std::min(program_.threads() - warp_ * lanes, lanes));
    }
    /// The values of the warp's lanes, as many bits as `out` has.
    template <class Bits>
    void take(const Exact& values, std::array<Bits, lanes>& out) const {
        if (const auto all = values.uniform()) return out.fill(static_cast<Bits>(*all));
        const auto own =
            values.each().subspan(static_cast<std::size_t>(warp_ * lanes)).first(existing_lanes());
        std::ranges::transform(own, out.begin(), [](std::int64_t value) { return static_cast<Bits>(value); });
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(own.size()), out.end(),
                  static_cast<Bits>(own.back()));
    }
    /// Lanes beyond the CTA repeat its last thread.
    int thread(int lane) const { return std::min(warp_ * lanes + lane, program_.threads() - 1); }
    void refuse() override { unknown(); }
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
    bool varies_;  // a vote in a warp with fewer lanes does too
    int origin_ = Known::no_buffer;
    int warp_ = 0;
    std::size_t used_ = 0;
    std::array<Source, 4> sources_;
    std::array<std::uint64_t, lanes> wide_out_{};
    std::array<std::uint32_t, lanes> narrow_out_{};
};

/// Returns the register that `step` writes, if that is its only effect and all its sources are known; else
/// none.
Reg foldable(const Program& program, const Step& step, const std::function<const Known&(Reg)>& known) {
    const isa::Instruction& op = *step.op;
    if (!op.run || op.effects || op.taken_by != isa::Participants::thread) return {};
    Reg destination;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (operand.reg && isa::bits(program.registers()[operand.reg.id].type) > 64) return {};
        if (op.operands[i].access == isa::Access::in) {
            if (operand.kind == Operand::Kind::param) return {};
            if (operand.reg && !known(operand.reg).exact.known()) return {};
            for (const Reg reg : operand.list)
                if (!known(reg).exact.known()) return {};
        } else {
            if (operand.kind != Operand::Kind::reg || destination) return {};
            destination = operand.reg;
        }
    }
    return destination;
}

}  // namespace

Exact::Exact(std::vector<std::int64_t> values) {
    if (std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values.front(); }))
        all_ = values.front();
    else
        each_ = std::make_shared<const std::vector<std::int64_t>>(std::move(values));
}

std::pair<std::int64_t, std::int64_t> Exact::range() const {
    if (all_) return {*all_, *all_};
    const auto [least, greatest] = std::minmax_element(each_->begin(), each_->end());
    return {*least, *greatest};
}

isa::Uniform Exact::spread() const {
    if (all_) return isa::Uniform::grid;
    const auto same_in = [&](std::size_t group) {
        for (auto first = each_->begin(); first != each_->end();) {
            const auto left = static_cast<std::size_t>(each_->end() - first);
            const auto end = first + static_cast<std::ptrdiff_t>(std::min(group, left));
            if (std::find_if(first, end, [&](std::int64_t value) { return value != *first; }) != end)
                return false;
            first = end;
        }
        return true;
    };
    return same_in(sm_90a.warpgroup) ? isa::Uniform::warpgroup
           : same_in(sm_90a.lanes)   ? isa::Uniform::warp
                                     : isa::Uniform::thread;
}

Exact Exact::map(const std::function<std::int64_t(std::int64_t)>& f) const {
    if (!known()) return {};
    if (all_) return f(*all_);
    std::vector<std::int64_t> values(*each_);
    std::transform(values.begin(), values.end(), values.begin(), f);
    return Exact(std::move(values));
}

Exact Exact::choose(const Exact& condition, const Exact& a, const Exact& b) {
    if (!condition.known() || !a.known() || !b.known()) return {};
    if (condition.all_) return *condition.all_ ? a : b;
    std::vector<std::int64_t> values;
    for (std::size_t t = 0; t < condition.each_->size(); ++t)
        values.push_back(((*condition.each_)[t] ? a : b).of(static_cast<int>(t)));
    return Exact(std::move(values));
}

bool Exact::operator==(const Exact& other) const {
    if (all_ != other.all_ || !each_ != !other.each_) return false;
    return each_ == other.each_ || *each_ == *other.each_;
}

std::optional<Folded> fold(const Program& program, const Step& step,
                           const std::function<const Known&(Reg)>& known, int& budget) try {
    const Reg destination = foldable(program, step, known);
    if (!destination) return {};
    const isa::Type type = program.registers()[destination.id].type;
    FoldingMachine machine(program, known);
    std::vector<std::int64_t> values;
    for (int warp = 0; warp * lanes < program.threads(); ++warp) {
        machine.begin(warp);
        step.op->run(step, machine);
        if (!machine.known() || machine.origin() == Known::many_buffers) return {};
        if (!machine.varies()) {
            machine.results(type, 1, values);
            break;
        }
        if (--budget < 0) return {};
        values.reserve(static_cast<std::size_t>(program.threads()));
        machine.results(type, std::min(lanes, program.threads() - warp * lanes), values);
    }
    return Folded{Exact(std::move(values)), machine.origin()};
} catch (const ArgumentError&) {
    return {};  // a membermask of some lanes only: the step is in a branch that those take
}

}  // namespace wgrun::check
