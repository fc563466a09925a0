// What a launch has to keep for a proof to hold of it, as data: launches are compared with it.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check/sizes.hpp"

namespace wgrun::check {

/// A sum of products of what a launch decides.
struct LaunchNumber {
    struct Factor {
        int param = -1;                                  ///< an integer
        int dim = -1;                                    ///< of the grid, in CTAs: 0 is x
        std::shared_ptr<const LaunchNumber> dividend{};  ///< it is this one by `divisor`, rounded down
        std::int64_t divisor = 1;
    };
    struct Term {
        std::int64_t times = 1;
        std::vector<Factor> factors{};
    };
    std::vector<Term> terms{};

    /// Exact as long as products are below 2^53.
    double of(const LaunchSizes& launch) const;
    /// The parameters that it depends on.
    std::set<int> params() const;
};

struct LaunchLimit {
    std::string text;       ///< "n <= 33554432"
    LaunchNumber number{};  ///< without terms: what it is, a launch does not show
    std::int64_t most = 0;
    /// False, too, where the launch does not show it.
    bool broken_by(const LaunchSizes& launch) const {
        return !number.terms.empty() && number.of(launch) > static_cast<double>(most);
    }
};

}  // namespace wgrun::check
