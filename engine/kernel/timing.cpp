#include "kernel/timing.hpp"

#include <algorithm>

namespace wgrun {

Timing summary(std::vector<double> us, double flops, Backend backend) {
    std::sort(us.begin(), us.end());
    const std::size_t middle = us.size() / 2;
    Timing timing;
    timing.backend = backend;
    timing.rounds = static_cast<int>(us.size());
    timing.min_us = us.front();
    timing.max_us = us.back();
    timing.median_us = us.size() % 2 ? us[middle] : (us[middle - 1] + us[middle]) / 2;
    timing.tflops = flops / timing.median_us * 1e-6;
    return timing;
}

}  // namespace wgrun
