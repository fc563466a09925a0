#include "rules/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace wgrun::rules {
namespace {

/// `#` stands for a number.
struct Row {
    std::string_view lua, ptx;
};

constexpr Row fence{"wgmma_fence()", "wgmma.fence.sync.aligned"};
constexpr Row commit{"wgmma_commit_group()", "wgmma.commit_group.sync.aligned"};
constexpr Row wait{"wgmma_wait_group(#)", "wgmma.wait_group.sync.aligned #"};
constexpr Row barrier{"bar_sync(#)", "bar.sync #"};
constexpr Row warp_barrier{"bar_warp_sync()", "bar.warp.sync -1"};
constexpr Row arrive{"barrier_cluster_arrive()", "barrier.cluster.arrive.aligned"};
constexpr Row cluster{"barrier_cluster_wait()", "barrier.cluster.wait.aligned"};
constexpr Row proxy{"fence_proxy_async()", "fence.proxy.async"};
constexpr Row init{"fence_mbarrier_init()", "fence.mbarrier_init.release.cluster"};
constexpr Row grids_wait{"griddepcontrol_wait()", "griddepcontrol.wait"};
constexpr Row copy_commit{"cp_async_commit_group()", "cp.async.commit_group"};
constexpr Row copy_wait{"cp_async_wait_group(#)", "cp.async.wait_group #"};
constexpr Row copy_wait_all{"cp_async_wait_all()", "cp.async.wait_all"};
constexpr Row bulk_commit{"cp_async_bulk_commit_group()", "cp.async.bulk.commit_group"};
constexpr Row bulk_wait{"cp_async_bulk_wait_group(#)", "cp.async.bulk.wait_group #"};
constexpr Row bulk_read{"cp_async_bulk_wait_group(#, {read=true})", "cp.async.bulk.wait_group.read #"};
constexpr Row more{"setmaxnreg_inc(#)", "setmaxnreg.inc.sync.aligned.u32 #"};
constexpr Row fewer{"setmaxnreg_dec(#)", "setmaxnreg.dec.sync.aligned.u32 #"};

constexpr std::array rows{fence,         commit,      wait,      barrier,    warp_barrier, arrive,
                          cluster,       proxy,       init,      grids_wait, copy_commit,  copy_wait,
                          copy_wait_all, bulk_commit, bulk_wait, bulk_read,  more,         fewer};

std::string filled(std::string_view pattern, std::string_view number) {
    const std::size_t hole = pattern.find('#');
    if (hole == std::string_view::npos) return std::string(pattern);
    return fmt::format("{}{}{}", pattern.substr(0, hole), number, pattern.substr(hole + 1));
}

Phrase spelled(const Row& row, int number = 0) {
    const std::string digits = std::to_string(number);
    return {filled(row.lua, digits), filled(row.ptx, digits)};
}

/// How much of `text` the row's call is, and the number in it; 0 where it begins with another.
std::size_t matches(const Row& row, std::string_view text, std::string_view& number) {
    const std::size_t hole = row.lua.find('#');
    if (hole == std::string_view::npos) return text.starts_with(row.lua) ? row.lua.size() : 0;
    if (!text.starts_with(row.lua.substr(0, hole))) return 0;
    const auto digits = text.substr(hole);
    const auto end = std::ranges::find_if_not(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
    number = digits.substr(0, static_cast<std::size_t>(end - digits.begin()));
    const std::string_view rest = row.lua.substr(hole + 1);
    if (number.empty() || !digits.substr(number.size()).starts_with(rest)) return 0;
    return hole + number.size() + rest.size();
}

}  // namespace

Phrase wgmma_fence() { return spelled(fence); }
Phrase wgmma_commit_group() { return spelled(commit); }
Phrase wgmma_wait_group(int pending) { return spelled(wait, pending); }
Phrase bar_sync() { return spelled(barrier); }
Phrase bar_warp_sync() { return spelled(warp_barrier); }
Phrase cluster_arrive() { return spelled(arrive); }
Phrase cluster_wait() { return spelled(cluster); }
Phrase fence_proxy_async() { return spelled(proxy); }
Phrase fence_mbarrier_init() { return spelled(init); }
Phrase griddepcontrol_wait() { return spelled(grids_wait); }
Phrase cp_async_commit_group() { return spelled(copy_commit); }
Phrase cp_async_wait_group(int pending) { return spelled(copy_wait, pending); }
Phrase cp_async_wait_all() { return spelled(copy_wait_all); }
Phrase bulk_commit_group() { return spelled(bulk_commit); }
Phrase bulk_wait_group() { return spelled(bulk_wait); }
Phrase bulk_wait_for_reads() { return spelled(bulk_read); }
Phrase setmaxnreg(bool increase, int registers) { return spelled(increase ? more : fewer, registers); }

Phrase align_option() { return {"align", ".align"}; }
Phrase transpose_option(char operand) {
    return {fmt::format("trans_{}", operand), fmt::format("imm-trans-{}", operand)};
}

std::string in_dialect(std::string_view words, Dialect dialect) {
    if (dialect == Dialect::lua) return std::string(words);
    std::string out;
    while (!words.empty()) {
        const std::size_t call = std::min(words.find("k:"), words.size());
        const bool begins = call == 0 || std::isalnum(static_cast<unsigned char>(words[call - 1])) == 0;
        out += words.substr(0, call);
        words.remove_prefix(call);
        if (words.empty()) break;
        std::string_view number;
        std::size_t length = 0;
        const auto row = std::ranges::find_if(rows, [&](const Row& candidate) {
            length = begins ? matches(candidate, words.substr(2), number) : 0;
            return length != 0;
        });
        out += row == rows.end() ? "k:" : filled(row->ptx, number);
        words.remove_prefix(2 + length);
    }
    return out;
}

}  // namespace wgrun::rules
