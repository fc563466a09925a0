#include "bindings/cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/cli/choice.hpp"

namespace wgrun::cli {

Argument& Argument::unit(std::string name) {
    option_.type_name(std::move(name));
    return *this;
}

Argument& Argument::one_of(const std::vector<std::string>& words) {
    option_.check(Choice(words));
    return *this;
}

Argument& Argument::between(int least, int most) {
    option_.check(CLI::Range(least, most));
    return *this;
}

Argument& Argument::shows_default() {
    option_.capture_default_str();
    return *this;
}

Argument& Argument::required() {
    option_.required();
    return *this;
}

Argument& Argument::value_optional() {
    option_.expected(0, 1);
    return *this;
}

Argument& Argument::one_value_each() {
    option_.allow_extra_args(false);
    return *this;
}

Argument& Argument::group(const std::string& name) {
    option_.group(name);
    return *this;
}

Argument& Argument::excludes(const std::string& name) {
    option_.excludes(name);
    return *this;
}

Argument Arguments::flag(std::string name, bool& value, std::string text) {
    return Argument(*app_.add_flag(std::move(name), value, std::move(text)));
}

template <class Value>
Argument Arguments::option(std::string name, Value& value, std::string text) {
    return Argument(*app_.add_option(std::move(name), value, std::move(text)));
}

template Argument Arguments::option(std::string, std::string&, std::string);
template Argument Arguments::option(std::string, int&, std::string);
template Argument Arguments::option(std::string, std::int64_t&, std::string);
template Argument Arguments::option(std::string, std::size_t&, std::string);
template Argument Arguments::option(std::string, double&, std::string);
template Argument Arguments::option(std::string, std::optional<int>&, std::string);
template Argument Arguments::option(std::string, std::optional<double>&, std::string);
template Argument Arguments::option(std::string, std::optional<std::string>&, std::string);
template Argument Arguments::option(std::string, std::vector<std::string>&, std::string);

}  // namespace wgrun::cli
