#include "program/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <tuple>
#include <utility>

#include "isa/device_print.hpp"
#include "program/value_text.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using isa::Type;

/// The most bytes of the records of one launch, in memory shared by the host and the GPU.
constexpr std::size_t most_bytes = 8 << 20;
constexpr std::size_t most_values = 1024;

bool is_bits(Type type) {
    return type == Type::b16 || type == Type::b32 || type == Type::b64 || type == Type::b128;
}

/// Throws unless `conversion`, by its last letter, can print a register of the type.
void check_conversion(const std::string& conversion, Type type) {
    const char letter = conversion.back();
    const std::string name(isa::to_string(type));
    switch (letter) {
        case 'd':
        case 'i':
        case 'u':
            if (isa::is_float(type))
                throw ArgumentError(
                    fmt::format("`{}` takes an integer, not a register of type {}", conversion, name),
                    "%g prints a number, %x its bits");
            return;
        case 'e':
        case 'f':
        case 'g':
        case 'E':
        case 'G':
            if (is_bits(type) || type == Type::pred)
                throw ArgumentError(
                    fmt::format("`{}` takes a number, not a register of type {}", conversion, name),
                    type == Type::b16 ? "convert it first (k:cvt_f32_bf16, k:cvt_f32_f16); %x prints its bits"
                                      : "%d prints it as an integer, %x its bits");
            return;
        default: return;
    }
}

/// Returns the printf conversion that starts at text[at], the `%`; advances `at` past it.
std::string conversion_at(std::string_view text, std::size_t& at) {
    const std::size_t start = at++;
    while (at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos) ++at;
    const auto digits = [&] {
        const std::size_t first = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
        return at - first;
    };
    std::size_t width = digits();
    if (at < text.size() && text[at] == '.') ++at, width = std::max(width, digits());
    constexpr std::size_t longest = 2;
    if (width > longest || at >= text.size() ||
        std::string_view("diuxXeEfgGs").find(text[at]) == std::string_view::npos)
        throw ArgumentError(
            fmt::format("`{}`: no conversion that is known", text.substr(start, at + 1 - start)),
            "%d, %u, %x, %f, %e, %g or %s, with flags, width and precision of two digits; %% is %");
    ++at;
    return std::string(text.substr(start, at - start));
}

template <class T>
std::string printed(const std::string& conversion, const char* length, T value) {
    std::string format = conversion;
    format.insert(format.size() - 1, length);
    std::array<char, 512> out{};  // fits %99.99f of the largest double
    // The format was parsed by conversion_at.
    std::snprintf(out.data(), out.size(), format.c_str(), value);
    return out.data();
}

double as_double(Type type, std::uint64_t value) {
    if (type == Type::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    if (type == Type::f64) return std::bit_cast<double>(value);
    const int unused = 64 - isa::bits(type);
    if (isa::is_signed(type))
        return static_cast<double>(static_cast<std::int64_t>(value << unused) >> unused);
    return static_cast<double>(value);
}

std::string natural(Type type, std::uint64_t value) {
    if (type == Type::pred) return (value & 1) != 0 ? "true" : "false";
    if (type == Type::f32) return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    if (type == Type::f64) return fmt::format("{}", std::bit_cast<double>(value));
    if (is_bits(type)) return fmt::format("{:#x}", value);
    if (isa::is_signed(type)) return fmt::format("{}", static_cast<std::int64_t>(as_double(type, value)));
    return fmt::format("{}", value);
}

/// Returns the bits of `value` that belong to a register of that type.
std::uint64_t masked(Type type, std::uint64_t value) {
    const int bits = isa::bits(type);
    return bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
}

std::string converted(const std::string& conversion, Type type, std::uint64_t value) {
    value = masked(type, value);
    const int bits = isa::bits(type);
    const auto integer = static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
    switch (conversion.back()) {
        case 'd':
        case 'i':
            if (isa::is_signed(type)) return printed(conversion, "ll", static_cast<long long>(integer));
            return printed(conversion.substr(0, conversion.size() - 1) + 'u', "ll",
                           static_cast<unsigned long long>(value));
        case 'u':
        case 'x':
        case 'X': return printed(conversion, "ll", static_cast<unsigned long long>(value));
        case 's':
            if (isa::is_signed(type) && !isa::is_float(type))
                return printed(conversion, "", fmt::format("{}", integer).c_str());
            return printed(conversion, "", natural(type, value).c_str());
        default: return printed(conversion, "", as_double(type, value));
    }
}

std::string file_of(Where where) { return std::string(where.file.base()); }

/// "thread 3", "threads 0-3, 8"
std::string names_of(const std::vector<std::uint32_t>& threads) {
    std::string out = threads.size() == 1 ? "thread " : "threads ";
    for (std::size_t i = 0; i < threads.size();) {
        std::size_t end = i + 1;
        while (end < threads.size() && threads[end] == threads[end - 1] + 1) ++end;
        out += i == 0 ? "" : ", ";
        out +=
            end - i == 1 ? fmt::format("{}", threads[i]) : fmt::format("{}-{}", threads[i], threads[end - 1]);
        i = end;
    }
    return out;
}

}  // namespace

