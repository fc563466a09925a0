// Shadow of global memory: what one cluster wrote and read of the tensors that its kernel may write, and
// whether another cluster of the launch did so too. It is kept for the pages that are accessed.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "sim/conflict.hpp"
#include "sim/exchange.hpp"
#include "sim/global_fences.hpp"
#include "sim/shadow.hpp"
#include "sim/sim.hpp"

namespace wgrun::sim {

/// Two accesses of which something is wrong.
struct GlobalRace {
    bool reads, other_reads;
    std::uint64_t address;
    Epoch other;
    bool same_value = false;  ///< it writes the value that is there
};

/// What a cluster did to one word of global memory.
struct GlobalWord {
    std::uint64_t address = 0;
    Shadow::Last last;
    std::uint32_t value = 0;  ///< the value it wrote last
};

/// What a cluster did to global memory: the lines that it accessed, in the order of addresses.
class GlobalTrace {
  public:
    static constexpr std::uint32_t line_words = 32;
    static constexpr std::uint32_t line_bytes = line_words * 4;

    bool alike = false;                      ///< all clusters do the same
    std::shared_ptr<const Learned> learned;  ///< what the cluster has acquired from others; null: nothing
    /// Steps that do not race with steps of the same kind: strong accesses, by their size, and reducing
    /// copies.
    std::map<std::uint32_t, int> strong;
    std::set<std::uint32_t> of_system;  ///< of the strong ones, those in the scope of the system
    std::set<std::uint32_t> reductions;
    std::set<std::uint32_t> constant;  ///< loads through ld.global.nc
    std::set<std::uint32_t> fixed;     ///< stores of what is the same in all executions
    /// An access in whose place strong ones of the cluster came, of another kind than the last.
    struct Replaced {
        std::uint64_t address;  ///< of the word
        Shadow::Past by;
    };
    std::vector<Replaced> replaced;
    void add_steps(const GlobalTrace& other) {
        strong.insert(other.strong.begin(), other.strong.end());
        reductions.insert(other.reductions.begin(), other.reductions.end());
        constant.insert(other.constant.begin(), other.constant.end());
        fixed.insert(other.fixed.begin(), other.fixed.end());
    }
    /// Returns the size of a strong access, or 0.
    int size_of(std::uint32_t pc) const {
        const auto found = strong.find(pc);
        return found == strong.end() ? 0 : found->second;
    }
    /// Two unordered writes of equal values: do they do no harm, since the values cannot be others?
    bool both_fixed(std::uint32_t a, std::uint32_t b) const { return fixed.contains(a) && fixed.contains(b); }
    bool both_combine(std::uint32_t a, std::uint32_t b) const {
        return (size_of(a) != 0 && size_of(a) == size_of(b)) ||
               (reductions.contains(a) && reductions.contains(b));
    }

    /// Makes room for so many lines.
    void reserve(std::size_t lines) {
        lines_.reserve(lines);
        writes_.reserve(lines * line_words);
        values_.reserve(lines * line_words);
        bytes_.reserve(lines * line_words);
    }
    /// Adds a line whose words are word(0), word(1), ...
    template <class F>
    void add(std::uint64_t address, F word) {
        Line line{address, static_cast<std::uint32_t>(values_.size()), unread};
        for (std::uint32_t i = 0; i < line_words; ++i) {
            const GlobalWord of = word(i);
            writes_.push_back(of.last.write);
            values_.push_back(of.value);
            bytes_.push_back(static_cast<std::uint8_t>(of.last.written | of.last.read << 4));
            if (of.last.read == 0) continue;
            if (line.reads == unread) {
                line.reads = static_cast<std::uint32_t>(reads_.size());
                reads_.resize(reads_.size() + line_words);
            }
            reads_[line.reads + i] = of.last.reader;
        }
        lines_.push_back(line);
    }
    std::uint32_t lines() const { return static_cast<std::uint32_t>(lines_.size()); }
    std::uint64_t address(std::uint32_t line) const { return lines_[line].address; }
    GlobalWord word(std::uint32_t line, std::uint32_t i) const {
        const Line& at = lines_[line];
        const unsigned bytes = bytes_[at.words + i];
        GlobalWord out{at.address + std::uint64_t{i} * 4,
                       {bytes & 15U, bytes >> 4, writes_[at.words + i], Epoch()},
                       values_[at.words + i]};
        if (at.reads != unread) out.last.reader = reads_[at.reads + i];
        return out;
    }

