// The effects that records declare, against the calls of their `run`: the two must agree, call by call.
#include "isa/effects.hpp"
#include "isa/token.hpp"

#include <set>

#include "isa/machine.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"

using namespace wgrun;
using namespace wgrun::isa;

namespace {

using Names = std::set<std::string>;

std::string of(std::string_view what, Space space) {
    return fmt::format("{} {}", what, spelled(Field::space, static_cast<int>(space)));
}

constexpr std::string_view directions[] = {"to shared", "to global", "to a peer", "prefetch"};
std::string bulk(BulkCopy::Direction direction) {
    return fmt::format("bulk copy {}", directions[static_cast<std::size_t>(direction)]);
}

/// What a record declares.
class Declared final : public Effects {
  public:
    explicit Declared(const Step& step) { visit_effects(step, *this); }
    Names names;
    bool awaits_arrivals = false;

    void memory(const MemoryAccess& a) override { names.insert(of(a.write ? "write" : "read", a.space)); }
    void fence() override { names.insert("fence"); }
    void proxy_fence(std::optional<Space>) override { names.insert("proxy fence"); }
    void await_arrivals() override { awaits_arrivals = true; }
    void prefetch() override { names.insert("prefetch"); }
    void pause() override { names.insert("pause"); }
    void trap() override { names.insert("trap"); }
    void order_registers() override { names.insert("order registers"); }
    void issue_mma(const AsyncMma&) override { names.insert("wgmma"); }
    void commit_mma() override { names.insert("commit wgmma"); }
    void wait_mma(int) override { names.insert("wait for wgmma"); }
    void copy_async(const AsyncCopy&) override { names.insert("copy"); }
    void commit_copies() override { names.insert("commit copies"); }
    void wait_copies(std::optional<int>) override { names.insert("wait for copies"); }
    void arrive_copies(const Operand&) override { names.insert("arrive with copies"); }
    void bulk_copy(const BulkAccess& copy) override { names.insert(bulk(copy.direction)); }
    void commit_bulk() override { names.insert("commit bulk"); }
    void wait_bulk(int, bool) override { names.insert("wait for bulk"); }
    void counted(const Operand&) override { names.insert("counted"); }
    void mbarrier(const MbarrierAccess& m) override {
        constexpr std::string_view kinds[] = {"init", "inval", "expect", "complete", "arrive", "wait"};
        names.insert(fmt::format("mbarrier {}", kinds[static_cast<std::size_t>(m.kind)]));
        if (m.kind == MbarrierAccess::Kind::arrive && m.bytes != nullptr) names.insert("mbarrier expect");
    }
    void barrier(const Operand&, const Operand&) override { names.insert("barrier"); }
    void arrive(const Operand&, const Operand&) override { names.insert("arrive"); }
    void cluster_arrive() override { names.insert("cluster arrive"); }
    void cluster_wait() override { names.insert("cluster wait"); }
    void converge() override { names.insert("converge"); }
    void set_registers(int, bool) override { names.insert("set registers"); }
    void launch_dependents() override { names.insert("launch dependents"); }
    void wait_for_grids() override { names.insert("wait for grids"); }
    void unknown() override { names.insert("unknown"); }
};

/// Records the calls of a record's `run`. Every register holds ones (in a wgmma zeros: they are descriptors),
/// and every address can be accessed.
class Done final : public Machine {
  public:
    explicit Done(const Step& step) {
        values_.fill(step.op->collective ? 0 : ~std::uint64_t{0});
        const bool takes_state = std::ranges::any_of(step.op->operands, [](const OperandRule& rule) {
            return rule.name == "state" && rule.access == Access::in;
        });
        if (takes_state) values_.fill(token({.offset = 0, .phase = 0, .pending = 1}));
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].name == "sp_meta") metadata_ = step.operands[i].reg;
        step.op->run(step, *this);
    }
    Names names;
    std::set<std::uint32_t> registers;  ///< that it reads

    Mask active() const override { return ~Mask{0}; }
    Mask existing() const override { return ~Mask{0}; }
    const void* read(Reg reg) override {
        registers.insert(reg.id);
        return reg == metadata_ ? first_two_.data() : values_.data();
    }
    void* write(Reg) override { return sink_.data(); }
    std::uint64_t special(Special, int) override { return 0; }
    std::uint64_t param(int) override { return 0; }
    std::uint64_t param_address(int index) override { return 0x210 + 8 * static_cast<std::uint64_t>(index); }
    std::uint32_t shared_address(int) override { return 0; }
    void load(Space space, const Addresses&, int, void*, int) override {
        if (space != Space::param) names.insert(of("read", space));  // nobody writes parameters
    }
    void store(Space space, const Addresses&, int, const void*, int) override {
        names.insert(of("write", space));
    }
    void update(Space space, const Addresses&, int, const std::function<void(int, std::byte*)>&) override {
        names.insert(of("read", space));
        names.insert(of("write", space));
    }
    void discard(const Addresses&, int) override { names.insert(of("write", Space::global)); }
    void barrier(std::uint32_t, std::uint32_t) override { names.insert("barrier"); }
    void barrier_arrive(std::uint32_t, std::uint32_t) override { names.insert("arrive"); }
    void converge(Mask) override { names.insert("converge"); }
    void proxy_fence(std::optional<Space>) override { names.insert("proxy fence"); }
    void fence(const MemoryOrder&) override { names.insert("fence"); }
    void mbarrier_init(const Addresses&, const Counts&) override { names.insert("mbarrier init"); }
    void mbarrier_inval(const Addresses&) override { names.insert("mbarrier inval"); }
    Tokens mbarrier_arrive(const Addresses&, const Counts& bytes, const Counts& arrivals, Arrival) override {
        if (bytes[0] != 0) names.insert("mbarrier expect");
        if (arrivals[0] != 0) names.insert("mbarrier arrive");
        return {};
    }
    void mbarrier_complete(const Addresses&, const Counts&) override { names.insert("mbarrier complete"); }
    void barrier_vote(std::uint32_t, std::uint32_t, Vote, Mask, Reg) override { names.insert("barrier"); }
    void trap() override { names.insert("trap"); }
    std::optional<Mask> mbarrier_wait(const Addresses&, const Counts&, const Tokens*) override {
        names.insert("mbarrier wait");
        return Mask{0};
    }
    void mbarrier_fence_init() override { names.insert("fence"); }
    void bulk_copy(const BulkCopy& copy) override {
        names.insert(bulk(copy.direction));
        if (copy.mbarrier != 0) names.insert("counted");
    }
    void replace_in_map(Space space, const Addresses&, MapField, int, const Counts&) override {
        names.insert(of("write", space));
    }
    void publish_map(const Addresses&, const Addresses&) override {
        names.insert(of("read", Space::shared));
        names.insert(of("write", Space::global));
    }
    void bulk_commit() override { names.insert("commit bulk"); }
    void bulk_wait(int, bool) override { names.insert("wait for bulk"); }
    void copy_async(const Addresses&, const Addresses&, int, const Counts&) override {
        names.insert(of("read", Space::global));
        names.insert("copy");
    }
    void commit_copies() override { names.insert("commit copies"); }
    void wait_copies(std::optional<int>) override { names.insert("wait for copies"); }
    void arrive_copies(const Addresses&, bool) override { names.insert("arrive with copies"); }
    void store_async(const AsyncStore&, const Addresses&, const Addresses&, const void*, int) override {
        names.insert(of("write", Space::shared_cluster));
        names.insert("counted");
    }
    std::uint32_t map_shared(std::uint32_t, std::uint32_t) override { return 0; }
    void cluster_arrive() override { names.insert("cluster arrive"); }
    void cluster_wait() override { names.insert("cluster wait"); }
    void set_registers(int, bool) override { names.insert("set registers"); }
    void order_registers() override { names.insert("order registers"); }
    void select(int) override {}
    void begin_mma(const AsyncMma&) override { names.insert("wgmma"); }
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override { return zeros_.data(); }
    const void* async_read(Reg reg, Mask) override { return read(reg); }
    void* async_write(Reg) override { return sink_.data(); }
    void end_mma() override {}
    void commit_mma() override { names.insert("commit wgmma"); }
    void wait_mma(int) override { names.insert("wait for wgmma"); }

  private:
    using File = std::array<std::uint64_t, 32>;
    File values_, first_two_ = [] {
        File out;
        out.fill(0x4444444444444444);  // of a sparse A: of each chunk the first two elements are stored
        return out;
    }();
    Reg metadata_;
    alignas(8) File sink_{};
    alignas(16) std::array<std::byte, 1024> zeros_{};
};

