// The things in a program's shared memory: its mbarriers, the rings of them, and its matrices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/lua.hpp"
#include "kernel/first_values.hpp"
#include "kernel/shared_witness.hpp"

namespace wgrun {

class SharedAllocations {
  public:
    /// params: what the parameters are called.
    SharedAllocations(const Program& program, const FirstValues& first, const SharedUse& seen,
                      const std::vector<std::string>& params);

    /// Returns what lies at a byte of shared memory.
    std::optional<emit::LuaPlace> at(std::int64_t byte) const;
    const std::vector<emit::LuaAllocation>& allocations() const { return allocations_; }

  private:
    struct Mbarrier {
        std::optional<std::int64_t> arrivals;  ///< that it expects
        bool counts_bytes = false, counts_threads = false;
    };
    struct Area {
        std::int64_t end;
        std::size_t allocation, part;
    };
    void collect(const Step& step);
    std::string origin(const Operand* address) const;
    void add_mbarriers();
    void add_matrices();
    void add_copies();
    void add(emit::LuaAllocation allocation, std::int64_t part_bytes);
    void extend(std::size_t allocation, const std::vector<std::int64_t>& bytes);
    void mark(std::size_t allocation, std::int64_t part_bytes);

    const Program& program_;
    const FirstValues& first_;
    const std::vector<std::string>& params_;
    std::map<std::int64_t, Mbarrier> mbarriers_;
    std::set<std::int64_t> ring_begins_;  ///< that a stage is added to
    std::map<MatrixKind, std::set<std::int64_t>> matrices_;
    /// By what is copied, and whether it comes from shared memory: where there.
    std::map<std::pair<std::string, bool>, std::set<std::int64_t>> copies_;
    std::vector<emit::LuaAllocation> allocations_;
    std::map<std::string, int> named_;
    std::map<std::int64_t, Area> areas_;  ///< by their first byte
};

/// Returns where the matrix of a descriptor begins.
std::optional<std::int64_t> start_of(std::int64_t descriptor);

}  // namespace wgrun
