#include "sass/step_events.hpp"

#include <optional>
#include <utility>

#include "isa/effects.hpp"
#include "isa/opaque.hpp"

namespace wgrun::sass {
namespace {

Memory memory_of(isa::Space space) {
    switch (space) {
        case isa::Space::shared:
        case isa::Space::shared_cta: return Memory::shared;
        case isa::Space::global: return Memory::global;
        case isa::Space::local: return Memory::local;
        // That of another CTA is accessed by generic addresses.
        case isa::Space::shared_cluster:
        case isa::Space::generic: return Memory::generic;
        default: return Memory::none;
    }
}

class Listener final : public isa::Effects, public StepEvents {
  public:
    Listener(const Step& step, const std::map<std::uint32_t, std::int64_t>& known,
             const ProgramValues& values)
        : step_(step), known_(known), values_(values) {
        // What an unknown instruction may do is no duty.
        // Of fence.proxy.alias ptxas makes two fences, between which a constant of the launch decides.
        if (!isa::is_opaque(*step.op) && step.op->name != "fence.proxy.alias")
            isa::visit_effects(step, *this);
        if (!of_map_) return;
        std::erase_if(events, [](const Event& event) { return event.does == Does::fence; });
        accesses.clear();
    }
    StepEvents take() { return std::move(*this); }

  private:
    void add(Does does, std::int64_t first = Event::any, std::int64_t second = Event::any,
             std::int64_t third = Event::any) {
        Event event;
        event.does = does;
        event.arguments = {first, second, third};
        event.line = step_.where.line;
        events.push_back(event);
    }
    std::int64_t value(const Operand& operand) const {
        if (operand.kind == Operand::Kind::imm) return operand.imm;
        const auto found = operand.kind == Operand::Kind::reg ? known_.find(operand.reg.id) : known_.end();
        return found == known_.end() ? Event::any : found->second;
    }

    /// Of instructions that move matrices of a warp, lanes have other addresses than values.
    int bytes_of(const isa::MemoryAccess& access) const {
        if (step_.op->taken_by != isa::Participants::warp) return access.bytes;
        for (const Operand& operand : step_.operands)
            if (operand.kind == Operand::Kind::list) return 4 * static_cast<int>(operand.list.size());
        return 4;
    }
    void memory(const isa::MemoryAccess& access) override {
        // A tensor map is changed in parts.
        constexpr int largest = 32;
        if (memory_of(access.space) == Memory::none || access.bytes > largest) return;
        Access out;
        out.does = step_.op->atomic ? Does::atomic : access.write ? Does::store : Does::load;
        out.memory = memory_of(access.space);
        out.bytes = bytes_of(access);
        out.line = step_.where.line;
        if (access.address != nullptr) out.base = values_.base_of(*access.address);
        // An atomic reads and writes.
        if (accesses.empty() || accesses.back().does != Does::atomic || out.does != Does::atomic)
            accesses.push_back(out);
    }
    void fence() override { add(Does::fence); }
    /// It takes no instruction of the machine: threads initialise mbarriers in order.
    void publish_inits() override {}
    /// Changes of tensor maps are read, changed and written in parts, and fences about them are copies and
    /// invalidations of a cache.
    void change_map() override { of_map_ = true; }
    void release_map() override { of_map_ = true; }
    void acquire_map() override { of_map_ = true; }
    void proxy_fence(std::optional<isa::Space> space) override {
        add(Does::proxy_fence);
        if (space) events.back().orders = *space == isa::Space::global ? Memory::global : Memory::shared;
    }
    void order_registers() override {
        add(Does::order_registers), orders.push_back(events.back()), events.pop_back();
    }
    void issue_mma(const isa::AsyncMma& mma) override {
        const std::int64_t where = (mma.metadata != nullptr ? 1 : 0) + (mma.a_fragment != nullptr ? 2 : 0);
        add(Does::product, mma.rows_b, mma.k_bytes_b * 8 / mma.element_bits_b, where);
    }
    void wait_mma(int pending) override {
        add(Does::wait_products, pending), waits.push_back(events.back()), events.pop_back();
    }
    void copy_async(const isa::AsyncCopy&) override { add(Does::copy); }
    void commit_copies() override { add(Does::copy_commit); }
    void wait_copies(std::optional<int> pending) override {
        add(Does::wait_scoreboard, pending.value_or(0));
        events.back().orders = Memory::shared;
    }
    void arrive_copies(const Operand&) override { add(Does::mbarrier_copies); }
    void bulk_copy(const isa::BulkAccess& access) override {
        const std::int64_t dimensions =
            access.coordinates == nullptr ? 0 : static_cast<std::int64_t>(access.coordinates->list.size());
        if (access.to == nullptr && access.from == nullptr) return;  // a prefetch
        add(access.from != nullptr ? Does::bulk_store : Does::bulk_load, dimensions);
    }
    void commit_bulk() override { add(Does::bulk_commit); }
    void wait_bulk(int pending, bool) override { add(Does::wait_scoreboard, pending); }
    void mbarrier(const isa::MbarrierAccess& access) override {
        using Kind = isa::MbarrierAccess::Kind;
        switch (access.kind) {
            case Kind::init: return add(Does::mbarrier_init);
            case Kind::inval: return add(Does::mbarrier_inval);
            case Kind::expect:
            case Kind::complete: add(Does::mbarrier_expect); break;
            case Kind::arrive: add(Does::mbarrier_arrive); break;
            case Kind::wait: return add(Does::mbarrier_test);
        }
        if (access.bytes != nullptr) events.back().bytes = value(*access.bytes);
    }
    void barrier(const Operand& id, const Operand& threads) override {
        add(Does::barrier, value(id), value(threads));
    }
    void arrive(const Operand& id, const Operand& threads) override {
        add(Does::barrier_arrive, value(id), value(threads));
    }
    void cluster_arrive() override { add(Does::cluster_arrive); }
    void cluster_wait() override { add(Does::cluster_wait); }
    void set_registers(int registers, bool) override { add(Does::set_registers, registers); }
    void launch_dependents() override { add(Does::launch_dependents); }
    void wait_for_grids() override { add(Does::wait_for_grids); }

    const Step& step_;
    bool of_map_ = false;
    const std::map<std::uint32_t, std::int64_t>& known_;
    const ProgramValues& values_;
};

}  // namespace

bool never_executes(const Step& step, const std::map<std::uint32_t, std::int64_t>& known) {
    const auto guard = step.guard ? known.find(step.guard.id) : known.end();
    return guard != known.end() && (guard->second != 0) == step.guard_negated;
}

StepEvents events_of(const Step& step, const std::map<std::uint32_t, std::int64_t>& known,
                     const ProgramValues& values) {
    return Listener(step, known, values).take();
}

}  // namespace wgrun::sass
