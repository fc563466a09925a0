// What wgmma reads in an abstract execution, and when it has been read: WG-TMA-02, -03, -05, WG-RACE-02.
//
// The first byte of a matrix is certainly read by the wgmma: a copy that covers it overwrites the matrix.
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "check/abstract/contents.hpp"
#include "check/abstract/values.hpp"
#include "check/cells.hpp"
#include "isa/effects.hpp"
#include "machine/groups.hpp"

namespace wgrun::check::abstract {

class MmaReads final : private isa::Effects {
  public:
    MmaReads(ExecutionState& execution, Faults& report, const Values& values, Mbarriers& mbarriers,
             const Contents& contents);

    /// The current step issues, commits or waits for wgmma.
    void step();
    /// A copy that the mbarrier counts will write to addresses [lo, hi) of its CTA.
    void overwritten(const Mbarrier& mbarrier, std::uint32_t lo, std::uint32_t hi);

    auto state() { return std::tie(points_, issuers_, issued_); }
    void encode(Encoder& to);

  private:
    /// The first byte of matrices that wgmma read, and their readers.
    struct Point {
        struct Reader {
            int warp;
            std::uint32_t serial;   ///< number of the wgmma step within the warp
            std::uint32_t product;  ///< the same in the groups of the warp
            std::uint32_t clock;    ///< clock of the warp when it had waited for the wgmma; 0: it has not
            const Step* step;
            const Step* committed;  ///< the commit_group that followed; null: none yet
        };
        std::uint32_t address;
        std::vector<Reader> readers{};
    };
    /// The wgmma of a warp.
    struct Issuer {
        std::uint32_t steps = 0;  ///< that issued, committed or waited for wgmma
        machine::Groups<> groups;
    };

    void issue_mma(const isa::AsyncMma& mma) override;
    void commit_mma() override;
    void wait_mma(int pending) override;

    void compare_with_mates();
    bool mates_lag(std::uint32_t last) const;
    void reads(const Operand& descriptor, const Matrix& read);
    void compare(const Written& written, const Matrix& read, std::uint64_t descriptor);
    template <class F>
    void for_each_own(F f);
    bool is_mate(int warp, int other) const;
    /// Forgets what all warps come after.
    void settle();
    bool known_past(const Warp& warp, const Point& point, const Point::Reader& reader) const;
    static Fix release_later(const Point::Reader& reader);
    std::vector<Point>& points(int cta) { return points_[static_cast<std::size_t>(cta)]; }
    /// The wgmma of a warpgroup that not all its warps have issued, from that number on.
    struct Issued {
        std::uint32_t first = 1;
        std::vector<std::pair<const Step*, std::uint32_t>> steps{};  ///< and where its group begins
    };
    Issuer& own() { return issuers_[static_cast<std::size_t>(execution_.warp->number)]; }

    ExecutionState& execution_;
    Faults& report_;
    const Values& values_;
    Mbarriers& mbarriers_;
    const Contents& contents_;
    std::vector<std::vector<Point>> points_;  ///< by CTA
    std::vector<Issuer> issuers_;             ///< by warp
    std::vector<Issued> issued_;              ///< by the first warp of a warpgroup
    /// Matrices that have been compared with the boxes that fill them: the wgmma, the copy, the descriptor.
    std::set<std::tuple<const Step*, const Step*, std::uint64_t>> compared_;
};

}  // namespace wgrun::check::abstract
