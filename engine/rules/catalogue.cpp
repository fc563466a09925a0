// All rows of the law book.
#include <algorithm>
#include <iterator>

#include "wgrun/rules.hpp"

namespace wgrun {
namespace rules {
namespace {

/// By id.
constexpr const Rule* catalogue[] = {
    &WG_ASM_01,    &WG_ASM_02,    &WG_ASM_03,    &WG_DESC_01,  &WG_DESC_02,  &WG_DESC_03,  &WG_DESC_04,
    &WG_DESC_05,   &WG_FENCE_01,  &WG_FORM_01,   &WG_FORM_02,  &WG_FORM_03,  &WG_FORM_04,  &WG_FORM_05,
    &WG_FORM_06,   &WG_GROUP_01,  &WG_GROUP_02,  &WG_GROUP_03, &WG_GROUP_04, &WG_GROUP_05, &WG_GROUP_06,
    &WG_LAYOUT_01, &WG_LUA_01,    &WG_MBAR_01,   &WG_MBAR_02,  &WG_MBAR_03,  &WG_MBAR_04,  &WG_MBAR_05,
    &WG_MBAR_06,   &WG_MEM_01,    &WG_MEM_02,    &WG_MEM_03,   &WG_MEM_04,   &WG_MEM_05,   &WG_MEM_06,
    &WG_MEM_07,    &WG_PERF_01,   &WG_PERF_02,   &WG_PERF_03,  &WG_PERF_04,  &WG_PERF_05,  &WG_PERF_06,
    &WG_PERF_07,   &WG_PERF_08,   &WG_PERF_09,   &WG_PERF_10,  &WG_PROXY_01, &WG_PROXY_02, &WG_PROXY_03,
    &WG_RACE_01,   &WG_RACE_02,   &WG_RACE_03,   &WG_RACE_04,  &WG_RACE_05,  &WG_REG_01,   &WG_REG_02,
    &WG_REG_03,    &WG_REG_04,    &WG_REG_05,    &WG_SASS_01,  &WG_SASS_02,  &WG_SASS_03,  &WG_SASS_04,
    &WG_SASS_05,   &WG_SASS_06,   &WG_SASS_07,   &WG_SASS_08,  &WG_SASS_09,  &WG_SASS_10,  &WG_SASS_11,
    &WG_SPARSE_01, &WG_SPARSE_02, &WG_SPARSE_03, &WG_SYNC_01,  &WG_SYNC_02,  &WG_SYNC_03,  &WG_SYNC_04,
    &WG_SYNC_05,   &WG_SYNC_06,   &WG_SYNC_07,   &WG_SYNC_08,  &WG_TMA_01,   &WG_TMA_02,   &WG_TMA_03,
    &WG_TMA_04,    &WG_TMA_05,    &WG_TMA_06,    &WG_TMA_07,   &WG_TRAP_01};

struct Name {
    Finder finder;
    std::string_view text;
};
constexpr Name names[] = {{Finder::script, "script"},
                          {Finder::check, "check"},
                          {Finder::ahead, "run ahead"},
                          {Finder::run, "run"},
                          {Finder::assembler, "assembler"}};

}  // namespace

std::span<const Rule* const> all() { return catalogue; }

}  // namespace rules

const Rule* find_rule(std::string_view id) {
    const auto found = std::ranges::lower_bound(rules::catalogue, id, {}, &Rule::id);
    return found != std::end(rules::catalogue) && (*found)->id == id ? *found : nullptr;
}

std::string to_string(Finder set) {
    std::string text;
    for (const auto& [finder, name] : rules::names) {
        if (!contains(set, finder)) continue;
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text;
}

}  // namespace wgrun
