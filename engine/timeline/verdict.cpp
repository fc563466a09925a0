#include "timeline/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace wgrun::timeline {
namespace {

using Kind = Timeline::Kind;

constexpr double much = 0.7, some = 0.1;  // shares of the time
constexpr double mutual = 0.3;            // the least share for which two roles wait for each other

/// "pipeline_full[2]" belongs to "pipeline_full".
std::string stem(const std::string& name) { return name.substr(0, name.find('[')); }

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// A wait of a role.
struct Wait {
    Kind kind = Kind::work;
    std::string barrier;  ///< its stem; empty: no barrier
    Where where;
    double share = 0;
};

struct Account {
    double work = 0;
    double busy = 0;          ///< share with waits for loads, but of the whole time of the timeline
    std::vector<Wait> waits;  ///< the longest first
    double of(Kind kind) const {
        double out = 0;
        for (const Wait& wait : waits)
            if (wait.kind == kind) out += wait.share;
        return out;
    }
    const Wait* longest(Kind kind) const {
        const auto found = std::ranges::find(waits, kind, &Wait::kind);
        return found == waits.end() ? nullptr : &*found;
    }
};

class Words {
  public:
    Words(const Timeline& timeline, const std::vector<int>& barriers, const Trace& trace, const Roles& roles)
        : timeline_(timeline), trace_(trace), roles_(roles), accounts_(roles.list.size()) {
        std::vector<double> whole(roles.list.size());
        std::vector<std::map<std::pair<Kind, std::string>, Wait>> waits(roles.list.size());
        for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
            const Timeline::Span& span = timeline.spans[i];
            const auto row = static_cast<std::size_t>(span.row);
            if (row >= roles.list.size()) continue;
            const double cycles = span.end - span.begin;
            whole[row] += cycles;
            if (span.kind == Kind::work) {
                accounts_[row].work += cycles;
                continue;
            }
            const std::string name =
                barriers[i] < 0 ? "" : stem(trace.barriers[static_cast<std::size_t>(barriers[i])].name);
            Wait& wait = waits[row][{span.kind, name}];
            wait.kind = span.kind;
            wait.barrier = name;
            wait.where = span.where;
            wait.share += cycles;
        }
        for (std::size_t row = 0; row < accounts_.size(); ++row) {
            const double time = std::max(whole[row], 1.0);
            accounts_[row].work /= time;
            for (auto& [key, wait] : waits[row]) {
                wait.share /= time;
                accounts_[row].waits.push_back(wait);
            }
            accounts_[row].busy = (accounts_[row].work + accounts_[row].of(Kind::loads)) * whole[row] /
                                  std::max(timeline.cycles, 1.0);
            std::ranges::stable_sort(accounts_[row].waits, std::ranges::greater(), &Wait::share);
        }
    }

    std::vector<std::string> sentences() {
        std::vector<std::string> out;
        if (const std::string limit = this->limit(); !limit.empty()) out.push_back(limit);
        std::vector<std::pair<double, std::string>> waits;
        for (std::size_t row = 0; row < accounts_.size(); ++row)
            for (const Wait& wait : accounts_[row].waits)
                if (wait.share >= some) {
                    std::string said = sentence(row, wait);
                    if (out.empty() || !out.front().starts_with(said))
                        waits.emplace_back(wait.share, std::move(said));
                }
        std::ranges::stable_sort(waits, std::ranges::greater(), &std::pair<double, std::string>::first);
        for (auto& [share, said] : waits) out.push_back(std::move(said));
        if (timeline_.source == Timeline::Source::model)
            out.push_back(busy());
        else if (timeline_.source == Timeline::Source::gpu && timeline_.tensor > 0)
            out.push_back(fmt::format("at the tensor core's full speed the products take {} of the time",
                                      percent(timeline_.tensor)));
        return out;
    }

  private:
    const std::string& name(std::size_t row) const { return roles_.list[row].name; }
    /// "producer waits", "warps 0 to 3 wait".
    std::string waits(std::size_t row) const {
        return name(row) + (name(row).starts_with("warps") ? " wait" : " waits");
    }
    bool produces(std::size_t row) const { return roles_.list[row].copies && !roles_.list[row].multiplies; }

    /// The roles that complete the phases of barriers of that stem: those that copy or arrive.
    std::string completed_by(const std::string& barrier) const {
        std::set<int> found;
        for (std::size_t w = 0; w < trace_.warps.size(); ++w)
            for (const Event& event : trace_.warps[w].events) {
                if (event.kind != Event::Kind::arrive && event.kind != Event::Kind::copy) continue;
                const Barrier& other = trace_.barriers[event.barrier];
                // Where bytes are counted, the warp that announces them arrives too.
                if (stem(other.name) != barrier || (other.counts_bytes && event.kind != Event::Kind::copy))
                    continue;
                if (roles_.of_warp[w] >= 0) found.insert(roles_.of_warp[w]);
            }
        std::string out;
        for (int role : found) {
            if (!out.empty()) out += ", ";
            out += name(static_cast<std::size_t>(role));
        }
        return out;
    }

