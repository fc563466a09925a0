// A thread of a program, executed step by step as the records of its instructions say. A value that nobody
// gives is not known, nor what is computed of it: registers that were never written, sums of products,
// clocks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "isa/machine.hpp"
#include "isa/opaque.hpp"
#include "sass/thread.hpp"

namespace wgrun::sass {
namespace {

constexpr std::size_t widest = 16;

/// The lanes of a register, all of which have one value.
struct Register {
    alignas(16) std::array<std::byte, isa::lanes * widest> lanes{};
    bool known = false;
};

/// What ends the execution: nobody knows how it goes on.
struct Open {};

struct Multiplies final : isa::Effects {
    std::optional<isa::AsyncMma> mma;
    void issue_mma(const isa::AsyncMma& one) override { mma = one; }
};

class ProgramThread final : public isa::Machine {
  public:
    ProgramThread(const Program& program, const Drawn& drawn)
        : program_(program),
          drawn_(drawn),
          regs_(program.registers().size()),
          local_(drawn.seed, Memory::local),
          out_(drawn.seed) {}

    Behaviour run() {
        try {
            BlockId block = 0;
            for (std::size_t steps = 0; steps < longest_run;) {
                const BasicBlock& at = program_.blocks()[block];
                for (const Step& step : at.steps) execute(step), ++number_, ++steps;
                ++steps;
                if (at.end == BasicBlock::End::exit) {
                    out_.complete = true;
                    break;
                }
                const bool taken = at.end == BasicBlock::End::jump || truth(at.condition) != at.negated;
                block = taken ? at.taken : at.otherwise;
            }
        } catch (const Open&) {
        } catch (const isa::Unknown&) {
        } catch (const ArgumentError&) {
        }
        return std::move(out_);
    }

  private:
    Register& of(Reg reg) { return regs_[reg.id]; }
    std::size_t width(Reg reg) const {
        const isa::Type type = program_.registers()[reg.id].type;
        const int bits = type == isa::Type::pred ? 32 : isa::bits(type);
        return bits <= 32 ? 4 : static_cast<std::size_t>(bits) / 8;
    }
    bool truth(Reg reg) {
        if (!of(reg).known) throw Open{};
        std::uint32_t value = 0;
        std::memcpy(&value, of(reg).lanes.data() + drawn_.lane() * 4, 4);
        return (value & 1) != 0;
    }
    Known64 value(const Operand& operand) {
        switch (operand.kind) {
            case Operand::Kind::imm: return {static_cast<std::uint64_t>(operand.imm), true};
            case Operand::Kind::shared:
                return {shared_address(operand.index) + static_cast<std::uint64_t>(operand.offset), true};
            case Operand::Kind::reg: {
                std::uint64_t bits = 0;
                const std::size_t bytes = std::min<std::size_t>(width(operand.reg), 8);
                std::memcpy(&bits, of(operand.reg).lanes.data() + drawn_.lane() * width(operand.reg), bytes);
                return {operand.negated ? bits ^ 1 : bits, of(operand.reg).known};
            }
            default: return {};
        }
    }
    /// Whether the base of an address is known; of the operand that is one.
    bool knows(const Operand& operand) {
        return operand.kind != Operand::Kind::address || !operand.reg || of(operand.reg).known;
    }
    bool knows_addresses() {
        return std::ranges::all_of(step_->operands, [&](const Operand& one) { return knows(one); });
    }
    bool knows_data() {
        for (std::size_t i = 0; i < step_->operands.size(); ++i) {
            const Operand& one = step_->operands[i];
            if (one.kind == Operand::Kind::reg && !of(one.reg).known) return false;
            for (const Reg reg : one.list)
                if (!of(reg).known) return false;
        }
        return true;
    }

    void execute(const Step& step) {
        step_ = &step;
        if (step.guard && truth(step.guard) == step.guard_negated) return;
        known_ = true;
        written_.clear();
        if (isa::is_opaque(*step.op) || step.op->run == nullptr) return skip(step);
        Multiplies found;
        isa::visit_effects(step, found);
        if (found.mma) return multiply(*found.mma);
        step.op->run(step, *this);
        for (const Reg reg : written_) {
            Register& out = of(reg);
            out.known = known_;
            const std::size_t bytes = width(reg);
            std::array<std::byte, widest> own{};
            std::memcpy(own.data(), out.lanes.data() + drawn_.lane() * bytes, bytes);
            for (std::size_t lane = 0; lane < isa::lanes; ++lane)
                std::memcpy(out.lanes.data() + lane * bytes, own.data(), bytes);
        }
    }

    /// What no record reads may write to each of its registers, and to memory.
    void skip(const Step& step) {
        for (const Operand& operand : step.operands) {
            if (operand.kind == Operand::Kind::reg) of(operand.reg).known = false;
            for (const Reg reg : operand.list) of(reg).known = false;
        }
        if (&*step.op == &isa::opaque(isa::Reach::registers)) return;
        out_.shared.forget();
        out_.global.forget();
        local_.forget();
    }

