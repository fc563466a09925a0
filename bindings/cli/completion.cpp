// wgrun completion SHELL: the completion script of a shell, generated from the commands themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "bindings/cli/choice.hpp"
#include "bindings/cli/command.hpp"

namespace wgrun::cli {
namespace completion_detail {
namespace {

/// Commands whose argument is a name that wgrun can list, and the command that lists it.
const std::map<std::string, std::string_view>& listed_arguments() {
    static const std::map<std::string, std::string_view> all = {
        {"explain", "wgrun rules 2>/dev/null | cut -d' ' -f1"},
        {"isa", "wgrun isa 2>/dev/null | cut -d' ' -f1"},
        {"new", "wgrun new 2>/dev/null | sed -n 's/^  \\([a-z-]*\\) .*/\\1/p'"},
        {"cache", "echo info clear verify"},
        {"completion", "echo bash zsh fish"}};
    return all;
}

struct Described {
    std::string name, summary;
};

std::vector<Described> options_of(const CLI::App& app) {
    std::vector<Described> out;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            out.push_back({"--" + name, option->get_description()});
    return out;
}

std::string names_of(const std::vector<Described>& all) {
    std::string out;
    for (const Described& one : all) out += (out.empty() ? "" : " ") + one.name;
    return out;
}

std::vector<Described> commands_of(const CLI::App& root) {
    std::vector<Described> out;
    for (const CLI::App* command : root.get_subcommands({}))
        out.push_back({command->get_name(), command->get_description()});
    return out;
}

std::string bash(const CLI::App& root) {
    std::string cases;
    for (const CLI::App* command : root.get_subcommands({})) {
        const auto listed = listed_arguments().find(command->get_name());
        cases += fmt::format(
            "    {}) options='{}'{} ;;\n", command->get_name(), names_of(options_of(*command)),
            listed == listed_arguments().end() ? "" : fmt::format("; words=$({})", listed->second));
    }
    return fmt::format(R"(# wgrun completion bash > ~/.local/share/bash-completion/completions/wgrun
_wgrun() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} options='{0}' words=
  if [ "$COMP_CWORD" -eq 1 ] && [[ $word != -* ]]; then
    COMPREPLY=($(compgen -W '{1}' -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case $command in
{2}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _wgrun wgrun
)",
                       names_of(options_of(root)), names_of(commands_of(root)), cases);
}

/// For single quotes of a shell; `also` is escaped by a backslash.
std::string in_quotes(std::string_view text, std::string_view also = "") {
    std::string out;
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else if (also.find(c) != std::string_view::npos)
            out += fmt::format("\\{}", c);
        else
            out += c;
    }
    return out;
}

std::string zsh(const CLI::App& root) {
    const auto arguments = [](const CLI::App& app) {
        std::string out;
        for (const Described& option : options_of(app))
            out += fmt::format(" '{}[{}]'", option.name, in_quotes(option.summary, "[]:"));
        return out;
    };
    std::string cases, names;
    for (const CLI::App* command : root.get_subcommands({})) {
        const auto listed = listed_arguments().find(command->get_name());
        names += fmt::format(" '{}:{}'", command->get_name(), in_quotes(command->get_description(), ":"));
        cases += fmt::format(
            "    {}) _arguments{} '*:argument:{}' ;;\n", command->get_name(), arguments(*command),
            listed == listed_arguments().end() ? "_files"
                                               : fmt::format("($({}))", in_quotes(listed->second)));
    }
    return fmt::format(R"(#compdef wgrun
# wgrun completion zsh > a folder of $fpath, as _wgrun
_wgrun() {{
  local -a commands
  commands=({1})
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe command commands
    _files
    return
  fi
  case $words[2] in
{2}    *) _arguments{0} '*:file:_files' ;;
  esac
}}
_wgrun "$@"
)",
                       arguments(root), names, cases);
}

std::string fish(const CLI::App& root) {
    std::string out = "# wgrun completion fish > ~/.config/fish/completions/wgrun.fish\n";
    for (const Described& command : commands_of(root))
        out += fmt::format("complete -c wgrun -n __fish_use_subcommand -a '{}' -d '{}'\n", command.name,
                           in_quotes(command.summary));
    const auto options = [&](const CLI::App& app, const std::string& condition) {
        for (const Described& option : options_of(app))
            out += fmt::format("complete -c wgrun -n '{}' -l '{}' -d '{}'\n", condition,
                               option.name.substr(2), in_quotes(option.summary));
    };
    options(root, "__fish_use_subcommand");
    for (const CLI::App* command : root.get_subcommands({})) {
        const std::string seen = "__fish_seen_subcommand_from " + command->get_name();
        options(*command, seen);
        const auto listed = listed_arguments().find(command->get_name());
        if (listed != listed_arguments().end())
            out += fmt::format("complete -c wgrun -f -n '{}' -a '({})'\n", seen, in_quotes(listed->second));
    }
    return out;
}

Command::Run declare(Arguments& arguments) {
    const auto shell = std::make_shared<std::string>();
    arguments.option("SHELL", *shell, "bash, zsh or fish").one_of({"bash", "zsh", "fish"}).required();
    return [shell, &app = arguments.app()](const Request&) -> int {
        const CLI::App& root = *app.get_parent();
        Results results(false);
        results.write(*shell == "bash" ? bash(root) : *shell == "zsh" ? zsh(root) : fish(root));
        return results.finish() ? Exit::ok : Exit::failed;
    };
}

}  // namespace
}  // namespace completion_detail

const Command completion_command{"completion", "Print the completion script for bash, zsh or fish",
                                 Takes::nothing, completion_detail::declare};

}  // namespace wgrun::cli
