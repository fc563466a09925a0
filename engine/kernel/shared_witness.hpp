// What a run of the first cluster with synthetic arguments does with the bytes of shared memory, as
// far as it comes (synthetic.hpp): which of them are mbarriers, and where the matrices of wgmma begin.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "isa/effects.hpp"
#include "wgrun/program.hpp"
#include "wgrun/tile.hpp"

namespace wgrun {

/// The matrices that one operand of wgmma reads.
struct MatrixKind {
    bool is_a = false;
    int rows = 0;
    SwizzleMode swizzle = SwizzleMode::none;
    auto operator<=>(const MatrixKind&) const = default;  // NOLINT(modernize-use-nullptr): of clang 14 alone
    /// Returns how many bytes of shared memory rows of the swizzle's width take.
    std::int64_t bytes() const;
};

struct SharedUse {
    std::map<std::int64_t, std::int64_t> mbarriers;  ///< by their offset: the arrivals that are expected
    std::map<MatrixKind, std::set<std::int64_t>> matrices;  ///< where they begin
};

SharedUse seen_in_shared(const Program& program);

/// What a step does in shared memory, as it is written.
struct NamedPlaces final : isa::Effects {
    struct Mbarrier {
        const Operand* address;
        bool arrives, counts_bytes;
        const Operand* arrivals;  ///< that an init expects; null: it is none
    };
    struct Matrix {
        const Operand* descriptor;
        bool is_a;
        int rows;
    };
    struct Copy {
        const Operand* address;
        bool is_read;
        const Operand*
            global;  ///< the address there, or the tensor map; null: both ends are in shared memory
    };
    explicit NamedPlaces(const Step& step) { isa::visit_effects(step, *this); }
    std::vector<Mbarrier> mbarriers;
    std::vector<Matrix> matrices;
    std::vector<Copy> copies;
    std::vector<const std::vector<Reg>*> accumulators;

    void mbarrier(const isa::MbarrierAccess& access) override;
    void counted(const Operand& mbarrier) override { mbarriers.push_back({&mbarrier, true, true, nullptr}); }
    void arrive_copies(const Operand& mbarrier) override {
        mbarriers.push_back({&mbarrier, true, false, nullptr});
    }
    void issue_mma(const isa::AsyncMma& mma) override {
        accumulators.push_back(mma.accumulators);
        if (mma.a_descriptor != nullptr) matrices.push_back({mma.a_descriptor, true, mma.rows_a});
        matrices.push_back({mma.b_descriptor, false, mma.rows_b});
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.to != nullptr) copies.push_back({copy.to, false, copy.global});
        if (copy.from != nullptr) copies.push_back({copy.from, true, copy.global});
    }
};

}  // namespace wgrun
