// What was found in a PTX text, for programs.
#include "diag/json_writer.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/foreign.hpp"

namespace wgrun {

std::string to_json(std::span<const ForeignKernel> kernels) {
    JsonWriter json;
    json.begin('[');
    for (const ForeignKernel& kernel : kernels) {
        json.begin('{');
        json.member("name", kernel.name);
        json.member("file", kernel.where.file);
        json.member("line", kernel.where.line);
        json.member("instructions", kernel.instructions);
        json.key("unread");
        json.begin('{');
        for (const auto& [opcode, lines] : kernel.opcodes) {
            json.key(opcode);
            json.begin('[');
            for (const int line : lines) json.value(line);
            json.end(']');
        }
        json.end('}');
        json.key("undecided");
        json.begin('[');
        for (const std::string& sentence : kernel.undecided) json.value(sentence);
        json.end(']');
        json.key("verdicts");
        json.verbatim(to_json(kernel.verdicts));
        json.end('}');
    }
    json.end(']');
    return json.take();
}

std::string to_json(const ForeignText& text) {
    FindingSet findings;
    findings.add_all(text.errors);
    for (const ForeignKernel& kernel : text.kernels) findings.add_all(kernel.findings);
    std::string out = to_json(findings);
    out.erase(out.rfind('}'));
    return out + ",\n\"kernels\": " + to_json(text.kernels) + "\n}";
}

}  // namespace wgrun
