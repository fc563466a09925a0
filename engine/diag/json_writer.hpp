// JSON as text, value after value, indented by two spaces.
//
// nlohmann's arrays and objects allocate when they are destroyed, and end the process where there is no
// memory. Its strings do not: quoting is left to it.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "diag/escape.hpp"

namespace wgrun {

class JsonWriter {
  public:
    void begin(char bracket) {  // { or [
        next();
        out_ += bracket;
        ++depth_;
        first_ = true;
    }
    void end(char bracket) {  // } or ]
        --depth_;
        if (!first_) new_line();
        out_ += bracket;
        first_ = false;
    }
    void key(std::string_view name) {
        next();
        out_ += escape::json_string(name) + ": ";
        named_ = true;
    }
    void value(std::string_view text) {
        next();
        out_ += escape::json_string(text);
    }
    void value(std::integral auto number) {
        next();
        out_ += std::to_string(number);
    }
    /// A value that is JSON already.
    void verbatim(std::string_view json) {
        next();
        out_ += json;
    }
    template <class Value>
    void member(std::string_view name, const Value& what) {
        key(name);
        value(what);
    }
    std::string take() { return std::move(out_); }

  private:
    void new_line() { out_.append("\n").append(2 * depth_, ' '); }
    void next() {
        if (std::exchange(named_, false) || depth_ == 0) return;
        if (!std::exchange(first_, false)) out_ += ',';
        new_line();
    }

    std::string out_;
    std::size_t depth_ = 0;
    bool first_ = true;   ///< the innermost brackets are still empty
    bool named_ = false;  ///< a key was written, its value not
};

}  // namespace wgrun
