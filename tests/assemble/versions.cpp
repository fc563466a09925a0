// The versions of PTX and the chips that the rows name, against those of ptxas.
#include "tests/assemble/batch.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

/// A form of a row, in a text of its own lines.
struct Case {
    const Instruction* op;
    Form form;
    isa::PtxVersion version;
    isa::Arch arch;
};

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const Instruction* op : isa::all())
        for (const isa::Row& row : op->rows) {
            for (const Form& form : some_forms_of(row)) out.push_back({op, form, row.min_ptx, row.arch});
        }
    return out;
}

std::string replaced(std::string text, const std::string& directive, const std::string& value) {
    const std::size_t at = text.find(directive), end = text.find('\n', at);
    return text.replace(at, end - at, directive + " " + value);
}

/// Returns the cases that ptxas refuses in a text of that version for that chip.
std::map<int, std::string> refused(const std::vector<Case>& all, isa::PtxVersion version, isa::Arch arch) {
    std::map<int, std::string> out;
    constexpr std::size_t most = 200;
    for (std::size_t first = 0; first < all.size(); first += most) {
        Batch batch;
        for (std::size_t i = first; i < std::min(first + most, all.size()); ++i)
            batch.add("", *all[i].op, all[i].form);
        emit::Text text = emit::ptx(batch.finish());
        text.text = replaced(text.text, ".version", fmt::format("{}.{}", version.major, version.minor));
        text.text = replaced(text.text, ".target", isa::to_string(arch));
        try {
            gpu::ptxas_assemble(text.text);
        } catch (const gpu::CompileError& error) {
            for (const gpu::AssemblerNote& note : error.log().notes) {
                if (note.severity != Severity::error || note.line < 1) continue;
                const Where where = text.lines[static_cast<std::size_t>(note.line - 1)];
                if (where) out[static_cast<int>(first) + where.line - 2] = note.message;
            }
            if (error.log().notes.empty()) FAIL_CHECK(error.what());
        }
    }
    return out;
}

std::string name_of(const Case& one) { return fmt::format("{} {}", one.op->name, spelled(one.form)); }

}  // namespace

TEST_CASE("the rows' versions have their forms, and their chips alone") {
    if (no_ptxas()) return;
    const std::vector<Case> all = cases();
    CHECK(all.size() > 1000);
    std::vector<Case> hopper, others;
    for (const Case& one : all) (one.arch.specific ? hopper : others).push_back(one);
    for (const isa::PtxVersion version : {isa::PtxVersion{7, 8}, {8, 0}, {8, 1}, {8, 3}, {8, 6}}) {
        std::vector<Case> fit;
        for (const Case& one : all)
            if (one.version <= version) fit.push_back(one);
        const isa::Arch arch{90, version >= isa::PtxVersion{8, 0}};
        for (const auto& [i, why] : refused(fit, version, arch)) {
            const Case& one = fit[static_cast<std::size_t>(i)];
            FAIL_CHECK(name_of(one) << " at " << version.major << '.' << version.minor << ": " << why);
        }
    }
    const std::map<int, std::string> alone = refused(hopper, {9, 0}, {90, false}),
                                     everywhere = refused(others, {9, 0}, {90, false});
    for (std::size_t i = 0; i < hopper.size(); ++i)
        if (!alone.contains(static_cast<int>(i))) FAIL_CHECK(name_of(hopper[i]) << " is taken for sm_90");
    for (const auto& [i, why] : everywhere)
        FAIL_CHECK(name_of(others[static_cast<std::size_t>(i)]) << ": " << why);
}