  private:
    static constexpr std::uint32_t unread = UINT32_MAX;
    struct Line {
        std::uint64_t address;
        std::uint32_t words, reads;  ///< indices of the first of each
    };
    std::vector<Line> lines_;
    std::vector<Epoch> writes_, reads_;  ///< of the words of all lines, and of the lines that are read
    std::vector<std::uint32_t> values_;
    std::vector<std::uint8_t> bytes_;  ///< by word: written, and read << 4
};

/// The shadow of one running cluster.
class GlobalShadow final : public HazardSink {
  public:
    /// warps: those of the cluster. sink: receives the races within the cluster.
    class Sink {
      public:
        virtual ~Sink() = default;
        virtual void global_race(const GlobalRace& race) = 0;
        /// A bulk copy reads or overwrites what was written through the generic proxy. The accesses are
        /// ordered, but no fence.proxy.async is between them.
        virtual void global_unfenced(const GlobalRace& race) = 0;
        /// One of the two reads through ld.global.nc what the other writes, ordered or not.
        virtual void global_stale(const GlobalRace& race) = 0;
        /// What is read has no value since the other step has discarded it.
        virtual void global_discarded(std::uint64_t address, Epoch by) = 0;
        /// Returns whether the access of this step races with strong ones.
        virtual bool weak(std::uint32_t pc) const = 0;
        /// Returns whether the step stores what is the same in all its executions.
        virtual bool fixed(std::uint32_t pc) const = 0;
    };
    GlobalShadow(const Program& program, const SimulatedLaunch& launch, int warps, Sink& sink);

    void reset();
    /// From now on accesses are compared with those of other clusters, where these take turns.
    void follow(Exchange& exchange, std::uint64_t cluster, const Learned& learned,
                const std::shared_ptr<const ClusterKnowledge>& known) {
        history_ = exchange.history ? &*exchange.history : nullptr;
        discarded_ = exchange.discarded ? &*exchange.discarded : nullptr;
        cluster_ = static_cast<std::uint32_t>(cluster);
        learned_ = &learned;
        known_ = &known;
    }
    /// Returns 0 where the kernel may not write, else the address. If several buffers have the same memory,
    /// the address is that in the largest: a tensor and views of it. Two views that overlap in part are not
    /// compared.
    std::uint64_t watched(std::uint64_t address) const;

    // Accesses of one lane: 1, 2, 4, 8 or 16 bytes, aligned to their size, of watched memory.
    void load(const Actor& actor, int lane, std::uint64_t address, int bytes);
    /// Records a load through ld.global.nc.
    void load_constant(const Actor& actor, int lane, std::uint64_t address, int bytes);
    /// The bytes of `place` become those of `data`, after this. Returns whether another lane wrote one of
    /// them in this step.
    bool store(const Actor& actor, int lane, std::uint64_t address, int bytes, const std::byte* data,
               const std::byte* place);
    /// Records an atomic.
    void update(const Actor& actor, int lane, std::uint64_t address, int bytes);
    /// The step may access the same memory as strong steps of other clusters; system: of other devices, too.
    void strong(std::uint32_t pc, int unit, bool system) {
        if (steps_.strong.emplace(pc, unit).second && system) steps_.of_system.insert(pc);
    }
    /// The lane is about to access the bytes by a strong step.
    void strong(const Actor& actor, int lane, std::uint64_t address, int bytes, bool writes) {
        pc_ = actor.pc;
        shadow_.strong(actor, lane, offset(address, static_cast<std::uint64_t>(bytes)), bytes, writes);
    }

    /// Records that the bytes have no value any more: they are all `data`, whatever was there.
    void discard(const Actor& actor, int lane, std::uint64_t address, int bytes);

    /// Returns what the lane knows now.
    Knower knower(const Actor& actor, int lane) const { return {cluster_, shadow_, *learned_, actor, lane}; }

    /// Records a fence.proxy.async of global memory.
    void proxy_fence(Clocks& clocks, std::uint32_t pc, int warp, Lanes lanes);
    /// The lanes release tensor maps to those that acquire them.
    void release_maps(Clocks& clocks, std::uint32_t pc, int warp, Lanes lanes, const FenceLog::Reach& reach);
    /// What orders the clusters of the launch, where they take turns; else null.
    LaunchHistory* history() const { return history_; }
    /// Returns what the lane knows, with what the async proxy sees of global memory. The result is valid
    /// until the next call.
    Actor issuer(Actor actor, int lane) {
        if (wrote_) actor.published = fences_.published(actor, actor.warp, lane);
        return actor;
    }
    // Bulk copies of contiguous bytes, issued by issuer(). A load is read through by those who
    // know an end of it.
    void copy_from(const Actor& issuer, int lane, std::uint64_t address, std::uint64_t bytes);
    void reads_until(const Actor& issuer, int lane, std::vector<Epoch> ends);
    void copy_to(const Actor& issuer, Epoch copy, std::uint64_t address, std::uint64_t bytes, bool combines);
    /// Records the bytes that a copy has delivered.
    void landed(std::uint64_t address, const std::byte* data, std::uint64_t bytes);

    /// alike: clusters do the same, as far as what they may write does not decide.
    GlobalTrace trace(bool alike) const;

