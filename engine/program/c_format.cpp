#include "program/c_format.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>

namespace wgrun {
namespace {

constexpr int widest = 4096;

template <class T>
std::string printed(const std::string& conversion, T value) {
    // Conversion has made it: flags, numbers, and a letter for a T.
    const int size = std::snprintf(nullptr, 0, conversion.c_str(), value);
    std::string out(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
    (void)std::snprintf(out.data(), out.size(), conversion.c_str(), value);
    out.pop_back();
    return out;
}

/// A conversion of a format, from its % on.
class Conversion {
  public:
    Conversion(std::string_view text, CValues& values) : text_(text), values_(values) {}

    /// Appends what it prints to `out`, and returns how many characters of the format it is.
    std::size_t print(CPrinted& out) {
        for (; at_ < text_.size() && std::string_view("-+ #0'").find(text_[at_]) != std::string_view::npos;
             ++at_)
            if (text_[at_] != '\'') flags_ += text_[at_];
        std::optional<int> width = number(out), precision;
        if (at_ < text_.size() && text_[at_] == '.') ++at_, precision = number(out).value_or(0);
        if (width && *width < 0) flags_ += '-', width = -*width;
        if (precision && *precision < 0) precision.reset();
        const std::size_t length = at_;
        while (at_ < text_.size() && std::string_view("hlLjztq").find(text_[at_]) != std::string_view::npos)
            ++at_;
        length_ = text_.substr(length, at_ - length);
        spec_ = '%' + flags_;
        if (width) spec_ += std::to_string(*width);
        if (precision) spec_ += '.' + std::to_string(*precision);
        if (at_ < text_.size() && value(text_[at_], precision, out)) return at_ + 1;
        at_ = std::min(at_ + 1, text_.size());
        out.text += text_.substr(0, at_);
        return at_;
    }

  private:
    /// Reads a number, or takes a value for a *.
    std::optional<int> number(CPrinted& out) {
        if (at_ < text_.size() && text_[at_] == '*') {
            ++at_, ++out.values;
            const auto value = static_cast<std::int32_t>(values_.next(4));
            return std::clamp(value, -widest, widest);
        }
        std::optional<int> found;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
            found = std::min(found.value_or(0) * 10 + (text_[at_] - '0'), widest);
        return found;
    }

    /// Prints the next value. Returns false if the letter names none.
    bool value(char letter, std::optional<int> precision, CPrinted& out) {
        const auto next = [&](int bytes) {
            ++out.values;
            return values_.next(bytes);
        };
        const int bytes = length_.empty() || length_.starts_with('h') ? 4 : 8;
        switch (letter) {
            case '%': out.text += '%'; return true;
            case 'd':
            case 'i': {
                const auto bits = static_cast<std::int64_t>(next(bytes));
                const long long number = length_ == "hh"  ? static_cast<std::int8_t>(bits)
                                         : length_ == "h" ? static_cast<std::int16_t>(bits)
                                         : bytes == 4     ? static_cast<std::int32_t>(bits)
                                                          : bits;
                out.text += printed(spec_ + "ll" + letter, number);
                return true;
            }
            case 'o':
            case 'u':
            case 'x':
            case 'X': {
                const std::uint64_t bits = next(bytes);
                const unsigned long long number = length_ == "hh"  ? static_cast<std::uint8_t>(bits)
                                                  : length_ == "h" ? static_cast<std::uint16_t>(bits)
                                                                   : bits;
                out.text += printed(spec_ + "ll" + letter, number);
                return true;
            }
            case 'c': out.text += printed(spec_ + letter, static_cast<int>(next(4))); return true;
            case 'e':
            case 'f':
            case 'g':
            case 'a':
            case 'E':
            case 'F':
            case 'G':
            case 'A': out.text += printed(spec_ + letter, std::bit_cast<double>(next(8))); return true;
            case 'p':
                // NOLINTNEXTLINE(performance-no-int-to-ptr): it is printed, and no more
                out.text += printed(spec_ + letter, reinterpret_cast<const void*>(next(8)));
                return true;
            case 's': {
                const std::uint64_t address = next(8);
                const std::size_t most = precision ? static_cast<std::size_t>(*precision) : most_printed;
                out.text +=
                    printed(spec_ + letter, (address == 0 ? "(null)" : values_.text(address, most)).c_str());
                return true;
            }
            default: return false;
        }
    }

    std::string_view text_;
    CValues& values_;
    std::size_t at_ = 1;
    std::string flags_, spec_;
    std::string_view length_;
};

}  // namespace

CPrinted c_format(std::string_view format, CValues& values) {
    CPrinted out;
    while (!format.empty() && out.text.size() < most_printed) {
        const std::size_t plain = std::min(format.find('%'), format.size());
        out.text += format.substr(0, plain);
        format.remove_prefix(plain);
        if (!format.empty()) format.remove_prefix(Conversion(format, values).print(out));
    }
    return out;
}

}  // namespace wgrun
