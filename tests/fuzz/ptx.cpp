#include "wgrun/foreign.hpp"

#include <algorithm>

#include "ptx/module.hpp"
#include "tests/fuzz/bodies.hpp"
#include "tests/unit/ptx/printer.hpp"

namespace wgrun::fuzz {

void ptx(Bytes bytes) {
    const std::string text(bytes.begin(), bytes.end());
    const ptx::Parsed parsed = ptx::parse("fuzz.ptx", text);
    const auto lines = 1 + std::ranges::count(text, '\n');
    for (const Diagnostic& error : parsed.errors)
        if (error.where.line < 1 || error.where.line > lines || error.message.empty())
            throw Broken("an error at no line of the text: " + error.message);
    const std::string printed = ptx::print(parsed.module);
    if (!parsed.errors.empty()) return;
    const ptx::Parsed again = ptx::parse("fuzz.ptx", printed);
    if (!again.errors.empty())
        throw Broken("what is printed is no PTX: " + again.errors.front().message + "\n" + printed);
    if (ptx::print(again.module) != printed) throw Broken("what is printed is read otherwise: " + printed);
    // Mutants of a text keep proofs busy with the same things; `wgrun check` has their full time in
    // tests/cli.
    (void)check_ptx("fuzz.ptx", text, {.seconds = 0.1});
}

}  // namespace wgrun::fuzz
