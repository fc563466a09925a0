// wgrun run --dump NAME@LINE: values when warps reach a line.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "debug/debug_symbols.hpp"
#include "debug/when.hpp"
#include "isa/lanes.hpp"

namespace wgrun {
namespace {

using namespace debugging;

class Dumper final : public sim::Observer {
  public:
    Dumper(Kernel& kernel, const RunOptions& options, std::span<const DebugDump> dumps,
           const std::function<void(std::string_view)>& write)
        : program_(kernel.program()), options_(options), symbols_(program_, options), write_(write) {
        for (std::size_t i = 0; i < dumps.size(); ++i) {
            Where where;
            for_each_step(program_, [&](const Step& step) {
                if (step.where.line == dumps[i].line) where = step.where;
            });
            if (where) states_.push_back({i, &dumps[i], symbols_.find(dumps[i].name, where), {}, {}, false});
        }
    }

    std::vector<bool> done(std::size_t count) const {
        std::vector<bool> out(count);
        for (const State& state : states_) out[state.index] = state.done;
        return out;
    }

    void begin(sim::View view) override {
        lines_.begin(view.warps());
        for (State& state : states_) {
            state.times.clear();
            state.copies.clear();
        }
    }

    void before(sim::View view, int number) override {
        const sim::View::Warp warp = view.warp(number);
        const Where where = view.code().where(warp.pc);
        if (!lines_.enters(number, warp.pc, where)) return;
        for (State& state : states_)
            if (where.line == state.dump->line) come(state, view, number, warp);
    }

  private:
    struct State {
        std::size_t index;  ///< of the dump
        const DebugDump* dump;
        Symbol symbol;
        std::map<int, std::uint64_t> times;  ///< how often each warp has reached the line
        /// Registers of the warps that have reached the line and together hold one fragment.
        std::map<int, std::map<std::uint32_t, std::vector<std::byte>>> copies;
        bool done;
    };

    std::vector<std::byte> copy(sim::View view, int warp, isa::Reg reg) const {
        const std::byte* lanes = view.lanes_of(warp, reg);
        const int bytes = isa::storage_bytes(program_.registers()[reg.id].type);
        return {lanes, lanes + std::ptrdiff_t{isa::lanes} * bytes};
    }

    void come(State& state, sim::View view, int number, const sim::View::Warp& warp) {
        const DebugWhen& when = state.dump->when;
        const std::optional<Symbols::Holders> held = symbols_.holders(state.symbol, view, number);
        const bool together = held && held->warps > 1;
        DebugWhen meant = when;
        if (together) {  // the warps of the group arrive at different times
            if (when.warp && *when.warp / held->warps != warp.warp / held->warps) return;
            meant.warp.reset();
            meant.lane.reset();
        }
        if (!fits(meant, warp, options_.grid) || ++state.times[number] != when.nth.value_or(1)) return;
        if (!together) return print(state, view, number, fmt::format("warp {}", warp.warp));
        auto& mine = state.copies[number];
        for (const isa::Reg reg : state.symbol.regs) mine[reg.id] = copy(view, number, reg);
        for (int w = held->first; w < held->first + held->warps; ++w)
            if (!state.copies.contains(w)) return;
        const int first = view.warp(held->first).warp;
        print(state, view, number, fmt::format("warps {}-{}", first, first + held->warps - 1));
        for (int w = held->first; w < held->first + held->warps; ++w) state.copies.erase(w);
    }

    void print(State& state, sim::View view, int number, const std::string& who) {
        const auto lanes = [&](int w, isa::Reg reg) -> const std::byte* {
            const auto found = state.copies.find(w);
            return found == state.copies.end() ? view.lanes_of(w, reg) : found->second.at(reg.id).data();
        };
        const std::uint64_t nth = state.dump->when.nth.value_or(1);
        write_(fmt::format("{}@{} cta {} {}{}\n{}", state.dump->name, state.dump->line,
                           number_of(view.warp(number).cta, options_.grid), who,
                           nth > 1 ? fmt::format(", time {}", nth) : "",
                           symbols_.show(state.symbol, view, number, lanes, true)));
        state.done = true;
    }

    const Program& program_;
    const RunOptions& options_;
    Symbols symbols_;
    const std::function<void(std::string_view)>& write_;
    Lines lines_;
    std::vector<State> states_;
};

}  // namespace

std::vector<bool> dump(Kernel& kernel, const RunOptions& options, std::span<const DebugDump> dumps,
                       const std::function<void(std::string_view)>& write) {
    RunOptions run = options;
    run.backend = Backend::sim;
    Dumper dumper(kernel, run, dumps, write);
    run.observer = &dumper;
    kernel.run(run);
    return dumper.done(dumps.size());
}

}  // namespace wgrun
