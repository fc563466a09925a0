// What terminals answer. What they are sent is decoded, byte by byte, in tests/cli/images.py.
#include "bindings/repl/graphics.hpp"

#include "bindings/repl/png.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::repl;

TEST_CASE("answers of terminals are told from keys") {
    const Answers kitty =
        read_answers("a\x1b[A\x1b_Gi=31;OK\x1b\\\x1b]11;rgb:0000/1010/2020\x1b\\\x1b[6;20;10t\x1b[?62;cb");
    CHECK(kitty.complete);
    CHECK(kitty.kitty);
    CHECK_FALSE(kitty.sixel);
    CHECK(kitty.dark);
    CHECK(kitty.cell_height == 20);
    CHECK(kitty.cell_width == 10);
    CHECK(kitty.typed == "a\x1b[Ab");
    CHECK_FALSE(read_answers("\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\").kitty);
    CHECK(read_answers("\x1b[?65;1;4;22c").sixel);
    // The first number is no attribute, and 4 is not a part of another.
    CHECK_FALSE(read_answers("\x1b[?4c").sixel);
    CHECK_FALSE(read_answers("\x1b[?62;14;42c").sixel);
    for (const std::string_view light :
         {"\x1b]11;rgb:ffff/ffff/dddd\a", "\x1b]11;rgb:f/f/d\x1b\\", "\x1b]11;rgba\a", "\x1b]11;rgb:x/y/z\a",
          "\x1b]11;rgb:00000/0/0\a", "\x1b]11;\a"}) {
        CHECK_FALSE(read_answers(light).dark);
        CHECK(read_answers(light).typed.empty());
    }
    CHECK(read_answers("\x1b]11;rgb:10/10/10\a").dark);
}

TEST_CASE("answers may come in pieces, and be anything") {
    const std::string all = "\x1b_Gi=31;OK\x1b\\\x1b]11;rgb:ff/ff/ff\a\x1b[6;20;10t\x1b[?62;4c";
    for (std::size_t size = 0; size < all.size(); ++size)
        CHECK_FALSE(read_answers(std::string_view(all).substr(0, size)).complete);
    CHECK(read_answers(all).complete);
    CHECK(read_answers(all).typed.empty());
    for (const std::string_view odd : {"\x1b", "\x1b[", "\x1b[?", "\x1b[6;99999999999999;1t", "\x1b[?;;;c",
                                       "\x1b]11;rgb:", "\x1b_G", "\x1b\\"})
        CHECK_NOTHROW(read_answers(odd));
    CHECK(read_answers("\x1b[6;5~").typed == "\x1b[6;5~");  // Ctrl-PageDown
}

TEST_CASE("images go where they are understood") {
    const auto answers = [](std::string_view text) { return read_answers(text); };
    const TerminalNames xterm{"xterm-256color", "", "", false};
    const TerminalNames iterm{"xterm-256color", "", "iTerm2", false};
    const TerminalNames inside{"tmux-256color", "iTerm.app", "iTerm2", true};
    CHECK(choose(xterm, answers("\x1b_Gi=31;OK\x1b\\\x1b[?62;4c")) == Graphics::kitty);
    CHECK(choose(xterm, answers("\x1b[?62;4c")) == Graphics::sixel);
    CHECK(choose(xterm, answers("\x1b[?62c")) == std::nullopt);
    CHECK(choose(iterm, answers("\x1b[?62;4c")) == Graphics::iterm2);
    CHECK(choose(iterm, answers("")) == std::nullopt);
    CHECK(choose(inside, answers("\x1b[?1;2c")) == std::nullopt);
    CHECK(choose(inside, answers("\x1b[?1;2;4c")) == Graphics::sixel);
    CHECK(question(xterm).find("\x1b_G") != std::string::npos);
    CHECK(question(inside).find("\x1b_G") == std::string::npos);
    for (const char* term : {"", "dumb", "linux"}) CHECK(question({term, "", "", false}).empty());
    CHECK(question({"xterm-256color", "Apple_Terminal", "", false}).empty());
}

TEST_CASE("a picture is shown where it fits, on a fine screen twice as large") {
    const Picture picture{grid_of(Layout::parse("(4,4):(4,1)"))};
    const auto [width, height] = extent_of(picture);
    CHECK(shown(picture, {Graphics::sixel, width, height, 16, false}).has_value());
    CHECK_FALSE(shown(picture, {Graphics::sixel, width - 1, height, 16, false}).has_value());
    CHECK_FALSE(shown(picture, {Graphics::sixel, width, height - 1, 16, false}).has_value());
    CHECK_THAT(*shown(picture, {Graphics::sixel, 2 * width, 2 * height, 32, false}),
               ContainsSubstring("\"1;1;" + std::to_string(2 * width) + ";"));
    CHECK_THAT(*shown(picture, {Graphics::sixel, 2 * width - 1, 2 * height, 32, false}),
               ContainsSubstring("\"1;1;" + std::to_string(width) + ";"));
}

TEST_CASE("pictures take a few bytes as PNG") {
    const Image image =
        to_image({grid_of(Tile({Dtype::bf16, 64, 64, Major::k, SwizzleMode::b128, AtomOrder::mn}))});
    CHECK(image.pixels.size() > 2'000'000);
    CHECK(to_png(image).size() < image.pixels.size() / 3);
    const Image small =
        to_image({overview(Tile({Dtype::bf16, 128, 128, Major::k, SwizzleMode::b128, AtomOrder::mn}))});
    CHECK(to_png(small).size() < 100'000);
}