    void multiply(const isa::AsyncMma& mma) {
        Known64 scale = value(step_->operands.back());
        scale.bits &= 1;
        note(Does::product, {mma.a_descriptor == nullptr ? Known64{} : value(*mma.a_descriptor),
                             value(*mma.b_descriptor), scale});
        for (const Reg reg : *mma.accumulators) of(reg).known = false;
    }

    void note(Does does, std::vector<Known64> values) {
        Deed& out = out_.deeds.emplace_back();
        out.does = does;
        out.line = step_->where.line;
        out.number = number_;
        out.values = std::move(values);
    }
    Known64 place(std::uint64_t address, bool shared) {
        return {shared ? address & shared_window : address, knows_addresses()};
    }

    /// The contents and the place there of an address.
    std::pair<Contents*, std::uint64_t> at(isa::Space space, std::uint64_t address) {
        if (space == isa::Space::generic)
            space = isa::space_of(address), address = isa::within_space(address);
        if (isa::is_shared(space)) return {&out_.shared, address & shared_window};
        if (space == isa::Space::local) return {&local_, address};
        return {&out_.global, address};
    }

    isa::Mask active() const override { return ~isa::Mask{0}; }
    isa::Mask existing() const override { return ~isa::Mask{0}; }
    const void* read(Reg reg) override {
        known_ = known_ && of(reg).known;
        return of(reg).lanes.data();
    }
    void* write(Reg reg) override {
        written_.push_back(reg);
        return of(reg).lanes.data();
    }
    std::uint64_t special(isa::Special which, int) override {
        using enum isa::Special;
        const Dim3 place = drawn_.place();
        switch (which) {
            case tid_x: return place.x;
            case tid_y: return place.y;
            case tid_z: return place.z;
            case ntid_x: return drawn_.block.x;
            case ntid_y: return drawn_.block.y;
            case ntid_z: return drawn_.block.z;
            case ctaid_x: return drawn_.cta.x;
            case ctaid_y: return drawn_.cta.y;
            case ctaid_z: return drawn_.cta.z;
            case nctaid_x: return drawn_.grid.x;
            case nctaid_y: return drawn_.grid.y;
            case nctaid_z: return drawn_.grid.z;
            case laneid: return drawn_.lane();
            case cluster_ctaid_x:
            case cluster_ctaid_y:
            case cluster_ctaid_z:
            case cluster_ctarank: return 0;
            default: known_ = false; return 0;
        }
    }
    std::uint64_t param(int index) override {
        const Param& param = program_.params()[static_cast<std::size_t>(index)];
        if (param.variable) known_ = false;
        std::uint64_t out = 0;
        std::memcpy(&out, drawn_.params.data() + drawn_.places[static_cast<std::size_t>(index)],
                    static_cast<std::size_t>(std::min<std::int64_t>(param.bytes(), 8)));
        return out;
    }
    std::uint64_t param_address(int index) override {
        return isa::param_base + drawn_.places[static_cast<std::size_t>(index)];
    }
    std::uint32_t shared_address(int buffer) override {
        return drawn_.buffers[static_cast<std::size_t>(buffer)];
    }

    void load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride) override {
        const std::uint64_t from = address[drawn_.lane()];
        auto* const out = static_cast<std::byte*>(data);
        std::array<std::byte, 64> own{};
        if (space == isa::Space::constant) known_ = false;
        if (space == isa::Space::param ||
            (space == isa::Space::generic && isa::space_of(from) == isa::Space::param)) {
            const std::uint64_t offset = isa::within_space(from) - isa::param_base;
            if (offset + static_cast<std::uint64_t>(bytes) > drawn_.params.size()) throw Open{};
            std::memcpy(own.data(), drawn_.params.data() + offset, static_cast<std::size_t>(bytes));
        } else {
            const auto [contents, place] = at(space, from);
            if (!knows_addresses())
                out_.loads_anywhere = true;
            else if (contents != &local_)
                (contents == &out_.shared ? out_.loads_of_shared : out_.loads_of_global)
                    .push_back({place, bytes, step_->where.line, number_});
            for (int i = 0; i < bytes; ++i) {
                const Contents::Byte byte = contents->at(place + static_cast<std::uint64_t>(i));
                own[static_cast<std::size_t>(i)] = static_cast<std::byte>(byte.bits);
                known_ = known_ && byte.known;
            }
        }
        for (std::size_t lane = 0; lane < isa::lanes; ++lane)
            std::memcpy(out + lane * static_cast<std::size_t>(stride), own.data(),
                        static_cast<std::size_t>(bytes));
    }
    void store(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
               int stride) override {
        const auto [contents, place] = at(space, address[drawn_.lane()]);
        if (!knows_addresses()) return contents->forget();
        const auto* const from =
            static_cast<const std::byte*>(data) + drawn_.lane() * static_cast<std::size_t>(stride);
        const bool known = knows_data();
        for (int i = 0; i < bytes; ++i)
            contents->store(place + static_cast<std::uint64_t>(i), 1,
                            {static_cast<std::uint64_t>(from[i]), known}, step_->where.line, number_);
    }
    void update(isa::Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change) override {
        const auto [contents, place] = at(space, address[drawn_.lane()]);
        note(Does::atomic, {{place, knows_addresses()}});
        for (int lane = 0; lane < isa::lanes; ++lane) {
            std::array<std::byte, 64> own{};
            for (int i = 0; i < bytes; ++i) {
                const Contents::Byte byte = contents->at(place + static_cast<std::uint64_t>(i));
                own[static_cast<std::size_t>(i)] = static_cast<std::byte>(byte.bits);
                known_ = known_ && byte.known;
            }
            change(lane, own.data());
        }
    }