std::string value_text(Type type, std::uint64_t value) { return natural(type, masked(type, value)); }

std::vector<Message::Piece> parse_format(std::string_view format, std::span<const Type> types,
                                         std::span<const int> counts) {
    if (types.size() > most_values)
        throw ArgumentError(
            fmt::format("{} in one message: {} at most", count_of(types.size(), "value"), most_values));
    std::vector<Message::Piece> out;
    std::string text;
    std::size_t value = 0, next = 0;
    for (std::size_t at = 0; at < format.size();) {
        if (format[at] != '%') {
            text += format[at++];
            continue;
        }
        if (at + 1 < format.size() && format[at + 1] == '%') {
            text += '%';
            at += 2;
            continue;
        }
        std::string conversion = conversion_at(format, at);
        if (value == counts.size())
            throw ArgumentError(fmt::format("`{}` has no value: {} given", conversion, counts.size()));
        const int count = counts[value++];
        for (int i = 0; i < std::max(count, 1); ++i) check_conversion(conversion, types[next++]);
        out.push_back({std::exchange(text, {}), std::move(conversion), std::max(count, 1), count > 0});
    }
    if (value < counts.size())
        throw ArgumentError(
            fmt::format("{} for a format with {} conversions", count_of(counts.size(), "value"), value),
            "one conversion (%d, %g, %x, ...) a value");
    if (!text.empty()) out.push_back({std::move(text), {}, 0, false});
    return out;
}

std::string text_of(const Message& message, std::span<const std::uint64_t> values) {
    std::string out;
    std::size_t next = 0;
    for (const Message::Piece& piece : message.pieces) {
        out += piece.text;
        if (piece.list) out += '{';
        for (int i = 0; i < piece.values; ++i, ++next) {
            if (i > 0) out += ", ";
            out += converted(piece.conversion, message.types[next], values[next]);
        }
        if (piece.list) out += '}';
    }
    return out;
}

std::size_t message_bytes(const Program& program) {
    std::size_t most = 0;
    for (const Message& message : program.messages()) most = std::max(most, message.types.size());
    constexpr std::size_t align = 16;
    return (isa::device_print::header_bytes + most * isa::device_print::value_bytes + align - 1) / align *
           align;
}

std::size_t message_capacity(const Program& program) { return most_bytes / message_bytes(program); }

MessageLog::MessageLog(const Program& program, Dim3 grid, std::size_t capacity)
    : program_(&program), grid_(grid), capacity_(capacity) {}

void MessageLog::add(Dim3 cta, std::uint32_t thread, std::uint32_t message,
                     std::span<const std::uint64_t> values, std::uint32_t device) {
    if (entries_.size() >= capacity_) return lose(1);
    const std::uint64_t plane = cta.z + std::uint64_t{grid_.z} * device;
    entries_.push_back({cta.x + std::uint64_t{grid_.x} * (cta.y + std::uint64_t{grid_.y} * plane), thread,
                        message, values_.size()});
    values_.insert(values_.end(), values.begin(), values.end());
}

void MessageLog::print(std::string_view text) {
    const std::size_t room = std::min(most_bytes - printed_.size(), text.size());
    printed_ += text.substr(0, room);
    if (room < text.size()) lose(std::max<std::uint64_t>(std::ranges::count(text.substr(room), '\n'), 1));
}

