// What phases of mbarriers tell of tensor maps that no launch describes: a map of a parameter has boxes of
// one size, whichever copy names it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace wgrun::machine {

class PhaseBytes {
  public:
    /// A phase, and the step that told it last to expect bytes.
    struct Told {
        std::int64_t bytes;
        std::uint32_t pc;
    };

    void reset() { phases_.clear(); }

    /// Copies by these maps, in any order, bring so many bytes together. Returns another phase whose copies
    /// by the same maps bring other ones; nothing where there is none.
    std::optional<Told> brought(std::vector<std::uint64_t> maps, Told told) {
        std::ranges::sort(maps);
        const auto [first, is_new] = phases_.try_emplace(std::move(maps), told);
        if (is_new || first->second.bytes == told.bytes) return std::nullopt;
        return first->second;
    }

  private:
    std::map<std::vector<std::uint64_t>, Told> phases_;  ///< by maps: the first one
};

}  // namespace wgrun::machine
