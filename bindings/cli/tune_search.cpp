#include "bindings/cli/tune_search.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "bindings/cli/tune_worker.hpp"
#include "gpu/sha256.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {
namespace {

using Clock = TuneWorker::Clock;

constexpr double unknown = std::numeric_limits<double>::infinity();

class Tuner {
  public:
    Tuner(const Tuning& tuning, const std::vector<std::size_t>& which, const SearchOptions& options,
          RecordFile& records)
        : tuning_(tuning),
          options_(options),
          records_(records),
          todo_(which),
          tried_(tuning.options.size()),
          details_(tuning.options.size()) {
        std::reverse(todo_.begin(), todo_.end());
        left_ = which.size();
    }

    std::vector<Tried> run() {
        Progress progress(Progress::Is::work, "tune " + tuning_.name, left_, "candidates");
        const std::size_t all = left_;
        const auto wanted = std::min(static_cast<std::size_t>(std::max(options_.jobs, 1)), all);
        for (std::size_t i = 0; i < wanted; ++i) slots_.emplace_back(of_cores());
        if (!tuning_.by_model)
            for (const std::string& device : options_.devices) slots_.push_back({{}, device, true, {}});
        while (left_ > 0) {
            // First whoever has a kernel goes on with it, so that nobody builds it again.
            for (Slot& slot : slots_)
                if (slot.last && details_[*slot.last].next) give(slot);
            for (Slot& slot : slots_) give(slot);
            wait();
            progress.done(all - left_);
        }
        return std::move(tried_);
    }

  private:
    struct Detail {
        std::string key;
        double model = unknown;                  // microseconds
        std::optional<Step> next = Step::trace;  // for a worker of the cores; nothing: not theirs
        bool ready = false;                      // to be timed
        std::vector<std::size_t> twins;          // candidates with the same key, which came later
    };
    /// A worker, or the place of one.
    struct Slot {
        std::unique_ptr<TuneWorker> worker;
        std::string device;
        bool times = false;
        std::optional<std::size_t> last;  // whose kernel it has
    };

    // The workers of the cores see the first GPU, for which the kernels are planned.
    Slot of_cores() const {
        return {{}, options_.devices.empty() ? "" : options_.devices.front(), false, {}};
    }

    void give(Slot& slot) {
        if (slot.worker && !slot.worker->idle()) return;
        const std::optional<std::size_t> candidate = slot.times ? next_to_time() : next_for(slot);
        if (!candidate) return;
        if (!slot.worker)
            slot.worker =
                std::make_unique<TuneWorker>(slot.device.empty() ? std::nullopt : std::optional(slot.device));
        std::erase(dropped_, *candidate);
        Detail& detail = details_[*candidate];
        const Step step = slot.times ? Step::time : *detail.next;
        detail.next.reset();
        detail.ready = false;
        slot.last = candidate;
        slot.worker->begin(step, *candidate, options_.limit);
    }

    std::optional<std::size_t> next_for(const Slot& slot) {
        if (slot.last && details_[*slot.last].next) return slot.last;
        // Another's process may have ended.
        for (const std::size_t candidate : dropped_)
            if (details_[candidate].next) return candidate;
        if (todo_.empty()) return std::nullopt;
        const std::size_t candidate = todo_.back();
        todo_.pop_back();
        return candidate;
    }

    // The one that the model likes best.
    std::optional<std::size_t> next_to_time() {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < details_.size(); ++i) {
            if (!details_[i].ready) continue;
            if (hopeless(i)) {
                skip_as_hopeless(i);
                continue;
            }
            if (!best || details_[i].model < details_[*best].model) best = i;
        }
        return best;
    }

