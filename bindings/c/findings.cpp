#include "bindings/c/findings.hpp"
#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"

namespace wgrun::c {

static_assert(static_cast<int>(Severity::note) == WGRUN_NOTE &&
              static_cast<int>(Severity::warning) == WGRUN_WARNING &&
              static_cast<int>(Severity::error) == WGRUN_ERROR);

Findings::Findings(std::vector<Diagnostic> list) : list_(std::move(list)), note_files_(list_.size()) {
    for (std::size_t i = 0; i < list_.size(); ++i) {
        files_.emplace_back(list_[i].where.file);
        for (const Note& note : list_[i].notes) note_files_[i].emplace_back(note.where.file);
    }
}

const std::string& Findings::text() {
    std::call_once(text_once_, [&] { text_ = text_of(list_); });
    return text_;
}

const std::string& Findings::json() {
    std::call_once(json_once_, [&] { json_ = to_json(list_); });
    return json_;
}

void give_findings(wgrun_findings** out, std::vector<Diagnostic> list) {
    give_handle(&result(out, "findings"), std::make_shared<Findings>(std::move(list)));
}

namespace {

const Diagnostic& at(const Findings& findings, std::size_t index) {
    if (index >= findings.list().size())
        refuse_argument("finding " + std::to_string(index) + " of " + std::to_string(findings.list().size()));
    return findings.list()[index];
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_last_findings(wgrun_findings** findings) {
    return answer([&] { give_findings(findings, last_findings()); });
}

int wgrun_findings_count(const wgrun_findings* findings, size_t* count) {
    return answer([&] { result(count, "count") = find<Findings>(findings)->list().size(); });
}

int wgrun_findings_get(const wgrun_findings* handle, size_t index, wgrun_finding* finding) {
    return answer([&] {
        const auto findings = find<Findings>(handle);
        const wgrun::Diagnostic& found = at(*findings, index);
        wgrun_finding out{};
        out.severity = static_cast<int>(found.severity);
        out.line = found.where.line;
        out.rule = found.rule.c_str();
        out.file = findings->file(index);
        out.message = found.message.c_str();
        out.fix = found.fix.c_str();
        out.section = found.section.c_str();
        out.note_count = found.notes.size();
        write_struct(finding, out, "finding");
    });
}

int wgrun_findings_note(const wgrun_findings* handle, size_t index, size_t note, const char** message,
                        const char** file, int* line) {
    return answer([&] {
        const auto findings = find<Findings>(handle);
        const wgrun::Diagnostic& found = at(*findings, index);
        if (note >= found.notes.size())
            refuse_argument("note " + std::to_string(note) + " of " + std::to_string(found.notes.size()));
        if (message != nullptr) *message = found.notes[note].message.c_str();
        if (file != nullptr) *file = findings->note_file(index, note);
        if (line != nullptr) *line = found.notes[note].where.line;
    });
}

int wgrun_findings_text(const wgrun_findings* findings, const char** text) {
    return answer([&] { result(text, "text") = find<Findings>(findings)->text().c_str(); });
}

int wgrun_findings_json(const wgrun_findings* findings, const char** json) {
    return answer([&] { result(json, "json") = find<Findings>(findings)->json().c_str(); });
}

int wgrun_findings_close(wgrun_findings* findings) {
    return answer([&] { close_handle(Kind::findings, findings); });
}

}  // extern "C"
