#include "bindings/repl/png.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace wgrun::repl {
namespace {

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320U ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    return table;
}();

std::uint32_t crc(std::string_view bytes) {
    std::uint32_t c = 0xFFFFFFFFU;
    for (const char byte : bytes) c = crc_table[(c ^ static_cast<unsigned char>(byte)) & 255] ^ c >> 8;
    return ~c;
}

std::uint32_t adler(std::string_view bytes) {
    constexpr std::uint32_t prime = 65521;
    std::uint32_t a = 1, b = 0;
    for (const char byte : bytes) {
        a = (a + static_cast<unsigned char>(byte)) % prime;
        b = (b + a) % prime;
    }
    return b << 16 | a;
}

/// Deflate (RFC 1951): one block with the fixed codes, in which the only repetitions are runs of one byte.
class Deflate {
  public:
    explicit Deflate(std::string_view bytes) {
        add(1, 1);  // the last block
        add(1, 2);  // fixed codes
        for (std::size_t at = 0; at < bytes.size();) {
            const auto byte = static_cast<unsigned char>(bytes[at]);
            symbol(byte);
            std::size_t run = 0;
            while (run < longest && at + 1 + run < bytes.size() && bytes[at + 1 + run] == bytes[at]) ++run;
            if (run >= shortest) repeat(static_cast<int>(run));
            at += 1 + (run >= shortest ? run : 0);
        }
        symbol(256);
        if (used_ > 0) out_ += static_cast<char>(waiting_);
    }

    std::string take() { return std::move(out_); }

  private:
    static constexpr std::size_t shortest = 3, longest = 258;

    // Bits are packed from the lowest on.
    void add(std::uint32_t bits, int count) {
        for (int i = 0; i < count; ++i) {
            waiting_ |= (bits >> i & 1) << used_;
            if (++used_ < 8) continue;
            out_ += static_cast<char>(waiting_);
            waiting_ = 0;
            used_ = 0;
        }
    }
    // A code, its highest bit first.
    void code(std::uint32_t bits, int count) {
        for (int i = count; i-- > 0;) add(bits >> i & 1, 1);
    }
    // Section 3.2.6.
    void symbol(std::uint32_t value) {
        if (value < 144)
            code(0x30 + value, 8);
        else if (value < 256)
            code(0x190 + value - 144, 9);
        else if (value < 280)
            code(value - 256, 7);
        else
            code(0xC0 + value - 280, 8);
    }
    // Repeats the last byte `length` times: section 3.2.5.
    void repeat(int length) {
        int extra = 0;
        if (length == static_cast<int>(longest)) {
            symbol(285);
        } else {
            const int from_zero = length - static_cast<int>(shortest);
            while (from_zero >> (extra + 3) != 0) ++extra;  // bits below the three leading ones
            const int group = from_zero >> extra;
            symbol(static_cast<std::uint32_t>(257 + 4 * extra + group));
            add(static_cast<std::uint32_t>(from_zero & ((1 << extra) - 1)), extra);
        }
        code(0, 5);  // a distance of 1
    }

    std::string out_;
    std::uint32_t waiting_ = 0;
    int used_ = 0;
};

void add_chunk(std::string& out, std::string_view kind, std::string_view data) {
    const std::string body = std::string(kind) + std::string(data);
    out += big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc(body));
}

}  // namespace

std::string to_png(const Image& image) {
    using namespace std::string_literals;
    std::string out = "\x89PNG\r\n\x1a\n";
    // 8 bits a pixel, with a palette, not interlaced
    add_chunk(out, "IHDR",
              big_endian(static_cast<std::uint32_t>(image.width)) +
                  big_endian(static_cast<std::uint32_t>(image.height)) + "\x08\x03\0\0\0"s);
    std::string palette;
    for (const std::uint32_t colour : image.palette) palette += big_endian(colour).substr(1);
    add_chunk(out, "PLTE", palette);
    // Each row is the difference from the one above (filter 2).
    std::string rows;
    const auto width = static_cast<std::size_t>(image.width);
    for (std::size_t at = 0; at < image.pixels.size(); ++at) {
        if (at % width == 0) rows += '\x02';
        rows += static_cast<char>(image.pixels[at] - (at < width ? 0 : image.pixels[at - width]));
    }
    add_chunk(out, "IDAT", "\x78\x01" + Deflate(rows).take() + big_endian(adler(rows)));
    add_chunk(out, "IEND", "");
    return out;
}

}  // namespace wgrun::repl