    void wait() {
        std::vector<pollfd> polled;
        std::vector<Slot*> of;
        auto until = Clock::now() + std::chrono::hours(1);
        for (Slot& slot : slots_) {
            if (!slot.worker || slot.worker->idle()) continue;
            polled.push_back({slot.worker->descriptor(), POLLIN, 0});
            of.push_back(&slot);
            until = std::min(until, slot.worker->deadline());
        }
        if (polled.empty()) return;
        const auto pause = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(pause, 0)));
        for (std::size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].revents != 0)
                hear(*of[i]);
            else if (of[i]->worker->overdue())
                lose(*of[i], true);
        }
    }

    void hear(Slot& slot) {
        bool gone = false;
        const Step step = slot.worker->step();
        const std::optional<Answer> answer = slot.worker->read(gone);
        if (gone) return lose(slot, false);
        if (answer) take(*answer, step);
    }

    // A worker that has ended, or does not answer. The next step gets another one.
    void lose(Slot& slot, bool overdue) {
        const std::size_t candidate = slot.worker->candidate();
        const Step step = slot.worker->step();
        const std::string how = slot.worker->end();
        slot.worker.reset();
        slot.last.reset();
        const std::string why = overdue ? fmt::format("it took longer than {} s",
                                                      static_cast<double>(options_.limit.count()) / 1000)
                                        : "its process " + how;
        if (step == Step::compile) return ready(candidate);  // the GPU's worker compiles it, or fails
        skip(candidate, why);
    }

    void take(const Answer& answer, Step step) {
        const std::size_t i = answer.candidate;
        switch (step) {
            case Step::trace: return answer.good ? traced(i, answer.text) : skip(i, answer.text);
            case Step::model: return modelled(i, answer);
            case Step::compile: return answer.good ? ready(i) : skip(i, answer.text);
            case Step::time:
                return answer.good      ? keep(i, answer.microseconds)
                       : answer.machine ? skip(i, answer.text)
                                        : fail(i, answer.text);
        }
    }

    void traced(std::size_t i, const std::string& content) {
        Detail& detail = details_[i];
        detail.key = key_of(tuning_.place, content);
        if (const Record* record = records_.find(detail.key)) {
            tried_[i].cached = true;
            if (record->failure.empty()) return finish(i, record->microseconds);
            return skip(i, record->failure);
        }
        if (const auto [first, added] = first_.try_emplace(detail.key, i); !added) {
            const Tried& same = tried_[first->second];
            if (same.as == Tried::As::pending)
                details_[first->second].twins.push_back(i);
            else
                skip(i, same.reason);  // a measurement would be a record
            return;
        }
        if (tuning_.by_model || options_.prune > 0)
            go_on(i, Step::model);
        else
            after_model(i);
    }

    void modelled(std::size_t i, const Answer& answer) {
        if (tuning_.by_model) return answer.good ? keep(i, answer.microseconds) : skip(i, answer.text);
        // What the model cannot tell, a measurement may.
        if (!answer.good && answer.finding) return skip(i, answer.text);
        if (answer.good) details_[i].model = answer.microseconds;
        best_model_ = std::min(best_model_, details_[i].model);
        if (hopeless(i)) return skip_as_hopeless(i);
        after_model(i);
    }

    void after_model(std::size_t i) {
        if (tuning_.on_gpu)
            go_on(i, Step::compile);
        else
            ready(i);
    }

    void go_on(std::size_t i, Step step) {
        details_[i].next = step;
        dropped_.push_back(i);
    }

    void ready(std::size_t i) { details_[i].ready = true; }

    bool hopeless(std::size_t i) const {
        return options_.prune > 0 && std::isfinite(details_[i].model) &&
               details_[i].model > options_.prune * best_model_;
    }

    void skip_as_hopeless(std::size_t i) {
        skip(i, fmt::format("the model expects {:.2f} us, of the best {:.2f} us", details_[i].model,
                            best_model_));
    }

    void keep(std::size_t i, double microseconds) {
        records_.keep(details_[i].key, {tuning_.name, tuning_.place, tuning_.options[i], microseconds, {}});
        finish(i, microseconds);
    }

    // It has hung, faulted or computed something else: so it would again.
    void fail(std::size_t i, const std::string& why) {
        records_.keep(details_[i].key, {tuning_.name, tuning_.place, tuning_.options[i], 0, why});
        skip(i, why);
    }

    void finish(std::size_t i, double microseconds) {
        tried_[i].as = Tried::As::measured;
        tried_[i].microseconds = microseconds;
        end(i, [&](std::size_t twin) { finish(twin, microseconds); });
    }

    void skip(std::size_t i, const std::string& why) {
        tried_[i].as = Tried::As::skipped;
        tried_[i].reason = why;
        end(i, [&](std::size_t twin) { skip(twin, why); });
    }

    template <class Same>
    void end(std::size_t i, Same same) {
        --left_;
        details_[i].ready = false;
        for (const std::size_t twin : details_[i].twins) same(twin);
    }

    const Tuning& tuning_;
    const SearchOptions& options_;
    RecordFile& records_;
    std::vector<std::size_t> todo_;     // the next one last
    std::vector<std::size_t> dropped_;  // between steps
    std::vector<Tried> tried_;
    std::vector<Detail> details_;
    std::map<std::string, std::size_t> first_;  // by key
    std::vector<Slot> slots_;
    std::size_t left_ = 0;
    double best_model_ = unknown;
};

}  // namespace

std::vector<std::size_t> shard_of(const Tuning& tuning, int shard, int shards) {
    std::vector<std::pair<std::string, std::size_t>> hashed;
    for (std::size_t i = 0; i < tuning.options.size(); ++i)
        hashed.emplace_back(gpu::sha256(tuning.options[i]), i);
    std::sort(hashed.begin(), hashed.end());
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < hashed.size(); ++i)
        if (i % static_cast<std::size_t>(shards) == static_cast<std::size_t>(shard - 1))
            which.push_back(hashed[i].second);
    std::sort(which.begin(), which.end());
    return which;
}

std::vector<Tried> search(const Tuning& tuning, const std::vector<std::size_t>& which,
                          const SearchOptions& options, RecordFile& records) {
    return Tuner(tuning, which, options, records).run();
}

}  // namespace wgrun::cli
