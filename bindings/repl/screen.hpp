// The layout of an edited text on the rows of a terminal, and its colours. The line editor writes characters
// without colours; these are painted over them afterwards.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/repl/repl.hpp"

namespace wgrun::repl {

/// A row and a column, from 0, counted from the beginning of the prompt.
struct Place {
    int row = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
};

/// The position of the byte at `index` of `text` (UTF-8) after a prompt of `prompt` columns, on a terminal of
/// `columns`: as libedit wraps lines and expands tabs. Nothing for text with characters that libedit shows as
/// several, or that have no width.
std::optional<Place> place_of(std::string_view text, std::size_t index, int prompt, int columns);

/// The escape sequences that paint `text` in colours when the terminal's cursor is where byte `cursor` is,
/// and leave it there. Empty where place_of has no answer, and when the text has more than `rows` rows.
std::string painted(std::string_view text, std::size_t cursor, int prompt, int columns, int rows);

/// Candidates as lines of text: one per line with its description, else in columns. At most `rows` lines; the
/// last says how many are omitted.
std::string listed(const std::vector<Candidate>& candidates, int columns, int rows);

/// The common beginning of all candidates.
std::string common_beginning(const std::vector<Candidate>& candidates);

/// The indentation of the line after `text`: two spaces for each open block and bracket.
std::string indentation(std::string_view text);

/// `text` with the line that ends at `cursor` moved to the left, where it begins with a word that closes a
/// block
/// (`end`) and stands where indentation() has put it.
std::string closed_line(const std::string& text, std::size_t cursor);

}  // namespace wgrun::repl
