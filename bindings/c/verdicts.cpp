#include "bindings/c/verdicts.hpp"

#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"

namespace wgrun::c {

static_assert(static_cast<int>(Verdict::Kind::proved) == WGRUN_PROVED &&
              static_cast<int>(Verdict::Kind::refuted) == WGRUN_REFUTED &&
              static_cast<int>(Verdict::Kind::undecided) == WGRUN_UNDECIDED);

Verdicts::Verdicts(std::vector<Verdict> all) : list(std::move(all)), json(to_json(list)) {
    for (const Verdict& verdict : list) files.emplace_back(verdict.where.file);
}

}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_verdicts_count(const wgrun_verdicts* verdicts, size_t* count) {
    return answer([&] { result(count, "count") = find<Verdicts>(verdicts)->list.size(); });
}

int wgrun_verdicts_get(const wgrun_verdicts* handle, size_t index, wgrun_verdict* verdict) {
    return answer([&] {
        const auto verdicts = find<Verdicts>(handle);
        if (index >= verdicts->list.size())
            refuse_argument("verdict " + std::to_string(index) + " of " +
                            std::to_string(verdicts->list.size()));
        const wgrun::Verdict& one = verdicts->list[index];
        const wgrun::PropertyRow& row = wgrun::row_of(one.property);
        wgrun_verdict out{};
        out.kind = static_cast<int>(one.kind);
        out.line = one.where.line;
        out.property = row.id.data();  // constants, which end with NUL
        out.title = row.title.data();
        out.domain = one.domain.c_str();
        out.reason = one.reason.c_str();
        out.file = verdicts->files[index].c_str();
        out.assumption = one.assumption.c_str();
        write_struct(verdict, out, "verdict");
    });
}

int wgrun_verdicts_json(const wgrun_verdicts* verdicts, const char** json) {
    return answer([&] { result(json, "json") = find<Verdicts>(verdicts)->json.c_str(); });
}

int wgrun_verdicts_close(wgrun_verdicts* verdicts) {
    return answer([&] { close_handle(Kind::verdicts, verdicts); });
}

}  // extern "C"
