#include "tests/fuzz/bodies.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const char* law) {
    if (!holds) throw Broken(law);
}

}  // namespace

void assembler_log(Bytes bytes) {
    const std::string text(bytes.begin(), bytes.end());
    const gpu::AssemblerLog log = gpu::parse_log(text);
    expect(log.notes.size() <= text.size() && log.functions.size() <= text.size(), "more than the text has");
    for (const gpu::AssemblerNote& note : log.notes) {
        expect(note.line >= 0, "a line below 0");
        expect(text.find(note.code) != std::string::npos, "a code that is not in the text");
        expect(text.find(note.function) != std::string::npos, "a function that is not in the text");
    }
    for (const gpu::FunctionReport& function : log.functions) {
        expect(function.registers >= 0 && function.barriers >= 0, "a figure below 0");
        expect(text.find(function.name) != std::string::npos, "a name that is not in the text");
    }
    // What is kept of it says the same once more: that is what the cache holds.
    const gpu::AssemblerLog again = gpu::parse_log(log.text);
    expect(again.notes.size() == log.notes.size() && again.functions.size() == log.functions.size(),
           "parsed once more");
}

}  // namespace wgrun::fuzz
