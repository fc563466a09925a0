// What a kernel whose threads say something would leave in its records (isa/device_print.hpp), read off its
// PTX: thread 3 of CTA 0 comes to each message once, in the order of the text, with zeros for values, up to a
// trap.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

class FakeMessages {
  public:
    explicit FakeMessages(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            const auto number = [&](std::string_view after) {
                return static_cast<std::uint32_t>(
                    std::strtoul(line.data() + line.find(after) + after.size(), nullptr, 10));
            };
            if (line.find("number, ") != std::string_view::npos && line.starts_with("mad.wide"))
                bytes_ = number("number, ");
            else if (line.starts_with("mov.u32 message, "))
                said_.push_back({number("message, "), false});
            else if (line == "trap;" && !said_.empty())
                said_.back().ends = true;
        }
    }

    /// Does it trap?
    bool run(std::byte* control) const {
        for (const Said& said : said_) {
            std::uint32_t count = 0, capacity = 0;
            std::byte* first = nullptr;
            std::memcpy(&count, control, sizeof count);
            std::memcpy(&capacity, control + 4, sizeof capacity);
            std::memcpy(&first, control + 8, sizeof first);
            if (count < capacity) {
                const std::uint32_t header[] = {said.message, 0, 0, 3};
                std::memcpy(first + std::size_t{count} * bytes_, header, sizeof header);
            }
            ++count;
            std::memcpy(control, &count, sizeof count);
            if (said.ends) return true;
        }
        return false;
    }

  private:
    struct Said {
        std::uint32_t message;
        bool ends;
    };
    std::vector<Said> said_;
    std::size_t bytes_ = 0;
};