/// Instructions without a meaning on the simulator: they change no result.
const Names without_meaning{"prefetch", "pause", "launch dependents", "wait for grids"};

/// Compares what the step declares with what it does: they differ where the record is wrong.
std::pair<Names, Names> both(const Step& step) {
    Names declared = Declared(step).names, done = Done(step).names;
    for (const std::string& name : without_meaning) declared.erase(name);
    return {std::move(declared), std::move(done)};
}

}  // namespace

TEST_CASE("every record declares what its meaning does with memory, barriers and groups, and no more") {
    int forms = 0;
    for (const Instruction* op : all())
        for (const Form& form : test::some_forms_of(*op)) {
            INFO(op->name << " " << test::spelled(form));
            const auto [declared, done] = both(test::step_of(*op, form));
            CHECK(declared == done);
            ++forms;
        }
    CHECK(forms > 500);
}

TEST_CASE("a record that accesses memory and does not say so is found") {
    Instruction silent = *find("st");
    silent.effects = nullptr;
    const auto [declared, done] = both(test::step_of(silent, test::some_forms_of(silent).front()));
    CHECK(declared.empty());
    CHECK(done == Names{"write global"});
}

TEST_CASE("what has no effect reads all of its operands") {
    // Of the others the simulator itself reads what changes no result (Cluster::read_the_rest).
    for (const Instruction* op : all())
        for (const Form& form : test::some_forms_of(*op)) {
            if (op->effects != nullptr || op->run == nullptr) continue;
            INFO(op->name << " " << test::spelled(form));
            const Step step = test::step_of(*op, form);
            const Done done(step);
            for_each_read(step, [&](Reg reg) { CHECK(done.registers.contains(reg.id)); });
        }
}