    void barrier(std::uint32_t id, std::uint32_t threads) override {
        note(Does::barrier, {{id, knows_data()}, {threads, knows_data()}});
    }
    void barrier_arrive(std::uint32_t id, std::uint32_t threads) override {
        note(Does::barrier_arrive, {{id, knows_data()}, {threads, knows_data()}});
    }
    void barrier_vote(std::uint32_t, std::uint32_t, isa::Vote, isa::Mask, Reg to) override {
        write(to);
        known_ = false;
    }
    void trap() override { throw Open{}; }
    void divide_by_zero(isa::Mask) override { known_ = false; }  // any value (PTX ISA 9.7.1.8)
    void proxy_fence(std::optional<isa::Space>) override {}
    void on_mbarrier(Does does, const isa::Addresses& address) {
        note(does, {place(address[drawn_.lane()], true)});
    }
    void mbarrier_init(const isa::Addresses& address, const isa::Counts&) override {
        on_mbarrier(Does::mbarrier_init, address);
    }
    void mbarrier_inval(const isa::Addresses& address) override {
        on_mbarrier(Does::mbarrier_inval, address);
    }
    isa::Tokens mbarrier_arrive(const isa::Addresses& address, const isa::Counts&,
                                const isa::Counts& arrivals, isa::Arrival) override {
        on_mbarrier(arrivals[drawn_.lane()] == 0 ? Does::mbarrier_expect : Does::mbarrier_arrive, address);
        known_ = false;
        return {};
    }
    void mbarrier_complete(const isa::Addresses& address, const isa::Counts&) override {
        on_mbarrier(Does::mbarrier_expect, address);
    }
    std::optional<isa::Mask> mbarrier_wait(const isa::Addresses& address, const isa::Counts&,
                                           const isa::Tokens*) override {
        on_mbarrier(Does::mbarrier_test, address);
        known_ = true;
        return ~isa::Mask{0};
    }
    void mbarrier_fence_init() override {}
    void bulk_copy(const isa::BulkCopy& copy) override {
        if (copy.lane != static_cast<int>(drawn_.lane()) ||
            copy.direction == isa::BulkCopy::Direction::prefetch)
            return;
        const bool loads = copy.direction == isa::BulkCopy::Direction::to_shared;
        note(loads ? Does::bulk_load : Does::bulk_store, {place(copy.shared, true)});
    }
    void bulk_commit() override {}
    void bulk_wait(int, bool) override {}
    void copy_async(const isa::Addresses& to, const isa::Addresses& from, int, const isa::Counts&) override {
        note(Does::copy, {place(to[drawn_.lane()], true), place(from[drawn_.lane()], false)});
    }
    void commit_copies() override {}
    void wait_copies(std::optional<int>) override {}
    void arrive_copies(const isa::Addresses& mbarrier, bool) override {
        on_mbarrier(Does::mbarrier_copies, mbarrier);
    }
    void store_async(const isa::AsyncStore&, const isa::Addresses& to, const isa::Addresses&, const void*,
                     int) override {
        // To another CTA's memory: it is looked at as an address alone.
        note(Does::store, {place(to[drawn_.lane()], true)});
    }
    std::uint32_t map_shared(std::uint32_t address, std::uint32_t) override { return address; }
    void cluster_arrive() override {}
    void cluster_wait() override {}
    void set_registers(int, bool) override {}
    void order_registers() override {}
    void select(int) override {}
    void begin_mma(const isa::AsyncMma&) override {}
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override { throw Open{}; }
    const void* async_read(Reg reg, isa::Mask) override { return read(reg); }
    void* async_write(Reg reg) override { return write(reg); }
    void end_mma() override {}
    void commit_mma() override {}
    void wait_mma(int) override {}
    std::uint64_t clock() override {
        known_ = false;
        return 0;
    }

    const Program& program_;
    const Drawn& drawn_;
    std::vector<Register> regs_;
    Contents local_;
    Behaviour out_;
    const Step* step_ = nullptr;
    std::uint32_t number_ = 0;
    bool known_ = true;  ///< of the step: all that it has read
    std::vector<Reg> written_;
};

}  // namespace

Behaviour behaviour_of(const Program& program, const Drawn& drawn) {
    return ProgramThread(program, drawn).run();
}

}  // namespace wgrun::sass
