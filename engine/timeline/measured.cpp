#include "timeline/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "isa/awaited.hpp"

namespace wgrun::timeline {
namespace {

using Kind = Timeline::Kind;
using isa::timestamp::Moment;

bool waits(Moment moment) {
    return moment != Moment::copy && moment != Moment::store && moment != Moment::product &&
           moment != Moment::commit && moment != Moment::nothing;
}

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> key(Dim3 at) { return {at.z, at.y, at.x}; }

/// A recorded CTA.
struct Cta {
    Dim3 at;
    int rank = 0, sm = 0;
    std::vector<const ProfiledWarp*> warps;  ///< by number; null: not recorded
    std::uint64_t begin = UINT64_MAX, end = 0;
};

/// The waits for mbarriers of a CTA: when each one ended, and with which phase.
using Passed = std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint32_t>>>;  // by place

class Layout {
  public:
    Layout(const Program& program, const Timestamps& timestamps, int clusters)
        : program_(program),
          timestamps_(timestamps),
          clusters_(clusters),
          code_(sim::flatten(program)),
          costs_(code_) {
        for (std::uint32_t pc = 0; pc < code_.ops.size(); ++pc) pcs_[code_.ops[pc].step] = pc;
        for (const TimestampSite& site : timestamps.sites) {
            sites_.push_back(pcs_.at(site.step));
            double cycles = 0;
            for (const isa::Step* product : site.products) cycles += costs_.of(pcs_.at(product)).cycles;
            cycles_.push_back(cycles);
        }
        gather();
    }

    Measured run() {
        const auto first =
            std::ranges::find(ctas_, key({0, 0, 0}), [](const Cta& cta) { return key(cta.at); });
        if (first == ctas_.end())
            throw ArgumentError(
                fmt::format("kernel {}: no timestamps of the first CTA were recorded", program_.name()));
        first_ = &*first;
        set_clocks();
        trace();
        out_.roles = roles_of(out_.trace, costs_);
        for (const Cta& cta : ctas_)
            if (cta.sm == first_->sm) ++out_.ctas;
        for (const Cta* cta : chain()) {
            ++out_.shown;
            out_.schedule.cycles = std::max(out_.schedule.cycles, time(*cta, cta->end));
            rows_of(*cta, 0);
            flights(*cta);
        }
        busy();
        others();
        if (timestamps_.source != Timeline::Source::steps)
            out_.microseconds = out_.schedule.cycles / out_.ghz / 1000;
        return std::move(out_);
    }

  private:
    void gather() {
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> known;
        const Dim3 size = program_.cluster();
        const int warps = (program_.threads() + isa::lanes - 1) / isa::lanes;
        for (const ProfiledWarp& warp : timestamps_.warps) {
            const auto [found, added] = known.try_emplace(key(warp.cta), ctas_.size());
            if (added) {
                const auto rank =
                    warp.cta.x % size.x + size.x * (warp.cta.y % size.y + size.y * (warp.cta.z % size.z));
                ctas_.push_back({warp.cta, static_cast<int>(rank), warp.sm, {}});
                ctas_.back().warps.resize(static_cast<std::size_t>(warps));
            }
            Cta& cta = ctas_[found->second];
            if (warp.warp >= warps) continue;
            cta.warps[static_cast<std::size_t>(warp.warp)] = &warp;
            cta.begin = std::min(cta.begin, warp.begin);
            cta.end = std::max(cta.end, warp.end);
        }
        std::ranges::sort(ctas_, {}, [](const Cta& cta) { return key(cta.at); });
    }

    // --- clocks ----------------------------------------------------------------------------------------

    // Each SM has its own clock. All also read the chip's clock, which advances in steps of up to a
    // microsecond: the mean of many pairs is more exact than any of them.
    void set_clocks() {
        std::uint64_t begin = UINT64_MAX, end = 0, begin_ns = UINT64_MAX, end_ns = 0;
        for (const ProfiledWarp& warp : timestamps_.warps) {
            if (warp.sm != first_->sm) continue;
            begin = std::min(begin, warp.begin);
            end = std::max(end, warp.end);
            begin_ns = std::min(begin_ns, warp.begin_ns);
            end_ns = std::max(end_ns, warp.end_ns);
        }
        constexpr std::uint64_t long_enough = 20000;  // ns
        out_.ghz = chip::idle_ghz;
        if (timestamps_.source == Timeline::Source::steps)
            out_.ghz = 1;
        else if (end_ns > begin_ns && end_ns - begin_ns >= long_enough)
            out_.ghz = static_cast<double>(end - begin) / static_cast<double>(end_ns - begin_ns);
        std::map<int, std::pair<double, int>> sums;
        for (const ProfiledWarp& warp : timestamps_.warps)
            for (const auto& [clock, ns] : {std::pair(warp.begin, warp.begin_ns), {warp.end, warp.end_ns}}) {
                auto& [sum, count] = sums[warp.sm];
                sum += static_cast<double>(static_cast<std::int64_t>(clock - begin)) -
                       static_cast<double>(static_cast<std::int64_t>(ns - begin_ns)) * out_.ghz;
                ++count;
            }
        const auto ahead = [&](int sm) { return sums[sm].first / sums[sm].second; };
        for (const auto& [sm, sum] : sums) ahead_[sm] = ahead(sm) - ahead(first_->sm);
    }

