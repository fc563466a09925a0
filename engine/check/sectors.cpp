#include "check/sectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "check/symbolic/accesses.hpp"
#include "check/symbolic/in_thread.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/target.hpp"

namespace wgrun::check {
namespace {

using namespace symbolic;

constexpr std::int64_t sector = sm_90a.sector;

/// What a request moves, and what would hold its bytes.
struct Moved {
    std::int64_t sectors = 0, needed = 0, bytes = 0;
    std::string why;

    /// Less is not worth a remark: bytes that other requests soon use are in the cache.
    bool wasteful() const { return sectors >= 2 * needed && sectors >= needed + 4; }
};

/// The sectors that pieces of `bytes` touch that begin at these places, from a start that is a multiple of
/// `step`: the fewest.
std::int64_t fewest_sectors(const std::set<std::int64_t>& places, std::int64_t bytes, std::int64_t step) {
    std::int64_t least = INT64_MAX;
    for (std::int64_t shift = 0; shift < sector; shift += step) {
        std::set<std::int64_t> touched;
        for (const std::int64_t place : places)
            for (std::int64_t at = (place + shift) & -sector; at < place + shift + bytes; at += sector)
                touched.insert(at);
        least = std::min(least, static_cast<std::int64_t>(touched.size()));
    }
    return least;
}

/// What a start may be a multiple of within a sector, if all that is not constant in it is any number.
std::int64_t step_of(const Polynomial& start) { return std::gcd(sector, start.divisor(false)); }

class Sectors {
  public:
    Sectors(const Outline& outline, Findings& remarks) : program_(outline.program()), remarks_(remarks) {
        find_accesses(
            outline,
            [this](const Polynomial& number, std::span<const Formula>) { return is_positive(number); },
            accesses_);
    }

    void run() {
        for (const Access& access : accesses_.list) {
            if (!access.known || access.param < 0) continue;
            const Param& param = program_.params()[static_cast<std::size_t>(access.param)];
            std::optional<Moved> moved;
            if (!access.later)
                moved = by_threads(access);
            else if (param.box)
                moved = by_box(access, *param.box);
            if (moved && moved->wasteful()) report(access, param, *moved);
        }
    }

  private:
    /// It is not below 0 in any thread, whatever the launch is.
    bool is_positive(const Polynomial& number) {
        const auto [at, added] = positive_.try_emplace(number, true);
        for (int thread = 0; added && thread < program_.threads() && at->second; ++thread) {
            const auto its = InThread(accesses_.atoms, program_.block(), thread).number(number);
            at->second = its && accesses_.atoms.least(*its).value_or(-1) >= 0;
        }
        return at->second;
    }

    void report(const Access& access, const Param& param, const Moved& moved) {
        const std::string whose = access.later ? "a box" : "a request of a warp";
        remarks_.add(
            rules::WG_PERF_09, access.where,
            fmt::format("{} {} {} of `{}` for {}, which {} would hold: {}", whose,
                        access.writes ? "writes" : "reads", count_of(moved.sectors, "sector"), param.name,
                        count_of(moved.bytes, "byte"), count_of(moved.needed, "sector"), moved.why),
            access.later ? "a box whose lines fill sectors of 32 bytes"
                         : "neighbouring lanes take neighbouring elements; to transpose, go through "
                           "shared memory (docs/guide/transpose.md)");
    }

    /// The warp that moves the fewest for its bytes; nothing: some address is not known.
    std::optional<Moved> by_threads(const Access& access) try {
        if (access.at.size() != 1 || !access.extent.front().is_constant()) return std::nullopt;
        std::optional<Moved> out;
        for (int first = 0; first < program_.threads(); first += sm_90a.lanes) {
            const std::optional<Moved> moved = by_warp(access, first);
            if (!moved) return std::nullopt;
            if (moved->sectors == 0) continue;  // it is elsewhere
            if (!moved->wasteful()) return moved;
            if (!out || moved->sectors * out->needed < out->sectors * moved->needed) out = moved;
        }
        return out;
    } catch (const TooLarge&) {
        return std::nullopt;
    }

    std::optional<Moved> by_warp(const Access& access, int first) {
        const std::int64_t bytes = access.extent.front().constant();
        const int count = std::min(sm_90a.lanes, program_.threads() - first);
        // Lanes whose addresses differ by something that a launch decides are far apart.
        std::map<Polynomial, std::set<std::int64_t>> places;
        std::optional<Polynomial> start;
        int first_lane = 0;
        Moved out;
        for (int lane = 0; lane < count; ++lane) {
            InThread thread(accesses_.atoms, program_.block(), first + lane);
            const InThread::Truth comes = comes_here(access, thread);
            if (comes == InThread::Truth::unknown) return std::nullopt;
            if (comes == InThread::Truth::no) continue;
            const std::optional<Polynomial> at = thread.number(access.at.front());
            if (!at) return std::nullopt;
            places[*at - Polynomial(at->constant())].insert(at->constant());
            if (!start) start = *at, first_lane = lane;
            if (out.why.empty() && *at != *start)
                out.why = fmt::format("lanes {} and {} are {} bytes apart", first_lane, lane,
                                      accesses_.atoms.text(*at - *start));
        }
        std::size_t pieces = 0;
        for (const auto& [rest, offsets] : places) {
            pieces += offsets.size();
            out.sectors += fewest_sectors(offsets, bytes, step_of(rest));
        }
        out.bytes = static_cast<std::int64_t>(pieces) * bytes;
        out.needed = (out.bytes + sector - 1) / sector;
        return out;
    }

    static InThread::Truth comes_here(const Access& access, InThread& thread) {
        InThread::Truth out = InThread::Truth::yes;
        for (const Formula condition : access.conditions) {
            const InThread::Truth one = thread.truth(condition);
            if (one == InThread::Truth::no) return one;
            if (one == InThread::Truth::unknown) out = one;
        }
        return out;
    }

    /// Lines of a box lie apart in the tensor, and begin alike in their sectors: strides are multiples of 16.
    static std::optional<Moved> by_box(const Access& access, const TensorBox& box) {
        std::int64_t lines = 1;
        for (std::size_t dim = 1; dim < box.extents.size(); ++dim) lines *= box.extents[dim];
        if (lines == 1 || access.at.size() != box.extents.size()) return std::nullopt;
        Moved out;
        out.bytes = box.bytes();
        const std::int64_t line = out.bytes / lines, element = line / box.extents[0];
        if (element * box.extents[0] * lines != out.bytes) return std::nullopt;  // parts of bytes
        const Polynomial start = access.at.front() * Polynomial(element);
        const std::int64_t each = fewest_sectors({start.constant()}, line, step_of(start));
        out.sectors = lines * each;
        out.needed = (out.bytes + sector - 1) / sector;
        out.why = fmt::format("each of its {} lines has {} bytes", lines, line);
        return out;
    }

    const Program& program_;
    Findings& remarks_;
    Accesses accesses_;
    std::map<Polynomial, bool> positive_;  ///< what was asked
};

}  // namespace

void find_wasted_sectors(const Outline& outline, Findings& remarks) { Sectors(outline, remarks).run(); }

}  // namespace wgrun::check
