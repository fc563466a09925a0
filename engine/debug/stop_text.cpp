#include "debug/stop_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "debug/debug_symbols.hpp"
#include "program/wait_words.hpp"
#include "rules/wait_words.hpp"

namespace wgrun::debugging {
namespace {

Where where_of(sim::View view, const sim::View::Warp& warp) {
    return view.code().where(warp.waits_at != sim::no_pc ? warp.waits_at : warp.pc);
}

}  // namespace

std::string place_of(sim::View view, int number, Dim3 grid, std::uint64_t time) {
    const sim::View::Warp warp = view.warp(number);
    const std::string who = fmt::format("cta {} warp {}", number_of(warp.cta, grid), warp.warp);
    if (warp.state == sim::View::State::ended) return fmt::format("{} has ended, time {}", who, time);
    const Where where = where_of(view, warp);
    std::string out = fmt::format("{}:{}, {}, time {}", where.file.view(), where.line, who, time);
    if (warp.running != warp.all) out += fmt::format(", lanes {:#010x}", warp.running);
    if (warp.state == sim::View::State::waits) out += ", waits " + warp.waits_for;
    if (const std::string line = source_line(where); !line.empty())
        out += fmt::format("\n{:>5} | {}", where.line, line);
    return out;
}

std::string listing(Where at) {
    constexpr int around = 5;
    std::string out;
    for (int line = std::max(at.line - around, 1); line <= at.line + around; ++line)
        out += fmt::format("{}{:>4} | {}\n", line == at.line ? ">" : " ", line, source_line({at.file, line}));
    return out;
}

std::string warps_of(sim::View view, int selected, Dim3 grid) {
    std::string out;
    for (int w = 0; w < view.warps(); ++w) {
        const sim::View::Warp warp = view.warp(w);
        std::string what = fmt::format("at line {}", where_of(view, warp).line);
        if (warp.state == sim::View::State::ended) what = "has ended";
        if (warp.state == sim::View::State::waits) what += " waits " + warp.waits_for;
        out += fmt::format("{} cta {} warp {}: {}\n", w == selected ? ">" : " ", number_of(warp.cta, grid),
                           warp.warp, what);
    }
    return out;
}

std::string barriers_of(sim::View view, Dim3 grid) {
    std::string out;
    bool any = false;
    for (int rank = 0; rank < view.ctas(); ++rank)
        for (const sim::View::Mbarrier& mbarrier : view.mbarriers(rank)) {
            any = true;
            if (!mbarrier.live) continue;
            out += fmt::format("cta {} {}: phase {} (parity {}), {}\n", number_of(view.cta(rank), grid),
                               wait_words::place(view.program(), mbarrier.offset), mbarrier.phase,
                               mbarrier.phase & 1,
                               rules::what_has_come(mbarrier.expected - mbarrier.pending, mbarrier.expected,
                                                    mbarrier.bytes));
        }
    if (!any) out += "no mbarrier is initialised\n";
    for (int w = 0; w < view.warps(); ++w) {
        const sim::View::Warp warp = view.warp(w);
        if (warp.state == sim::View::State::waits)
            out += fmt::format("cta {} warp {} waits {} (line {})\n", number_of(warp.cta, grid), warp.warp,
                               warp.waits_for, view.code().where(warp.waits_at).line);
    }
    return out;
}

}  // namespace wgrun::debugging