void MessageLog::append(const MessageLog& other) {
    lost_ += other.lost_;
    print(other.printed_);
    const std::size_t before = values_.size();
    for (Entry entry : other.entries_) {
        entry.first += before;
        entries_.push_back(entry);
    }
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
}

std::vector<MessageLog::Line> MessageLog::folded() const {
    // The position of each message among those of its thread.
    using Place =
        std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::size_t>;  // cta, number, thread, entry
    std::vector<std::size_t> by_thread(entries_.size());
    for (std::size_t i = 0; i < by_thread.size(); ++i) by_thread[i] = i;
    std::ranges::stable_sort(by_thread, {},
                             [&](std::size_t i) { return std::pair(entries_[i].cta, entries_[i].thread); });
    std::vector<Place> places;
    places.reserve(by_thread.size());
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < by_thread.size(); ++i) {
        const Entry& entry = entries_[by_thread[i]];
        const bool same = i > 0 && entries_[by_thread[i - 1]].cta == entry.cta &&
                          entries_[by_thread[i - 1]].thread == entry.thread;
        number = same ? number + 1 : 0;
        places.emplace_back(entry.cta, number, entry.thread, by_thread[i]);
    }
    std::ranges::sort(places);
    if (places.size() > capacity_) places.resize(capacity_);
    std::vector<Line> out;
    std::size_t round = 0;  // index of the first line with this number
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& [cta, turn, thread, index] = places[i];
        if (i > 0 && (std::get<0>(places[i - 1]) != cta || std::get<1>(places[i - 1]) != turn))
            round = out.size();
        const Entry& entry = entries_[index];
        const Message& message = program_->messages()[entry.message];
        std::string text = text_of(message, std::span(values_).subspan(entry.first, message.types.size()));
        const auto same = std::find_if(
            out.begin() + static_cast<std::ptrdiff_t>(round), out.end(),
            [&](const Line& line) { return line.message == entry.message && line.text == text; });
        if (same != out.end())
            same->threads.push_back(thread);
        else
            out.push_back({cta, entry.message, std::move(text), {thread}});
    }
    return out;
}

std::string MessageLog::who(const Line& line) const {
    const std::uint64_t in_grid = line.cta % grid_.volume();
    std::string cta = fmt::format("cta {}", in_grid);
    if (grid_.y > 1 || grid_.z > 1)
        cta = fmt::format("cta {{{}, {}, {}}}", in_grid % grid_.x, in_grid / grid_.x % grid_.y,
                          in_grid / grid_.x / grid_.y);
    if (std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.cta >= grid_.volume(); }))
        cta = fmt::format("device {} {}", line.cta / grid_.volume(), cta);
    return cta + " " + names_of(line.threads);
}

std::vector<std::string> MessageLog::lines() const {
    std::vector<std::string> out;
    for (const Line& line : folded()) {
        const Message& message = program_->messages()[line.message];
        if (message.kind != Message::Kind::print) continue;
        out.push_back(
            fmt::format("[{}:{} {}] {}", file_of(message.where), message.where.line, who(line), line.text));
    }
    const std::uint64_t beyond = lost_ + (entries_.size() > capacity_ ? entries_.size() - capacity_ : 0);
    if (beyond > 0)
        out.push_back(fmt::format("[kernel {}: {} more messages, for which there was no room{}]",
                                  program_->name(), beyond,
                                  entries_.empty() ? "" : fmt::format(": a launch has {}", capacity_)));
    return out;
}

std::optional<Diagnostic> MessageLog::end() const {
    std::optional<Diagnostic> out;
    for (const Line& line : folded()) {
        const Message& message = program_->messages()[line.message];
        if (message.kind == Message::Kind::print) continue;
        std::string text = message.kind == Message::Kind::trap ? "the kernel traps" : "assertion failed";
        if (!line.text.empty()) text += ": " + line.text;
        text += fmt::format(" ({})", who(line));
        if (out) {
            out->notes.push_back({message.where, std::move(text)});
            continue;
        }
        out = rules::finding(rules::WG_TRAP_01, message.where, std::move(text));
        out->section.clear();  // what has failed is a law of the script's
    }
    return out;
}

}  // namespace wgrun