    /// Cycles of the first SM since its first CTA began.
    double time(const Cta& cta, std::uint64_t clock) const {
        return static_cast<double>(static_cast<std::int64_t>(clock - first_->begin)) - ahead_.at(cta.sm);
    }

    /// The first CTA of its SM, and those that followed in its place.
    std::vector<const Cta*> chain() const {
        std::vector<const Cta*> later;
        for (const Cta& cta : ctas_)
            if (cta.sm == first_->sm && cta.begin >= first_->end) later.push_back(&cta);
        std::ranges::stable_sort(later, {}, &Cta::begin);
        std::vector<const Cta*> out{first_};
        for (const Cta* cta : later)
            if (cta->begin >= out.back()->end) out.push_back(cta);
        return out;
    }

    // --- what was recorded, in the form of the simulator's recorder ---------------------------------------

    const TimestampSite& site(const Timestamp& timestamp) const { return timestamps_.sites[timestamp.site]; }
    Where where(const Timestamp& timestamp) const { return site(timestamp).step->where; }

    /// Bytes from the start of shared memory.
    static std::uint32_t place(const ProfiledWarp& warp, const Timestamp& timestamp) {
        return (timestamp.value & ~timestamp_parity) - warp.shared;
    }

    std::uint32_t barrier(Barrier::Kind kind, int rank, std::uint32_t place) {
        const auto [found, added] =
            indices_.try_emplace({kind, rank, place}, static_cast<std::uint32_t>(out_.trace.barriers.size()));
        if (added) out_.trace.barriers.push_back({kind, rank, barrier_name(program_, kind, place), {}});
        return found->second;
    }

    /// The barrier that a timestamp refers to; -1: none.
    int barrier_of(const Cta& cta, const ProfiledWarp& warp, const Timestamp& timestamp) {
        switch (site(timestamp).moment) {
            case Moment::mbarrier:
            case Moment::copy:
                return static_cast<int>(barrier(Barrier::Kind::mbarrier, cta.rank, place(warp, timestamp)));
            case Moment::barrier:
                return static_cast<int>(barrier(Barrier::Kind::cta, cta.rank, timestamp.value));
            case Moment::cluster: return static_cast<int>(barrier(Barrier::Kind::cluster, 0, 0));
            default: return -1;
        }
    }

    void trace() {
        const Dim3 size = program_.cluster();
        for (const Cta& cta : ctas_)
            for (const ProfiledWarp* warp : cta.warps)
                if (warp != nullptr)
                    for (const Timestamp& timestamp : warp->timestamps)
                        if (const int index = barrier_of(cta, *warp, timestamp);
                            index >= 0 && site(timestamp).moment == Moment::copy)
                            out_.trace.barriers[static_cast<std::size_t>(index)].counts_bytes = true;
        const auto warps = static_cast<int>(first_->warps.size());
        for (int rank = 0; rank < static_cast<int>(size.volume()); ++rank)
            for (int w = 0; w < warps; ++w) out_.trace.warps.push_back({rank, w, {}, {}});
        for (const Cta& cta : ctas_) {
            if (cta.at.x >= size.x || cta.at.y >= size.y || cta.at.z >= size.z) continue;
            for (int w = 0; w < warps; ++w) {
                const ProfiledWarp* warp = cta.warps[static_cast<std::size_t>(w)];
                if (warp != nullptr)
                    add(out_.trace.warps[static_cast<std::size_t>(cta.rank * warps + w)], cta, *warp);
            }
        }
    }

