// Kernels of roles, mbarriers and copies, and the outcome of their abstract execution.
#pragma once

#include "check/abstract_execution.hpp"
#include "tests/unit/check/kit.hpp"

namespace kit {

/// The outcome of an abstract execution.
struct Execution {
    Findings findings;
    std::vector<Diagnostic> full;  ///< the same
    Findings remarks;
    bool complete, gave_up;

    /// Returns the message of the first finding.
    std::string message() const { return full.empty() ? std::string() : full.front().message; }
};

class Roles : public Kernel {
  public:
    explicit Roles(int threads = 64, Dim3 cluster = {}) : Kernel(threads, cluster), thread(tid()) {
        first = compare("eq", thread, imm(0));
    }

    // --- threads
    Reg special(std::string_view name) {
        return value("special", Form().set(Field::sreg, *isa::parse_value(Field::sreg, name)), {});
    }
    /// The threads of warps `from` to `to`.
    Reg warps(int from, int to) {
        const Reg warp = shift_right(thread, 5);
        return compare("le", add(warp, imm(-from)), imm(to - from));
    }
    /// Thread 0 alone, by a guard.
    template <class Call>
    auto once(Call call) {
        guard(first);
        const auto out = call();
        guard({});
        return out;
    }
    /// Returns a value loaded from memory.
    Reg unknown() {
        if (pointer_ < 0) pointer_ = builder().param("x", Type::u64, Dtype::u32);
        const Reg at = value("ld.param", type(Type::u64), {Operand::param(pointer_)});
        Form form = type(Type::u32);
        form.set(Field::space, static_cast<int>(isa::Space::global));
        return value("ld", form, {Operand::address(at, 0)});
    }

    // --- mbarriers
    int memory(std::string name, std::int64_t bytes, std::int64_t align = 1024) {
        return builder().shared(std::move(name), bytes, align, {});
    }
    static Operand in(int buffer, std::int64_t offset = 0) { return test::in_buffer(buffer, offset); }
    static Operand at(Reg address, std::int64_t offset = 0) { return Operand::address(address, offset); }
    int init(const Operand& bar, std::int64_t count) { return step("mbarrier.init", {}, {bar, imm(count)}); }
    int announce() { return step("fence.mbarrier_init"); }
    /// Thread 0 initialises it, and all threads know. Lines: the init, the fence, bar.sync.
    int make(const Operand& bar, std::int64_t count) {
        const int line = once([&] { return init(bar, count); });
        once([&] { return announce(); });
        bar_sync();
        return line;
    }
    int inval(const Operand& bar) { return step("mbarrier.inval", {}, {bar}); }
    int arrive(const Operand& bar, std::int64_t count = 1, std::string_view space = "shared::cta") {
        return step("mbarrier.arrive", Form().set(Field::space, *isa::parse_value(Field::space, space)),
                    {bar, imm(count)});
    }
    int expect(const Operand& bar, std::int64_t bytes) {
        return step("mbarrier.arrive.expect_tx", {}, {bar, imm(bytes)});
    }
    /// Waits in a loop of one line.
    int wait_for(const Operand& bar, const Operand& parity) {
        builder().at(Where::at("k.lua", line() + 1));
        builder().begin_loop();
        const Reg done = value("mbarrier.try_wait.parity", {}, {bar, parity});
        const int out = line();
        builder().loop_condition(value("not", type(Type::pred), {Operand::of(done)}));
        builder().end_loop();
        return out;
    }
    int wait_for(const Operand& bar, std::int64_t parity) { return wait_for(bar, imm(parity)); }

    // --- copies
    /// Returns the address of a tensor map of this box.
    Reg map(TensorBox box) {
        const int param = builder().tensor_map("map" + std::to_string(maps_++), std::move(box), false);
        return value("cvta.param", {}, {Operand::param(param)});
    }
    int load(const Operand& to, Reg map, const Operand& bar, int dims = 2) {
        return step("cp.async.bulk.tensor", Form().set(Field::dim, dims),
                    {to, Operand::of(map), zeros(dims), bar});
    }
    int multicast(const Operand& to, Reg map, const Operand& bar, int mask) {
        return step("cp.async.bulk.tensor", Form().set(Field::dim, 2).set(Field::multicast, 1),
                    {to, Operand::of(map), zeros(2), bar, imm(mask)});
    }
    int store_box(Reg map, const Operand& from) {
        return step("cp.async.bulk.tensor.store", Form().set(Field::dim, 2),
                    {Operand::of(map), zeros(2), from});
    }
    int commit_stores() { return step("cp.async.bulk.commit_group"); }
    int wait_stores(int pending, bool read = true) {
        return step("cp.async.bulk.wait_group", Form().set(Field::read, read), {imm(pending)});
    }

    // --- barriers, clusters, registers
    int bar_sync(std::int64_t id = 0, std::int64_t threads = 0) {
        return step("bar.sync", {}, {imm(id), imm(threads)});
    }
    int bar_arrive(std::int64_t id, std::int64_t threads) {
        return step("bar.arrive", {}, {imm(id), imm(threads)});
    }
    Reg peer(Reg address, const Operand& rank) {
        return value("mapa", type(Type::u32), {Operand::of(address), rank});
    }
    Reg address_of(int buffer) { return value("mov", type(Type::u32), {Operand::shared(buffer, 0)}); }
    int cluster_arrive(std::string_view sem = {}) {
        Form form;
        if (!sem.empty()) form.set(Field::sem, *isa::parse_value(Field::sem, sem));
        return step("barrier.cluster.arrive", form);
    }
    int cluster_wait() { return step("barrier.cluster.wait"); }
    void cluster_sync() {
        cluster_arrive();
        cluster_wait();
    }
    int setmaxnreg(std::string_view op, int registers) {
        return step("setmaxnreg", Form().set(Field::op, *isa::parse_value(Field::op, op)), {imm(registers)});
    }

    // --- the outcome
    /// Runs one abstract execution with these sizes; integer parameters are 256. The kernel is used up.
    /// Threads write to shared memory only as `stored` says, by buffer.
    Execution execute(Dim3 grid = {1, 1, 1}, std::vector<bool> stored = {}) {
        const Program program = builder().finish();
        stored.resize(program.shared().size());
        Execution out = execute(program, grid, stored);
        INFO("on one line");
        CHECK(test::rules_of(execute(test::on_one_line(program), grid, stored).full) ==
              test::rules_of(out.full));
        for (const Diagnostic& finding : out.full) out.findings.push_back({finding.rule, finding.where.line});
        return out;
    }

    Reg thread, first;

  private:
    static Execution execute(const Program& program, Dim3 grid, const std::vector<bool>& stored) {
        const check::Pressure pressure(program);
        check::Skeleton skeleton(program, &pressure);
        skeleton.stored = stored;
        if (skeleton.ops.empty()) return {{}, {}, {}, true, false};
        check::AbstractExecution execution(program, skeleton,
                                           {grid, std::vector<std::int64_t>(program.params().size(), 256)});
        execution.run();
        Execution out{{}, reported_once(execution.faults()), {}, execution.complete(), execution.gave_up()};
        for (const Diagnostic& remark : execution.remarks())
            out.remarks.push_back({remark.rule, remark.where.line});
        return out;
    }
    Operand zeros(int dims) {
        std::vector<Reg> out;
        for (int d = 0; d < dims; ++d) out.push_back(value("mov", type(Type::s32), {imm(0)}));
        return Operand::of(out);
    }
    int pointer_ = -1, maps_ = 0;
};

}  // namespace kit
