#include "wgrun/coverage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "isa/effects.hpp"
#include "isa/order.hpp"

namespace wgrun {
namespace {

/// Whether what others see of a step, or when, is what it is for.
struct Synchronises final : isa::Effects {
    explicit Synchronises(const Step& step) {
        const isa::MemoryOrder order = isa::order_of(step);
        it_does = order.acquire || order.release;
        isa::visit_effects(step, *this);
    }
    bool it_does = false;

  private:
    void fence() override { it_does = true; }
    void proxy_fence(std::optional<isa::Space>) override { it_does = true; }
    void await_arrivals() override { it_does = true; }
    void release_map() override { it_does = true; }
    void acquire_map() override { it_does = true; }
    void order_registers() override { it_does = true; }
    void commit_mma() override { it_does = true; }
    void wait_mma(int) override { it_does = true; }
    void commit_copies() override { it_does = true; }
    void wait_copies(std::optional<int>) override { it_does = true; }
    void arrive_copies(const isa::Operand&) override { it_does = true; }
    void bulk_copy(const isa::BulkAccess&) override { it_does = true; }
    void commit_bulk() override { it_does = true; }
    void wait_bulk(int, bool) override { it_does = true; }
    void counted(const isa::Operand&) override { it_does = true; }
    void mbarrier(const isa::MbarrierAccess&) override { it_does = true; }
    void barrier(const isa::Operand&, const isa::Operand&) override { it_does = true; }
    void arrive(const isa::Operand&, const isa::Operand&) override { it_does = true; }
    void cluster_arrive() override { it_does = true; }
    void cluster_wait() override { it_does = true; }
    void converge() override { it_does = true; }
    void set_registers(int, bool) override { it_does = true; }
    void launch_dependents() override { it_does = true; }
    void wait_for_grids() override { it_does = true; }
};

bool same(const CoveredKernel& a, const CoveredKernel& b) {
    return a.where == b.where && a.name == b.name &&
           std::ranges::equal(a.instructions, b.instructions, [](const auto& one, const auto& other) {
               return one.where == other.where && one.op == other.op;
           });
}

}  // namespace

std::size_t CoveredKernel::executed() const {
    return static_cast<std::size_t>(std::ranges::count(instructions, true, &Instruction::executed));
}

double CoveredKernel::percent() const {
    return instructions.empty()
               ? 100
               : 100.0 * static_cast<double>(executed()) / static_cast<double>(instructions.size());
}

std::map<std::string_view, std::vector<int>> CoveredKernel::missing() const {
    std::map<std::string_view, std::set<int>> lines;
    for (const Instruction& one : instructions)
        if (!one.executed) lines[one.where.file].insert(one.where.line);
    std::map<std::string_view, std::vector<int>> out;
    for (const auto& [file, some] : lines) out[file].assign(some.begin(), some.end());
    return out;
}

std::string CoveredKernel::text() const {
    std::string out = fmt::format("{} of {} synchronising instructions ran", executed(), instructions.size());
    std::vector<std::string> here, elsewhere;
    for (const auto& [file, lines] : missing()) {
        const auto ran_between = [this, &file = file](int first, int last) {
            return std::ranges::any_of(instructions, [&](const Instruction& one) {
                return one.executed && one.where.file == file && one.where.line >= first &&
                       one.where.line <= last;
            });
        };
        for (std::size_t first = 0, last = 0; first < lines.size(); first = ++last) {
            while (last + 1 < lines.size() && !ran_between(lines[first], lines[last + 1])) ++last;
            const std::string range = first == last ? std::to_string(lines[first])
                                                    : fmt::format("{}-{}", lines[first], lines[last]);
            if (file == where.file)
                here.push_back(range);
            else
                elsewhere.push_back(fmt::format("{}:{}", file, range));
        }
    }
    if (here.empty() && elsewhere.empty()) return out;
    out += "; not: ";
    if (!here.empty())
        out += fmt::format("line{} {}", missing()[where.file].size() == 1 ? "" : "s", fmt::join(here, ", "));
    if (!here.empty() && !elsewhere.empty()) out += ", ";
    return out + fmt::format("{}", fmt::join(elsewhere, ", "));
}

void Coverage::add(const Program& program, const std::unordered_set<const Step*>& executed) {
    CoveredKernel kernel{program.name(), program.where()};
    for_each_step(program, [&](const Step& step) {
        if (Synchronises(step).it_does)
            kernel.instructions.push_back({step.where, step.op->name, executed.contains(&step)});
    });
    const auto known =
        std::ranges::find_if(kernels_, [&](const CoveredKernel& other) { return same(kernel, other); });
    if (known == kernels_.end()) return kernels_.push_back(std::move(kernel));
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i)
        known->instructions[i].executed |= kernel.instructions[i].executed;
}

}  // namespace wgrun
