// How many bytes the boxes of tensor maps may have that no launch describes: compilers place tiles one behind
// the other, so that a box ends at most where something else begins, and each phase of an mbarrier says how
// many bytes its copies bring together. Proofs take the sizes for granted, and say so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::check {

/// Maps have numbers (abstract execution::Copies::map_of). Places and sizes in bytes.
class BoxSizes {
  public:
    enum class To : std::uint8_t { shared, global };
    /// A copy by this map writes or reads shared memory from this byte on, in a buffer that ends there.
    void place(std::uint64_t map, To to, std::int64_t at, std::int64_t end);
    /// Something that is no box begins there.
    void taken(std::int64_t at) { ends_.insert(at); }
    /// Copies by these maps bring so many bytes together, as the step there says.
    void phase(std::vector<std::uint64_t> maps, std::int64_t bytes, Where where);
    void add(const BoxSizes& others);
    /// Where a phase expects other bytes than another one, whose copies are by the same maps: one of the two
    /// never completes, or does so early. Nothing: none does.
    const std::optional<Where>& contradiction() const { return contradiction_; }
    static constexpr std::string_view contradicted =
        "it expects other bytes than another phase, whose copies are by the same tensor maps";

    /// The sizes by map, of those that have one which fits all places and phases.
    std::map<std::uint64_t, std::int64_t> fitting() const;

  private:
    /// Results are often stored from where operands were: boxes of one direction alone limit each other.
    std::map<To, std::map<std::uint64_t, std::set<std::int64_t>>> places_;
    std::set<std::int64_t> ends_;
    struct Phase {
        std::int64_t bytes;
        Where where;
    };
    std::map<std::vector<std::uint64_t>, Phase> phases_;  ///< by maps, sorted; of one map alone, by a copy
    std::optional<Where> contradiction_;
};

}  // namespace wgrun::check
