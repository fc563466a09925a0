// WG-PROXY-01 where no tile is declared: a matrix that threads write to shared memory, and a bulk copy that
// takes it from there, with no fence.proxy.async on a path from one to the other. Wherever a matrix is, a
// copy takes it; smaller values it takes where the dataflow analysis knows the addresses of both.
#include "check/outgoing.hpp"

#include <utility>

#include "check/dataflow.hpp"
#include "flow/graph.hpp"
#include "isa/effects.hpp"
#include "machine/proxies.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::check {

namespace {

/// Follows the last write of a block or path that no fence orders.
class Tracker final : public isa::Effects {
  public:
    explicit Tracker(const Step* written) { unpublished_.fresh = written; }
    void pass(const Step& step) {
        step_ = &step;
        isa::visit_effects(step, *this);
    }
    const Step* written() const { return unpublished_.fresh; }
    /// Returns the write that the copy of the last step takes without a fence; null: it does not.
    const Step* taken() { return std::exchange(taken_, nullptr); }

  private:
    // Matrices are written by whole chunks; smaller values, such as the number of the next tile, are for
    // threads.
    static constexpr int least_bytes = 16;
    void memory(const isa::MemoryAccess& access) override {
        if (access.write && access.space != isa::Space::global && access.bytes >= least_bytes)
            unpublished_.fresh = step_;
    }
    void proxy_fence(std::optional<isa::Space> space) override {
        if (machine::ProxyFence(space).orders_shared()) unpublished_.fence();
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.direction == isa::BulkCopy::Direction::to_global && copy.from != nullptr) taken_ = written();
    }

    const Step* step_ = nullptr;
    machine::Unpublished<const Step*> unpublished_;  ///< as one thread sees it: barriers are not followed
    const Step* taken_ = nullptr;
};

}  // namespace

std::vector<Diagnostic> outgoing(const Program& program) {
    const flow::Graph graph(program);
    const std::vector<BasicBlock>& blocks = program.blocks();
    std::vector<const Step*> entry(blocks.size());
    // A path is enough, so what reaches a block only grows.
    for (bool grew = true; grew;) {
        grew = false;
        for (const BlockId id : graph.order()) {
            Tracker tracker(entry[id]);
            for (const Step& step : blocks[id].steps) tracker.pass(step);
            if (tracker.written() == nullptr) continue;
            blocks[id].for_each_successor([&](BlockId next, int) {
                if (entry[next] != nullptr) return;
                entry[next] = tracker.written();
                grew = true;
            });
        }
    }
    Findings out;
    for (const BlockId id : graph.order()) {
        Tracker tracker(entry[id]);
        for (const Step& step : blocks[id].steps) {
            tracker.pass(step);
            const Step* written = tracker.taken();
            if (written == nullptr) continue;
            out.add(rules::written_before_copy(written->where, step.where), step.where,
                    {{written->where, "written here"}});
        }
    }
    Findings others;
    Dataflow dataflow(program, others);
    dataflow.watch_copies(out);
    dataflow.run();
    return std::move(out).sorted(program.where().file);
}

}  // namespace wgrun::check