    void add(WarpTrace& to, const Cta& cta, const ProfiledWarp& warp) {
        for (const Timestamp& timestamp : warp.timestamps) {
            Item item;
            item.pc = sites_[timestamp.site];
            item.event = static_cast<std::uint32_t>(to.events.size());
            const Moment moment = site(timestamp).moment;
            if (moment == Moment::copy || moment == Moment::mbarrier) {
                Event event{moment == Moment::copy ? Event::Kind::copy : Event::Kind::wait};
                event.rank = cta.rank;
                event.barrier = static_cast<std::uint32_t>(barrier_of(cta, warp, timestamp));
                event.outside = moment == Moment::copy;
                to.events.push_back(event);
                item.events = 1;
            }
            to.items.push_back(item);
        }
    }

    // --- rows ------------------------------------------------------------------------------------------

    Kind kind_of(const Timestamp& timestamp, int barrier) const {
        switch (site(timestamp).moment) {
            case Moment::mbarrier:
                return out_.trace.barriers[static_cast<std::size_t>(barrier)].counts_bytes ? Kind::copies
                                                                                           : Kind::arrivals;
            case Moment::products: return Kind::products;
            case Moment::stores: return Kind::stores;
            case Moment::loads:
            case Moment::memory: return Kind::loads;
            default: return Kind::barrier;
        }
    }

    /// Counts the phases of the mbarriers that a warp waits for: consecutive phases have different parities.
    class Phases {
      public:
        std::uint32_t operator()(std::uint32_t place, bool odd) {
            const auto [found, added] = next_.try_emplace(place, odd ? UINT32_MAX : 0);
            if (!added && (found->second & 1U) != static_cast<std::uint32_t>(odd)) ++found->second;
            return found->second;
        }

      private:
        std::map<std::uint32_t, std::uint32_t> next_;
    };

    std::string what(const Timestamp& timestamp, int barrier, std::uint32_t phase) const {
        switch (site(timestamp).moment) {
            case Moment::mbarrier:
                return phase == UINT32_MAX
                           ? out_.trace.barriers[static_cast<std::size_t>(barrier)].name
                           : fmt::format("{}, phase {}",
                                         out_.trace.barriers[static_cast<std::size_t>(barrier)].name, phase);
            case Moment::barrier:
            case Moment::cluster: return out_.trace.barriers[static_cast<std::size_t>(barrier)].name;
            case Moment::memory: return "a value in memory";
            case Moment::other: return std::string(site(timestamp).step->op->name);
            default: return {};
        }
    }

    void add(int row, Kind kind, double begin, double end, Where where, std::string what, int barrier) {
        out_.schedule.spans.push_back({row, kind, begin, std::max(begin, end), std::move(what), where});
        out_.schedule.barriers.push_back(barrier);
    }

    /// The rows of its roles, from row `first` on.
    void rows_of(const Cta& cta, int first) {
        for (std::size_t role = 0; role < out_.roles.list.size(); ++role) {
            const ProfiledWarp* warp = cta.warps[static_cast<std::size_t>(out_.roles.list[role].warp)];
            if (warp != nullptr) row(cta, *warp, first + static_cast<int>(role));
        }
    }

    void row(const Cta& cta, const ProfiledWarp& warp, int row) {
        const Where begin = warp.timestamps.empty() ? program_.where() : where(warp.timestamps.front());
        add(row, Kind::work, time(cta, warp.begin), time(cta, warp.end), begin, {}, -1);
        Phases phases;
        for (const Timestamp& timestamp : warp.timestamps) {
            if (!waits(site(timestamp).moment)) continue;
            const int barrier = barrier_of(cta, warp, timestamp);
            std::uint32_t phase = UINT32_MAX;
            if (site(timestamp).moment == Moment::mbarrier)
                phase = phases(place(warp, timestamp), (timestamp.value & timestamp_parity) != 0);
            add(row, kind_of(timestamp, barrier), time(cta, timestamp.begin), time(cta, timestamp.end),
                where(timestamp), what(timestamp, barrier, phase), barrier);
        }
    }

    Passed passed(const Cta& cta) const {
        Passed out;
        for (const ProfiledWarp* warp : cta.warps) {
            if (warp == nullptr) continue;
            Phases phases;
            for (const Timestamp& timestamp : warp->timestamps)
                if (site(timestamp).moment == Moment::mbarrier) {
                    const std::uint32_t at = place(*warp, timestamp);
                    out[at].emplace_back(timestamp.end,
                                         phases(at, (timestamp.value & timestamp_parity) != 0));
                }
        }
        for (auto& [at, ends] : out) std::ranges::sort(ends);
        return out;
    }

