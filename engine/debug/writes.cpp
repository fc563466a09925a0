#include "debug/writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "debug/when.hpp"
#include "isa/peer_window.hpp"
#include "sim/memory.hpp"

namespace wgrun::debugging {
namespace {

/// The bytes that a step writes to memory through the generic proxy.
class WritesOf final : public isa::Effects {
  public:
    explicit WritesOf(const Step& step) { isa::visit_effects(step, *this); }
    const std::vector<isa::MemoryAccess>& writes() const { return writes_; }
    void memory(const isa::MemoryAccess& access) override {
        if (access.write) writes_.push_back(access);
    }

  private:
    std::vector<isa::MemoryAccess> writes_;
};

/// The lanes of the step just executed that have written to the place.
isa::Mask lanes_that_wrote(sim::View view, int number, const Step& step, const Place& place) {
    isa::Mask lanes = 0;
    const WritesOf heard(step);
    for (const isa::MemoryAccess& write : heard.writes()) {
        const Operand& address = *write.address;
        const bool global = write.space == isa::Space::global;
        if (!address.reg || global != (place.rank < 0)) continue;
        for (int lane = 0; lane < isa::lanes; ++lane) {
            std::uint64_t at = 0;
            const std::size_t wide = global ? 8 : 4;
            std::memcpy(&at, view.lanes_of(number, address.reg) + static_cast<std::size_t>(lane) * wide,
                        wide);
            at += static_cast<std::uint64_t>(address.offset);
            if (!global) at = (at & isa::peer_window) - sim::SharedMemory::base;
            if (at + static_cast<std::uint64_t>(write.bytes) > place.address &&
                at < place.address + static_cast<std::uint64_t>(place.bytes))
                lanes |= 1U << lane;
        }
    }
    return lanes & view.warp(number).running;
}

std::string threads_of(isa::Mask lanes, int first) {
    std::string out;
    const auto writes = [&](int lane) { return lane < isa::lanes && (lanes >> lane & 1U) != 0; };
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!writes(lane)) continue;
        const int begin = lane;
        while (writes(lane + 1)) ++lane;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", first + begin);
        if (lane > begin) out += fmt::format("-{}", first + lane);
    }
    return fmt::format("thread{} {}", lanes == (lanes & -lanes) ? "" : "s", out);
}

}  // namespace

std::string words_of(const Write& change, sim::View view, const Place& place, Dim3 grid) {
    const Where where = view.code().where(change.pc);
    const std::string line = fmt::format("{}:{}", where.file.view(), where.line);
    if (change.warp < 0) {
        const int warps = view.warps() / view.ctas();
        const int warp = change.thread / isa::lanes;
        return fmt::format("time {}: the copy of {}, issued by cta {} thread {}, landed", change.time, line,
                           number_of(view.cta(warp / warps), grid),
                           change.thread - warp / warps * warps * isa::lanes);
    }
    const sim::View::Warp warp = view.warp(change.warp);
    std::string out =
        fmt::format("time {}: {}, cta {} warp {}", change.time, line, number_of(warp.cta, grid), warp.warp);
    const Step* step = view.code().ops[change.pc].step;
    if (step == nullptr || place.warp >= 0) return out;
    const isa::Mask lanes = lanes_that_wrote(view, change.warp, *step, place);
    return lanes == 0 ? out : out + ", " + threads_of(lanes, warp.warp * isa::lanes);
}

std::string text_of_bytes(const std::vector<std::byte>& bytes) {
    constexpr std::size_t shown = 16;
    std::string out = "0x";
    for (std::size_t i = std::min(bytes.size(), shown); i > 0; --i)
        out += fmt::format("{:02x}", static_cast<unsigned>(bytes[i - 1]));
    return bytes.size() > shown ? "..." + out.substr(2) : out;
}

}  // namespace wgrun::debugging
