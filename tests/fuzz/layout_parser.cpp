#include "tests/fuzz/bodies.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/layout.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const std::string& what, const std::string& text) {
    if (!holds) throw Broken(what + ": " + text);
}

void read_tuple(const std::string& text) {
    try {
        const IntTuple tuple = IntTuple::parse(text);
        expect(IntTuple::parse(tuple.to_string()) == tuple, "printed and read again", text);
    } catch (const ArgumentError& error) {
        expect(*error.what() != '\0', "a refusal without a word", text);
    }
}

/// The ends of the domain, by index and by coordinate.
void look_up(const Layout& layout, const std::string& text) {
    for (const std::int64_t index : {std::int64_t{0}, layout.size() / 2, layout.size() - 1}) {
        const std::int64_t offset = layout(index);
        expect(layout(layout.coordinate(index)) == offset, "index and coordinate", text);
        if (layout.swizzle()) continue;
        expect(offset < layout.cosize() && offset > -layout.cosize(), "offset within cosize", text);
    }
}

}  // namespace

void layout_parser(Bytes bytes) {
    const std::string text(bytes.begin(), bytes.end());
    read_tuple(text);
    try {
        const Layout layout = Layout::parse(text);
        const std::string printed = layout.to_string();
        expect(Layout::parse(printed) == layout, "printed and read again", text);
        expect(Layout::parse(printed).to_string() == printed, "printed twice", text);
        look_up(layout, text);
    } catch (const ArgumentError& error) {
        expect(*error.what() != '\0', "a refusal without a word", text);
    }
}

}  // namespace wgrun::fuzz