    std::string sentence(std::size_t row, const Wait& wait) const {
        const std::string share = percent(wait.share);
        const std::string at =
            wait.where ? fmt::format(" ({}:{})", wait.where.file.view(), wait.where.line) : "";
        const std::string by = wait.barrier.empty() ? "" : completed_by(wait.barrier);
        switch (wait.kind) {
            case Kind::copies:
                return fmt::format("{} for full stages ({}) {} of the time{}", waits(row), wait.barrier,
                                   share, at);
            case Kind::arrivals:
                if (produces(row))
                    return fmt::format("{} for empty stages ({}) {} of the time{}", waits(row), wait.barrier,
                                       share, at);
                return fmt::format("{} for {} ({}) {} of the time{}", waits(row),
                                   by.empty() ? "arrivals" : by, wait.barrier, share, at);
            case Kind::products:
                return fmt::format("{} for its products {} of the time{}", waits(row), share, at);
            case Kind::stores:
                return fmt::format("{} for its bulk stores {} of the time{}", waits(row), share, at);
            case Kind::barrier:
                return fmt::format("{} at {} {} of the time{}", waits(row), wait.barrier, share, at);
            case Kind::loads: return fmt::format("{} for loads {} of the time{}", waits(row), share, at);
            default: return {};
        }
    }

    /// How busy the engines are, the busier one first.
    std::string busy() const {
        std::string tensor = "the tensor core", memory = "the path between memory and the SM";
        double most = timeline_.tensor, least = timeline_.memory;
        if (least > most) std::swap(tensor, memory), std::swap(most, least);
        return fmt::format("{} is busy {} of the time, {} {}", tensor, percent(most), memory, percent(least));
    }

    /// "the consumers are the limit", and why.
    std::string limit() {
        std::optional<std::size_t> producer, hungry;
        for (std::size_t row = 0; row < accounts_.size(); ++row) {
            const double empty = accounts_[row].of(Kind::arrivals), full = accounts_[row].of(Kind::copies);
            if (produces(row) && (!producer || empty > accounts_[*producer].of(Kind::arrivals)))
                producer = row;
            if (!produces(row) && (!hungry || full > accounts_[*hungry].of(Kind::copies))) hungry = row;
        }
        const double empty = producer ? accounts_[*producer].of(Kind::arrivals) : 0;
        const double full = hungry ? accounts_[*hungry].of(Kind::copies) : 0;
        // An engine that is hardly ever idle is the limit, whichever role waits for it.
        std::string engine = std::max(timeline_.tensor, timeline_.memory) < much ? ""
                             : timeline_.tensor >= timeline_.memory
                                 ? "the tensor core is the limit"
                                 : "the path between memory and the SM is the limit";
        // Where no engine is busy and both roles wait, neither of them is slow.
        const bool each_other = engine.empty() && std::min(empty, full) >= mutual;
        if (producer && empty > full && !each_other &&
            accounts_[*producer].longest(Kind::arrivals) != nullptr)
            return fmt::format("{}: {}", sentence(*producer, *accounts_[*producer].longest(Kind::arrivals)),
                               !engine.empty() ? engine : "the consumers are the limit");
        if (hungry && full >= some) {
            std::string why = engine;
            if (why.empty() && producer && accounts_[*producer].busy >= much) {
                why = "the producer is the limit";
            } else if (why.empty() && timeline_.source == Timeline::Source::gpu) {
                why = "the copies are the limit: their latency, which more stages hide, or memory itself";
            } else if (why.empty()) {
                why = "the time that a copy takes is the limit";
                if (!producer || empty >= some) why += ": more stages would hide it";
            }
            return fmt::format("{}: {}", sentence(*hungry, *accounts_[*hungry].longest(Kind::copies)), why);
        }
        if (!engine.empty()) return engine;
        std::optional<std::size_t> most;
        for (std::size_t row = 0; row < accounts_.size(); ++row)
            if (!most || accounts_[row].work > accounts_[*most].work) most = row;
        if (!most) return {};
        const Account& account = accounts_[*most];
        if (!account.waits.empty() && account.waits.front().share > account.work)
            return sentence(*most, account.waits.front()) + ": that is the limit";
        return fmt::format("{} {} instructions {} of the time: they are the limit", name(*most),
                           name(*most).starts_with("warps") ? "execute" : "executes", percent(account.work));
    }

    const Timeline& timeline_;
    const Trace& trace_;
    const Roles& roles_;
    std::vector<Account> accounts_;  ///< by row
};

}  // namespace

std::vector<std::string> verdict(const Timeline& timeline, const std::vector<int>& barriers,
                                 const Trace& trace, const Roles& roles) {
    return Words(timeline, barriers, trace, roles).sentences();
}

}  // namespace wgrun::timeline