  private:
    static constexpr std::uint64_t page_bytes = 32 * GlobalTrace::line_bytes;

    void hazard(Hazard hazard, std::uint32_t offset, Epoch other) override;
    bool weak(std::uint32_t pc) const override { return sink_.weak(pc); }
    bool meets_itself(std::uint32_t pc) const override { return steps_.size_of(pc) != 0; }
    std::uint32_t offset(std::uint64_t address, std::uint64_t bytes);
    void check_ends(const Actor& writer, std::uint32_t offset, std::uint32_t bytes);
    /// Tells the history of the launch of an access, as the actor's own or, `by`, as that of its copy.
    void tell_read(const Actor& actor, Epoch by, std::uint64_t address, std::uint64_t bytes,
                   bool async = false);
    void tell_write(const LaunchHistory::Now& now, std::uint64_t address, std::uint64_t bytes,
                    bool same = false);
    LaunchHistory::Now now(const Actor& actor, Epoch by, bool async) const {
        return {knower(actor, by.lane()),      by, steps_.size_of(pc_), async, steps_.fixed.contains(pc_),
                steps_.of_system.contains(pc_)};
    }
    FenceLog::Fence logged(std::uint32_t pc, int warp, const GlobalFences::Fence& fence,
                           const FenceLog::Reach& reach) const;
    /// Reports bytes without a value, unless the order of the two accesses is the fault.
    void check_value(const Actor& reader, int lane, std::uint64_t address, std::uint64_t bytes);
    /// Something writes these bytes of a page.
    void written(std::uint32_t offset, std::uint32_t bytes);
    template <class F>
    void for_each_part(std::uint64_t address, std::uint64_t bytes, F f);

    struct Range {
        std::uint64_t begin, end;
        std::uint64_t first;  ///< of the same memory in the largest buffer that has it
    };
    std::vector<Range> watched_;
    Sink& sink_;
    Shadow shadow_;
    std::unordered_map<std::uint64_t, std::uint32_t>
        pages_;                                          ///< number of the page, and its place in the shadow
    std::vector<std::uint64_t> addresses_;               ///< of the pages in the shadow
    std::vector<std::uint32_t> touched_;                 ///< by page: a bit for each line
    std::vector<std::byte> values_;                      ///< last written
    std::unordered_map<std::uint32_t, Epoch> constant_;  ///< by word: the last load through ld.global.nc
    std::uint64_t last_page_ = UINT64_MAX;
    std::uint32_t last_place_ = 0;
    GlobalTrace steps_;  ///< of the whole cluster, without lines
    GlobalFences fences_;
    bool read_ = false;     ///< whether it has read what it may write
    bool wrote_ = false;    ///< whether a thread has written; fences before that order nothing
    std::uint32_t pc_ = 0;  ///< of the current access
    /// By what a lane did last before, the ends of the bulk copies that it issued there: of each, those that
    /// the CTAs that receive it are told.
    std::unordered_map<std::uint64_t, std::vector<std::vector<Epoch>>> ends_;
    bool same_value_ = false;  ///< it writes the value that is there
    LaunchHistory* history_ = nullptr;
    Discarded* discarded_ = nullptr;
    std::uint32_t cluster_ = 0;
    const Learned* learned_ = nullptr;
    const std::shared_ptr<const ClusterKnowledge>* known_ = nullptr;
};

/// What all clusters of a launch did, merged in the order of the grid.
class LaunchShadow {
  public:
    /// Adds a cluster. Returns its conflicts with earlier clusters, each pair of steps once.
    std::vector<Conflict> add(std::uint64_t cluster, GlobalTrace trace);

  private:
    struct Access {
        std::uint32_t cluster = 0;
        unsigned bytes = 0;  ///< a bit each
        Epoch by;
        bool writes = false;
    };
    struct Word {
        Access write, read;
        std::uint32_t value = 0;

        void take(std::uint32_t cluster, const GlobalWord& word);
    };
    using Words = std::array<Word, GlobalTrace::line_words>;
    /// A line that only one cluster accessed stays in that cluster's trace.
    struct Line {
        std::uint32_t cluster = 0, index = 0;
        std::unique_ptr<Words> words;  ///< if several clusters accessed it
    };
    Words& words_of(Line& line);

    std::unordered_map<std::uint64_t, Line> lines_;  ///< by address
    std::map<std::uint32_t, GlobalTrace> traces_;
    std::map<std::uint32_t, std::shared_ptr<const Learned>> learned_;  ///< by cluster, if it has anything
    GlobalTrace steps_;                                                ///< of all clusters, without lines
    /// By address of the word: those in whose place others came that stand for less, as a strong one for a
    /// weak one.
    std::unordered_multimap<std::uint64_t, Access> replaced_;
    void take(Word& known, std::uint32_t cluster, const GlobalWord& word);
};

}  // namespace wgrun::sim