    // No timestamp says when bytes have arrived or when the tensor core is done, only when a warp learns of
    // it.
    void flights(const Cta& cta) {
        const Passed known = passed(cta);
        const int products = static_cast<int>(out_.roles.list.size()), copies = products + 1;
        for (const ProfiledWarp* warp : cta.warps) {
            if (warp == nullptr) continue;
            for (const Timestamp& timestamp : warp->timestamps) {
                if (site(timestamp).moment != Moment::copy) continue;
                const int barrier = barrier_of(cta, *warp, timestamp);
                std::uint64_t end = cta.end;
                std::string what = out_.trace.barriers[static_cast<std::size_t>(barrier)].name;
                if (const auto found = known.find(place(*warp, timestamp)); found != known.end()) {
                    const auto next =
                        std::ranges::upper_bound(found->second, std::pair(timestamp.end, UINT32_MAX));
                    if (next != found->second.end()) {
                        end = next->first;
                        what += fmt::format(", phase {}", next->second);
                    }
                }
                add(copies, Kind::flight, time(cta, timestamp.begin), time(cta, end), where(timestamp),
                    std::move(what), barrier);
            }
        }
        for (const Role& role : out_.roles.list)
            if (const ProfiledWarp* warp = cta.warps[static_cast<std::size_t>(role.warp)];
                warp != nullptr && role.multiplies)
                products_of(cta, *warp, role.name, products);
    }

    void products_of(const Cta& cta, const ProfiledWarp& warp, const std::string& by, int row) {
        std::vector<const Timestamp*> running;
        const auto finish = [&](std::size_t pending, std::uint64_t end) {
            while (running.size() > pending) {
                const Timestamp& group = *running.front();
                add(row, Kind::product, time(cta, group.begin), time(cta, end), where(group), by, -1);
                running.erase(running.begin());
            }
        };
        for (const Timestamp& timestamp : warp.timestamps) {
            if (site(timestamp).moment == Moment::product) running.push_back(&timestamp);
            if (site(timestamp).moment == Moment::products)
                finish(static_cast<std::size_t>(*isa::awaited(*site(timestamp).step).products),
                       timestamp.end);
        }
        finish(0, warp.end);
    }

    // The cycles that the products of all CTAs of the SM take at the tensor core's full speed.
    void busy() {
        constexpr int group = 4;  // warps that execute a wgmma together
        for (const Cta& cta : ctas_)
            for (std::size_t w = 0; w < cta.warps.size(); w += group)
                if (cta.sm == first_->sm && cta.warps[w] != nullptr)
                    for (const Timestamp& timestamp : cta.warps[w]->timestamps)
                        out_.schedule.tensor_busy += cycles_[timestamp.site];
    }

    // CTAs of the requested clusters.
    void others() {
        const Dim3 size = program_.cluster();
        const int products = static_cast<int>(out_.roles.list.size());
        int row = products + 2;
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, int> seen;  // clusters
        for (const Cta& cta : ctas_) {
            const auto cluster = key({cta.at.x / size.x, cta.at.y / size.y, cta.at.z / size.z});
            seen.try_emplace(cluster, static_cast<int>(seen.size()));
            if (&cta == first_ || seen[cluster] >= clusters_) continue;
            const std::string at = cta.at.y == 0 && cta.at.z == 0
                                       ? fmt::format("cta {}", cta.at.x)
                                       : fmt::format("cta {},{},{}", cta.at.x, cta.at.y, cta.at.z);
            for (const Role& role : out_.roles.list)
                out_.others.push_back({fmt::format("{} {}", at, role.name), role.warp, true, Kind::work});
            rows_of(cta, row);
            row += products;
        }
    }

    const Program& program_;
    const Timestamps& timestamps_;
    const int clusters_;
    const sim::Code code_;
    const Costs costs_;
    std::map<const isa::Step*, std::uint32_t> pcs_;
    std::vector<std::uint32_t> sites_;  ///< indices in code_
    std::vector<double> cycles_;        ///< cycles of the tensor core, by site
    std::vector<Cta> ctas_;             ///< in the order of the grid
    const Cta* first_ = nullptr;
    std::map<int, double> ahead_;  ///< cycles by which the clock of an SM is ahead of the first one's
    std::map<std::tuple<Barrier::Kind, int, std::uint32_t>, std::uint32_t> indices_;
    Measured out_;
};

}  // namespace

Measured measured(const Program& program, const Timestamps& timestamps, int clusters) {
    return Layout(program, timestamps, clusters).run();
}

}  // namespace wgrun::timeline