TEST_CASE("what waits for others, or acquires, says that it knows what came before") {
    const Names waits{"mbarrier wait", "cluster wait"};
    for (const Instruction* op : all())
        for (const Form& form : test::some_forms_of(*op)) {
            INFO(op->name << " " << test::spelled(form));
            const Step step = test::step_of(*op, form);
            const Declared declared(step);
            const bool waiting = std::ranges::any_of(
                declared.names, [&](const std::string& name) { return waits.contains(name); });
            // An mbarrier or the barrier of a cluster acquires by default, but not where it is .relaxed.
            const MemoryOrder order = order_of(step);
            CHECK(declared.awaits_arrivals == (order.strong ? order.acquire : waiting || order.acquire));
        }
}

TEST_CASE("a step that waits, takes part in groups or has no destination does something") {
    for (const Instruction* op : all()) {
        INFO(op->name);
        const bool gives = std::ranges::any_of(
            op->operands, [](const OperandRule& rule) { return rule.access != Access::in; });
        if (op->awaits != Awaits::nothing || !gives) {
            CHECK_FALSE(Declared(test::step_of(*op, test::some_forms_of(*op).front())).names.empty());
        }
    }
}

TEST_CASE("without effects, inline assembly is pinned where lanes give each other values") {
    for (const Instruction* op : all())
        if (op->effects != nullptr) CHECK(pinned(*op));
    for (std::string_view name : {"elect.sync", "movmatrix", "shfl.sync", "vote.sync"}) {
        CHECK(find(name)->effects == nullptr);
        CHECK(pinned(*find(name)));
    }
    for (std::string_view name : {"add", "mapa", "special", "createpolicy.cvt.L2"})
        CHECK_FALSE(pinned(*find(name)));
}
