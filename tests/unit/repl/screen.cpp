// Where an edited text stands on a terminal, how it is painted, and lists of candidates.
#include "bindings/repl/screen.hpp"

#include <clocale>

#include "tests/catch.hpp"

using namespace wgrun::repl;

TEST_CASE("places of a text behind a prompt") {
    CHECK(place_of("abc", 0, 2, 80) == Place{0, 2});
    CHECK(place_of("abc", 3, 2, 80) == Place{0, 5});
    CHECK(place_of("ab\ncd", 4, 2, 80) == Place{1, 1});
    CHECK(place_of("12345678", 8, 2, 10) == Place{1, 0});     // the row is full
    CHECK(place_of("12345678\nx", 9, 2, 10) == Place{2, 0});  // and its newline makes an empty one
    CHECK(place_of("\tx", 1, 2, 80) == Place{0, 8});
    CHECK(!place_of("a\x01", 2, 2, 80));
    CHECK(!place_of("\xff", 1, 2, 80) == (std::setlocale(LC_CTYPE, nullptr) == std::string("C")));
}

TEST_CASE("painting puts the same characters in the same places") {
    // What is left of the sequences that move and colour is the text, and rows end where they wrap.
    const auto characters = [](const std::string& painted) {
        std::string out;
        for (std::size_t i = 0; i < painted.size(); ++i) {
            if (painted[i] == '\x1b') {
                while (i < painted.size() && !(painted[i] >= '@' && painted[i] <= '~' && painted[i] != '['))
                    ++i;
            } else if (painted[i] != '\r') {
                out += painted[i];
            }
        }
        return out;
    };
    CHECK(characters(painted("local x = 'a' -- b", 3, 2, 80, 24)) == "local x = 'a' -- b");
    CHECK(characters(painted("if x then\n  y()\nend", 19, 2, 80, 24)) == "if x then\n  y()\nend");
    CHECK(characters(painted("0123456789abc", 0, 2, 8, 24)) == "012345\n6789abc");
    CHECK_THAT(painted("local x = 1", 11, 2, 80, 24),
               ContainsSubstring("\x1b[35mlocal\x1b[0m x = \x1b[36m1\x1b[0m"));
    CHECK(painted("a\nb\nc", 0, 2, 80, 2).empty());  // more rows than the terminal has
    CHECK(painted("", 0, 2, 80, 24).find_first_of("abc") == std::string::npos);
}

TEST_CASE("lists of candidates") {
    const std::vector<Candidate> names{{"alpha", ""}, {"beta", ""}, {"gamma", ""}};
    CHECK(listed(names, 80, 10) == "alpha  beta   gamma\n");
    CHECK(listed(names, 20, 10) == "alpha  gamma\nbeta\n");
    const std::vector<Candidate> described{
        {"a", "first"}, {"bb", "second, " + std::string(100, 'x')}, {"c", ""}};
    const std::string text = listed(described, 40, 10);
    CHECK_THAT(text, ContainsSubstring("a   first\nbb  second, xx") && ContainsSubstring("...\nc\n"));
    CHECK(listed(described, 40, 2) == "a   first\n... 2 more\n");
    CHECK(common_beginning(names).empty());
    CHECK(common_beginning({{"load_a", ""}, {"load_b", ""}, {"load", ""}}) == "load");
}

TEST_CASE("lines are indented by what is open") {
    CHECK(indentation("for i = 1, 3 do").size() == 2);
    CHECK(indentation("if x then f(function()").size() == 6);
    CHECK(indentation("if x then\n  y()\nelse").size() == 2);
    CHECK(indentation("x = {1, 2}").empty());
    CHECK(indentation("s = [[ do").empty());
    CHECK(closed_line("do\n  end", 8) == "do\nend");
    CHECK(closed_line("do\n  ending", 11) == "do\n  ending");
    CHECK(closed_line("do\nend", 6) == "do\nend");
    CHECK(closed_line("do\n  if x then\n    end", 22) == "do\n  if x then\n  end");
}
