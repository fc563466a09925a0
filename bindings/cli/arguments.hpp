// What a command takes from the command line, as it declares it.
//
// CLI11 reads the command line. Its headers take a compiler ten seconds a file, so the commands do not
// include them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wgrun::cli {

/// An option, a flag or a positional argument that was declared.
class Argument {
  public:
    explicit Argument(CLI::Option& option) : option_(option) {}

    /// What the help calls its value: "FILE". Empty: nothing.
    Argument& unit(std::string name);
    /// Refuses other words, with the one that may be meant.
    Argument& one_of(const std::vector<std::string>& words);
    Argument& one_of(std::span<const std::string_view> words) {
        return one_of(std::vector<std::string>(words.begin(), words.end()));
    }
    /// Refuses numbers outside [least, most].
    Argument& between(int least, int most);
    /// The help says what its value is when it is not given.
    Argument& shows_default();
    Argument& required();
    /// It may be given without a value.
    Argument& value_optional();
    /// Each time it is given, it has one value.
    Argument& one_value_each();
    /// The heading under which the help lists it.
    Argument& group(const std::string& name);
    /// It cannot be given together with this one, which is declared already.
    Argument& excludes(const std::string& name);

  private:
    CLI::Option& option_;
};

/// The arguments of a command. Those that `value` and so on refer to must outlive it: they change when the
/// command line is read.
class Arguments {
  public:
    explicit Arguments(CLI::App& app) : app_(app) {}

    /// "--fix": true if it is given.
    Argument flag(std::string name, bool& value, std::string text);
    /// "--seeds" or "-o", or with a plain name a positional argument. Value: std::string, a number, an
    /// optional of them, or a list of strings (arguments.cpp has the list).
    template <class Value>
    Argument option(std::string name, Value& value, std::string text);

    /// For what looks at the whole command line.
    CLI::App& app() { return app_; }

  private:
    CLI::App& app_;
};

}  // namespace wgrun::cli
