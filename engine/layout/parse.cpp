#include <fmt/format.h>

#include <charconv>

#include "layout/modes.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/layout.hpp"

namespace wgrun {
namespace {

/// A cursor over CuTe's notation. Static integers (_8) are read as integers.
class Reader {
  public:
    Reader(std::string_view text, std::string_view what) : text_(text), what_(what) {}

    [[noreturn]] void fail(const std::string& expected) const {
        // One line, like all errors: of a long text only the part around the error.
        const std::size_t from = at_ > 60 ? at_ - 60 : 0;
        std::string shown(text_.substr(from, 100));
        if (from > 0) shown.insert(0, "...");
        if (from + 100 < text_.size()) shown += "...";
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < ' ') c = ' ';
        const std::string found =
            at_ < text_.size() ? fmt::format("found `{}`", text_[at_]) : "the text ends";
        throw ArgumentError(
            fmt::format("{}: expected {}, {} at column {} of `{}`", what_, expected, found, at_ + 1, shown));
    }

    bool take(std::string_view word) {
        skip();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    void expect(std::string_view word) {
        if (!take(word)) fail(fmt::format("`{}`", word));
    }
    bool at_end() {
        skip();
        return at_ == text_.size();
    }

    std::int64_t integer() {
        take("_");
        skip();
        std::int64_t value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) fail("an integer of at most 64 bits");
        if (error != std::errc{}) fail("an integer");
        at_ += static_cast<std::size_t>(end - begin);
        return value;
    }

    int small_integer() {
        const std::size_t begin = at_;
        const std::int64_t value = integer();
        if (value < -64 || value > 64) {
            at_ = begin;
            fail("an integer from -64 to 64");
        }
        return static_cast<int>(value);
    }

    IntTuple tuple(int nesting = 0) {
        if (!take("(")) {
            skip();
            if (at_ == text_.size() ||
                (text_[at_] != '-' && text_[at_] != '_' && (text_[at_] < '0' || text_[at_] > '9')))
                fail("`(` or an integer");
            return integer();
        }
        if (nesting == max_nesting) fail(fmt::format("at most {} levels of nesting", max_nesting));
        std::vector<IntTuple> modes;
        if (take(")")) return modes;
        for (;;) {
            modes.push_back(tuple(nesting + 1));
            if (take(")")) return modes;
            if (!take(",")) fail("`,` or `)`");
        }
    }

  private:
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
    }

    std::string_view text_;
    std::string_view what_;
    std::size_t at_ = 0;
};

/// smem_ptr[16b](unset): the swizzle before it permutes bytes, the strides after it count elements of 16
/// bits.
Swizzle on_elements(Reader& in, const Swizzle& bytes) {
    const int bits = in.small_integer();
    in.expect("b](unset)");
    if (bits < 1 || bits > 64 || (bits & (bits - 1)) != 0) in.fail("an element of 1, 2, 4, ... 64 bits");
    return bits < 8 ? bytes.downcast(8 / bits) : bytes.upcast(bits / 8);
}

}  // namespace

IntTuple IntTuple::parse(std::string_view text) {
    Reader in(text, "tuple");
    IntTuple tuple = in.tuple();
    if (!in.at_end()) in.fail("the end");
    return tuple;
}

Layout Layout::parse(std::string_view text) {
    Reader in(text, "layout");
    std::optional<Swizzle> swizzle;
    std::int64_t offset = 0;
    if (in.take("Swizzle<") || in.take("Sw<")) {
        const int b = in.small_integer();
        in.expect(",");
        const int m = in.small_integer();
        in.expect(",");
        const int s = in.small_integer();
        in.expect(">");
        in.expect("o");
        swizzle = Swizzle(b, m, s);
        if (in.take("smem_ptr[")) {
            swizzle = on_elements(in, *swizzle);
            in.expect("o");
        }
    }
    IntTuple shape = in.tuple();
    if (swizzle && in.take("o")) {
        offset = shape.value();
        shape = in.tuple();
    }
    Layout layout;
    if (in.take(":")) {
        IntTuple stride = in.tuple();
        if (!in.at_end()) in.fail("the end");
        layout = Layout(std::move(shape), std::move(stride));
    } else {
        if (!in.at_end()) in.fail("`:` and the stride, or the end");
        layout = Layout(shape);
    }
    return swizzle ? Layout(*swizzle, layout, offset) : layout;
}

}  // namespace wgrun
