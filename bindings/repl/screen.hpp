// What an edited text looks like on the rows of a terminal, and how it is painted there. The line editor puts
// characters on the screen and knows nothing of colours; these are laid over them, place by place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

/// A row and a column, from 0, counted from where the prompt begins.
struct Place {
    int row = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
};

/// Where the byte at `index` of `text` (UTF-8) stands behind a prompt `prompt` columns wide, on a terminal of
/// `columns`: as libedit wraps lines and expands tabs. Nothing for text with characters that libedit shows as
/// several, or that have no width.
std::optional<Place> place_of(std::string_view text, std::size_t index, int prompt, int columns);

/// The escape sequences that paint `text` in colours when the terminal's cursor is where byte `cursor` is,
/// and leave it there. Empty where place_of has no answer, and when the text has more than `rows` rows.
std::string painted(std::string_view text, std::size_t cursor, int prompt, int columns, int rows);

/// Candidates as lines of text: with what they are, one a line, else in columns. At most `rows` lines, of
/// which the last says how many are left out.
std::string listed(const std::vector<Candidate>& candidates, int columns, int rows);

/// What all candidates begin with.
std::string common_beginning(const std::vector<Candidate>& candidates);

/// The spaces that the line behind `text` begins with: two for each block and bracket that is open.
std::string indentation(std::string_view text);

/// `text` with the line that ends at `cursor` moved to the left, where it begins with a word that closes a
/// block
/// (`end`) and stands where indentation() has put it.
std::string closed_line(const std::string& text, std::size_t cursor);

}  // namespace wgrun::repl
