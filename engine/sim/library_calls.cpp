#include "sim/library_calls.hpp"

#include <fmt/format.h>

#include <bit>

#include "wgrun/rules.hpp"

namespace wgrun::sim {

/// The values of a call, which lie as in a structure of C.
class LibraryCalls::Values final : public CValues {
  public:
    Values(LibraryCalls& calls, std::uint64_t at) : calls_(calls), at_(at) {}
    std::uint64_t next(int bytes) override {
        const auto size = static_cast<std::uint64_t>(bytes);
        at_ = (at_ + size - 1) / size * size;
        const std::uint64_t value = calls_.read(at_, bytes);
        at_ += size;
        return value;
    }
    std::string text(std::uint64_t address, std::size_t most) override { return calls_.text(address, most); }

  private:
    LibraryCalls& calls_;
    std::uint64_t at_;
};

template <class F>
void LibraryCalls::for_each_alone(F f) {
    const isa::Mask all = scene_.active;
    for (isa::Mask left = all; left != 0; left &= left - 1) {
        scene_.active = left & (~left + 1);
        f(static_cast<std::size_t>(std::countr_zero(left)));
    }
    scene_.active = all;
}

std::uint64_t LibraryCalls::read(std::uint64_t address, int bytes) {
    isa::Addresses at{};
    at[static_cast<std::size_t>(std::countr_zero(scene_.active))] = address;
    std::uint64_t value = 0;
    std::array<std::uint64_t, isa::lanes> data{};
    accesses_.load(isa::Space::generic, at, bytes, data.data(), sizeof value);
    for (const std::uint64_t lane : data) value |= lane;
    return value;
}

std::string LibraryCalls::text(std::uint64_t address, std::size_t most) {
    std::string out;
    while (out.size() < most) {
        const auto next = static_cast<char>(read(address + out.size(), 1));
        if (next == '\0') break;
        out += next;
    }
    return out;
}

// The numbers that it returns beside that of the values are those of the programming guide.
void LibraryCalls::print(const isa::Addresses& format, const isa::Addresses& values,
                         std::array<std::uint32_t, isa::lanes>& count, MessageLog& log) {
    if (scene_.launch.synthetic != nullptr) return;  // formats and values are synthetic, too
    constexpr std::uint32_t no_format = static_cast<std::uint32_t>(-1);
    for_each_alone([&](std::size_t lane) {
        count[lane] = no_format;
        if (format[lane] == 0) return;
        Values from(*this, values[lane]);
        const CPrinted printed = c_format(text(format[lane], most_printed), from);
        count[lane] = printed.values;
        log.print(printed.text);
    });
}

void LibraryCalls::fail(const isa::Addresses& message, const isa::Addresses& file,
                        const std::array<std::uint32_t, isa::lanes>& line, const isa::Addresses& function) {
    const isa::Mask all = scene_.active;
    scene_.active = all & (~all + 1);
    const auto lane = static_cast<std::size_t>(std::countr_zero(all));
    constexpr std::size_t most = 1024;
    const auto said = [&](std::uint64_t address) { return address == 0 ? "" : text(address, most); };
    std::string text = fmt::format("assertion failed: {} ({}:{}, {})", said(message[lane]), said(file[lane]),
                                   line[lane], said(function[lane]));
    scene_.active = all;
    scene_.report.lane(scene_.thread(static_cast<int>(lane)));
    Diagnostic finding = rules::finding(rules::WG_TRAP_01, scene_.code.where(scene_.pc),
                                        fmt::format("{} ({})", text, scene_.report.who()));
    finding.section.clear();  // what has failed is a law of the kernel's
    scene_.report.said(std::move(finding));
}

}  // namespace wgrun::sim
