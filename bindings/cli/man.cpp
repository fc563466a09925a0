// wgrun man: the manual page, generated from the commands themselves, and installed by cmake --install.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bindings/cli/command.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace man_detail {
namespace {

/// Escapes for troff: backslashes, hyphens, and dots at the beginning of a line.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += fmt::format("\\&{}", c);
        else
            out += c;
    }
    return out;
}

std::string options_of(const CLI::App& app) {
    std::string out;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_name() == "--help" && app.get_parent() != nullptr) continue;
        std::string name = option->get_name(true, true);
        if (option->get_expected_max() > 0 && !option->get_lnames().empty() &&
            !option->get_type_name().empty())
            name += " " + option->get_type_name();
        out += fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(option->get_description()));
    }
    return out;
}

int print(const CLI::App& root) {
    std::string text = fmt::format(
        ".TH WGRUN 1 \"\" \"wgrun {}\" \"User Commands\"\n"
        ".SH NAME\nwgrun \\- {}\n"
        ".SH SYNOPSIS\n.B wgrun\n[options] [FILE [args]]\n.br\n.B wgrun\nCOMMAND [options] ...\n"
        ".SH DESCRIPTION\n.nf\n{}\n.fi\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
        WGRUN_VERSION, escaped(std::string_view(name_and_purpose).substr(7)), escaped(first_steps),
        escaped(root.get_footer()), options_of(root));
    // Options of scripts are listed once, above.
    for (const CLI::App* command : root.get_subcommands({})) {
        text += fmt::format(".SS {}\n{}.\n", command->get_name(), escaped(command->get_description()));
        for (const CLI::Option* option : command->get_options()) {
            const std::string name = option->get_name(true, true);
            if (option->get_name() == "--help" || root.get_option_no_throw(option->get_name()) != nullptr)
                continue;
            text += fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(option->get_description()));
        }
    }
    text += ".SH SEE ALSO\nThe documents in docs/, beginning with README.md and docs/guide.md.\n";
    Results results(false);
    results.write(text);
    return results.finish() ? Exit::ok : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    return [&app = arguments.app()](const Request&) { return print(*app.get_parent()); };
}

}  // namespace
}  // namespace man_detail

const Command man_command{"man", "Print the manual page, for man -l", Takes::nothing, man_detail::declare};

}  // namespace wgrun::cli
