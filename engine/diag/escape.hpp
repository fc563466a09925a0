// Text of others within the texts that wgrun writes: names of chunks and files, inline PTX, names in PTX
// texts. Each function keeps any bytes inside of the construct of its language that it is named after.
// (Terminals: printable.hpp.)
#pragma once

#include <string>
#include <string_view>

namespace wgrun::escape {

/// A comment of C, C++, PTX or Lua, of one line or between /* and */: control characters, which may end a
/// line, a backslash, which may continue one, also as a trigraph, and the marks at the ends of comments
/// become underscores.
std::string comment(std::string_view text);

/// A string of PTX with its quotes. PTX has no escapes: what would end it or the line becomes an underscore.
std::string ptx_string(std::string_view text);

/// The inside of a string literal of C or C++, which has the same bytes.
std::string c_characters(std::string_view text);

/// A string literal of C or C++ with its quotes.
std::string c_string(std::string_view text);

/// A string of Lua: in long brackets of level 2 if these hold it unchanged, else in quotes, on one line and
/// without commas.
std::string lua_string(std::string_view text);

/// A string of JSON with its quotes. Bytes that are not UTF-8 (a file name may hold any) become U+FFFD.
std::string json_string(std::string_view text);

/// The same within a script element of HTML: no </script> appears in it.
std::string script_string(std::string_view text);

/// Text, or an attribute in double quotes, of XML and HTML. Control characters, which XML has not, become
/// U+FFFD.
std::string xml(std::string_view text);

}  // namespace wgrun::escape
