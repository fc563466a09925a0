#include "timeline/timestamps.hpp"
#include "timeline/one_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "program/printing.hpp"
#include "sim/observer.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::timeline {
namespace {

namespace timestamp = isa::timestamp;

/// The memory that the kernel writes its timestamps to.
class Buffer {
  public:
    Buffer(const Program& program, const ProfileOptions& options)
        : slice_(timestamp::header_bytes + options.events * timestamp::timestamp_bytes),
          slices_(slices(program, options)),
          memory_(Tensor::zeros(Dtype::u32, {(timestamp::control_bytes + slices_ * slice_) / 4})) {
        write(0, slices_);
        write(4, slice_);
        write(8, options.clusters);
    }

    Tensor& memory() { return memory_; }

    void read(Timestamps& out) const {
        const std::int64_t taken = word(timestamp::taken_at);
        out.dropped_warps = static_cast<std::uint64_t>(std::max<std::int64_t>(taken - slices_, 0));
        for (std::int64_t i = 0; i < std::min(taken, slices_); ++i)
            read(timestamp::control_bytes + i * slice_, out);
    }

  private:
    std::int64_t slices(const Program& program, const ProfileOptions& options) const {
        constexpr std::int64_t plenty = std::int64_t{32} << 20, most = std::int64_t{1} << 31;  // bytes
        const std::int64_t warps = (program.threads() + isa::lanes - 1) / isa::lanes;
        const auto clusters = static_cast<std::int64_t>(options.grid.volume() / program.cluster().volume());
        const std::int64_t of_cluster = warps * static_cast<std::int64_t>(program.cluster().volume());
        const std::int64_t wanted = std::min<std::int64_t>(options.clusters, clusters) * of_cluster;
        const std::int64_t out = std::min(clusters * of_cluster, std::max(wanted, plenty / slice_));
        if (options.events > most || out * slice_ > most)
            throw ArgumentError(fmt::format("a profile of {} for each of {} takes more than 2 GiB",
                                            count_of(options.events, "event"), count_of(out, "warp")),
                                "ask for fewer clusters or events");
        return out;
    }

    void write(std::int64_t offset, std::int64_t value) {
        const auto word = static_cast<std::uint32_t>(value);
        std::memcpy(memory_.bytes().data() + offset, &word, sizeof word);
    }
    template <class T = std::uint32_t>
    T word(std::int64_t offset) const {
        T out;
        std::memcpy(&out, memory_.data() + offset, sizeof out);
        return out;
    }

    void read(std::int64_t at, Timestamps& out) const {
        constexpr std::uint32_t half = 16, low = 0xFFFF;
        ProfiledWarp warp;
        const std::uint32_t yz = word(at + 4);
        warp.cta = {word(at), yz & low, yz >> half};
        warp.warp = static_cast<int>(word(at + 8));
        warp.sm = static_cast<int>(word(at + 12));
        warp.begin = word<std::uint64_t>(at + 16);
        warp.begin_ns = word<std::uint64_t>(at + 24);
        warp.end = word<std::uint64_t>(at + 32);
        warp.end_ns = word<std::uint64_t>(at + 40);
        warp.shared = word(at + 56);
        const std::int64_t first = at + timestamp::header_bytes, last = at + slice_;
        const std::int64_t next = word(at + 48);
        out.dropped +=
            static_cast<std::uint64_t>(std::max<std::int64_t>(next - last, 0) / timestamp::timestamp_bytes);
        // Timestamps have the low half of the clock, and are less than 2^32 cycles (two seconds) apart.
        std::uint64_t now = warp.begin;
        const auto later = [&now](std::uint32_t clock) {
            return now += static_cast<std::uint32_t>(clock - static_cast<std::uint32_t>(now));
        };
        for (std::int64_t s = first; s < std::min(next, last); s += timestamp::timestamp_bytes) {
            Timestamp one;
            one.site = word(s) - 1;
            one.value = word(s + 4);
            one.begin = later(word(s + 8));
            one.end = later(word(s + 12));
            if (one.site < out.sites.size()) warp.timestamps.push_back(one);
        }
        out.warps.push_back(std::move(warp));
    }

    std::int64_t slice_, slices_;  ///< bytes of a slice; number of slices
    Tensor memory_;
};

/// Can a launch be repeated without visible effects?
bool repeats(const Program& program, const std::vector<Argument>& args) {
    return !prints(program) && std::ranges::none_of(args, [](const Argument& argument) {
        return std::holds_alternative<DeviceTensor*>(argument);
    });
}

}  // namespace

Timestamps timestamps_of(Kernel& kernel, const ProfileOptions& options) {
    const Program& program = kernel.program();
    if (!options.unchecked) throw_errors_of(kernel.check());
    timeline::expect_one_device(program, options);
    check_arguments(program, options);
    const Backend backend = choose_backend(options.backend, options.isolation).backend;
    if (backend != Backend::sim && !options.unchecked)
        throw_errors_of(check::LaunchCheck(program).findings(sizes_of(options)));
    ProfiledProgram profiled = wgrun::profiled(program);
    Buffer buffer(program, options);
    Timestamps out;
    out.sites = std::move(profiled.sites);
    Kernel build(std::move(profiled.program));
    RunOptions run = static_cast<const RunOptions&>(options);
    run.backend = backend;
    run.unchecked = true;  // the kernel itself has been checked
    // What a text of PTX left open, the kernel's program has from this launch.
    run.block.reset(), run.cluster.reset(), run.shared.reset();
    run.args.emplace_back(&buffer.memory());
    if (backend == Backend::sim) {
        out.source = Timeline::Source::steps;
        sim::Observer nobody;  // with an observer, clusters run one after the other
        if (run.observer == nullptr) run.observer = &nobody;
        build.run(run);
    } else {
        Launch launch = build.prepare(run);
        if (repeats(program, options.args)) {
            launch.start();
            launch.upload();
        }
        launch.start();
        launch.download();
    }
    buffer.read(out);
    return out;
}

}  // namespace wgrun::timeline
