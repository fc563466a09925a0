#include "check/launch_limit.hpp"

#include <array>
#include <cmath>

namespace wgrun::check {

double LaunchNumber::of(const LaunchSizes& launch) const {
    const std::array grid{launch.grid.x, launch.grid.y, launch.grid.z};
    double sum = 0;
    for (const Term& term : terms) {
        auto product = static_cast<double>(term.times);
        for (const Factor& factor : term.factors)
            if (factor.param >= 0)
                product *= static_cast<double>(launch.params.at(static_cast<std::size_t>(factor.param)));
            else if (factor.dim >= 0)
                product *= static_cast<double>(grid.at(static_cast<std::size_t>(factor.dim)));
            else
                product *= std::floor(factor.dividend->of(launch) / static_cast<double>(factor.divisor));
        sum += product;
    }
    return sum;
}

std::set<int> LaunchNumber::params() const {
    std::set<int> out;
    for (const Term& term : terms)
        for (const Factor& factor : term.factors) {
            if (factor.param >= 0) out.insert(factor.param);
            if (factor.dividend != nullptr) out.merge(factor.dividend->params());
        }
    return out;
}

}  // namespace wgrun::check
