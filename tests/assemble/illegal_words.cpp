// Opcodes with a word more or less than a legal one: what no record reads then, ptxas refuses.
#include <fmt/ranges.h>

#include <map>

#include "ptx/nearest_forms.hpp"
#include "tests/assemble/texts.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t step = 40;  // texts are alike: one of so many

Words words_of(const std::string& opcode) {
    Words out(1);
    for (const char c : opcode)
        if (c == '.')
            out.emplace_back();
        else
            out.back() += c;
    return out;
}
std::string opcode_of(const Words& words) { return fmt::format("{}", fmt::join(words, ".")); }

/// Legal opcodes, and their operands in a text.
std::map<std::string, std::string> legal_opcodes() {
    std::map<std::string, std::string> out;
    for (const Instruction* op : isa::all())
        for (const Form& form : some_forms_of(*op)) {
            const std::string text = any_text_of(*op, form);
            const std::size_t end = std::min(text.find(' '), text.size());
            if (text.find('\n') == std::string::npos && !text.starts_with('{') &&
                !text.starts_with("wgmma.mma"))
                out.emplace(text.substr(0, end), text.substr(end));
        }
    return out;
}

/// Whether ptxas takes the word anywhere, and ignores it.
bool is_ignored(const std::string& word) {
    static const std::set<std::string> ignored{
        "acc::f16",          "acc::f32",      "box_dim",   "element_stride", "elemtype",
        "fill_mode",         "finite",        "infinite",  "global_address", "rank",
        "interleave_layout", "global_dim",    "subnormal", "normal",         "number",
        "notanumber",        "global_stride", "pred",      "swizzle_mode"};
    return ignored.contains(word);
}

}  // namespace

TEST_CASE("an opcode with another word is refused where ptxas refuses it") {
    if (no_ptxas()) return;
    const std::map<std::string, std::string> legal = legal_opcodes();
    std::set<std::string> words{"foo", "unified",      "v8",  "mmio", "NaN",
                                "x8",  "param::entry", "oob", "weak", "pack"};
    for (const auto& [opcode, operands] : legal)
        for (const std::string& word : words_of(opcode))
            if (!is_ignored(word)) words.insert(word);
    std::vector<std::string> strange;
    std::map<std::string, int> of_family;
    std::size_t next = 0;
    for (const auto& [opcode, operands] : legal) {
        if (++of_family[opcode.substr(0, opcode.find('.'))] > 3 || opcode.find('.') == std::string::npos)
            continue;
        for (const std::string& word : words) {
            Words with = words_of(opcode);
            // ptxas takes some words twice.
            if (next++ % step != 0 || std::ranges::count(with, word) > 0) continue;
            with.insert(with.end() - 1, word);
            if (ptx::is_no_opcode(ptx::usual_spelling(opcode_of(with))))
                strange.push_back(opcode_of(with) + operands);
        }
    }
    // ptxas ignores some words of others.
    const std::set<std::string> takes{"movmatrix", "ldmatrix", "stmatrix", "bar", "cp", "mma"};
    const std::set<std::string> refused = refused_texts(strange);
    std::printf("%zu opcodes with another word\n", strange.size());
    CHECK(strange.size() > 300);
    for (const std::string& text : strange)
        if (!refused.contains(text) && !takes.contains(text.substr(0, text.find('.'))))
            FAIL_CHECK("ptxas takes " << text);
}

TEST_CASE("an opcode without one of its words is refused where ptxas refuses it") {
    if (no_ptxas()) return;
    const std::map<std::string, std::string> legal = legal_opcodes();
    std::vector<std::string> illegal;
    std::size_t next = 0;
    for (const auto& [opcode, operands] : legal)
        for (std::size_t i = 1; i < words_of(opcode).size(); ++i) {
            if (next++ % step != 0) continue;
            Words fewer = words_of(opcode);
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (ptx::is_no_opcode(ptx::usual_spelling(opcode_of(fewer))))
                illegal.push_back(opcode_of(fewer) + operands);
        }
    const std::set<std::string> refused = refused_texts(illegal);
    std::printf("%zu opcodes that lack a word\n", illegal.size());
    CHECK(illegal.size() > 100);
    for (const std::string& text : illegal)
        if (!refused.contains(text)) FAIL_CHECK("ptxas takes " << text);
}

TEST_CASE("ptxas takes the legal lines and refuses the illegal ones") {
    if (no_ptxas()) return;
    for (const std::string& taken : refused_texts(legal_lines)) FAIL_CHECK("ptxas refuses " << taken);
    const std::set<std::string> refused = refused_texts(illegal_lines);
    for (const std::string& line : illegal_lines)
        if (!refused.contains(line)) FAIL_CHECK("ptxas takes " << line);
}
