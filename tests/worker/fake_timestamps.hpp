// What a profiled build would leave in its buffer (isa/timestamp.hpp), read off its PTX: each warp of CTA 0
// comes to all sites once, in the order of their numbers, and stays 60 cycles of each 100 there.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

class FakeTimestamps {
  public:
    explicit FakeTimestamps(std::string_view text) {
        if (const std::size_t at = text.find(".maxntid "); at != std::string_view::npos)
            warps_ = (static_cast<std::uint32_t>(std::strtoul(text.data() + at + 9, nullptr, 10)) + 31) / 32;
        for (std::size_t at = 0; (at = text.find("mov.u32 site, ", at)) != std::string_view::npos; ++at)
            ++sites_;
    }

    void run(std::byte* block) const {
        const auto word = [&](std::size_t offset) {
            std::uint32_t out = 0;
            std::memcpy(&out, block + offset, sizeof out);
            return out;
        };
        const auto write = [&](std::size_t offset, auto value) {
            std::memcpy(block + offset, &value, sizeof value);
        };
        const std::uint32_t slices = word(0), bytes = word(4);
        for (std::uint32_t warp = 0; warp < warps_; ++warp) {
            const std::uint32_t number = word(16);
            write(16, number + 1);
            if (number >= slices) continue;
            const std::size_t slice = 2048 + std::size_t{number} * bytes;
            const std::uint64_t begin = 5000, end = begin + 100 * (sites_ + 1);
            write(slice, 0U), write(slice + 4, 0U), write(slice + 8, warp), write(slice + 12, 17U);
            write(slice + 16, begin), write(slice + 24, begin), write(slice + 32, end),
                write(slice + 40, end);
            write(slice + 48, static_cast<std::uint32_t>(slice + 64 + 16 * sites_)), write(slice + 52, 1U);
            for (std::uint32_t site = 1; site <= sites_ && 64 + 16 * site <= bytes; ++site) {
                const std::uint32_t at = static_cast<std::uint32_t>(begin) + 100 * site;
                const std::uint32_t timestamp[] = {site, 1, at, at + 60};
                std::memcpy(block + slice + 48 + 16 * site, timestamp, sizeof timestamp);
            }
        }
    }

  private:
    std::uint32_t warps_ = 0, sites_ = 0;
};
