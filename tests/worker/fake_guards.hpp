// What a guarded build's guards would leave in its block of slots, read off its PTX: which numbers they write
// stands there and nowhere else.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

/// The guards of a PTX text, in its order.
struct FakeGuards {
    std::vector<std::uint32_t> polls;  ///< sites that are reported when a poll is overdue
    std::vector<std::uint32_t> notes;  ///< sites that are noted
    std::vector<bool> erased_at_once;  ///< of each note: nothing lets its step end before it is erased

    explicit FakeGuards(std::string_view text) {
        constexpr std::string_view site_text = "mov.u32 sm, ", kind_text = "mov.u32 kind, ";
        std::uint32_t site = 0;
        bool settled = false;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            const auto number = [&](std::string_view after) {
                return static_cast<std::uint32_t>(std::strtoul(line.data() + after.size(), nullptr, 10));
            };
            if (line.starts_with(site_text)) {
                site = number(site_text);
            } else if (line.starts_with(kind_text)) {
                if (number(kind_text) == 1) polls.push_back(site);
            } else if (line.starts_with("st.volatile.global.v4.b32 [slot],")) {
                if (site != 0) {
                    notes.push_back(site);
                    erased_at_once.push_back(true);
                    settled = false;
                } else if (!notes.empty()) {
                    erased_at_once.back() = !settled;
                }
            } else if (line.starts_with("nanosleep.u32 4000") || line.starts_with("fence.sc.sys")) {
                settled = true;
            }
        }
    }

    /// The kernel hangs: warps 4 to 7 have looked in vain for the first thing that is looked at, an mbarrier
    /// at the start of shared memory whose 64 bits are `word`; warp 0 is where the first note is made.
    void hang(std::byte* block, std::uint64_t word) const {
        for (std::uint32_t warp = 4; warp < 8 && !polls.empty(); ++warp) {
            write(block, warp, 1, {polls.front(), 1, 0xFFFFFFFF, 0});
            write(block, warp, 2,
                  {0, 0, static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)});
            write(block, warp, 3, {0, 0, 0, warp});
        }
        if (!notes.empty()) write(block, 0, 0, {notes.front(), 0, 0, 0});
    }

    /// The last step that is noted faults, in warps 0 to 3. What is erased before the fault comes is gone.
    void fault(std::byte* block) const {
        if (notes.empty() || erased_at_once.back()) return;
        for (std::uint32_t warp = 0; warp < 4; ++warp) write(block, warp, 0, {notes.back(), 0, 0, warp});
    }

  private:
    struct Row {
        std::uint32_t words[4];
    };
    static void write(std::byte* block, std::uint32_t slot, std::size_t row, Row content) {
        std::memcpy(block + std::size_t{64} * slot + 16 * row, &content, sizeof content);
    }
};
