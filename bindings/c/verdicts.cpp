#include "bindings/c/verdicts.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/c/failure.hpp"
#include "bindings/c/structs.hpp"

namespace wgrun::c {

static_assert(static_cast<int>(Verdict::Kind::proved) == WGRUN_PROVED &&
              static_cast<int>(Verdict::Kind::refuted) == WGRUN_REFUTED &&
              static_cast<int>(Verdict::Kind::undecided) == WGRUN_UNDECIDED);

namespace {

std::optional<Dim3> read_extents(const std::uint32_t (&given)[3], const char* name) {
    if (given[0] == 0 && given[1] == 0 && given[2] == 0) return std::nullopt;
    for (const std::uint32_t extent : given)
        if (extent < 1 || extent > INT32_MAX)
            refuse_argument(std::string("given->") + name + " has " + std::to_string(extent) +
                            ": must be 1..2147483647, or 0 in all three for any");
    return Dim3{given[0], given[1], given[2]};
}

}  // namespace

Assumptions read_assumptions(const wgrun_assumptions* given) {
    Assumptions out;
    if (given == nullptr) return out;
    const wgrun_assumptions read = read_struct(given, "given");
    if (!(read.budget >= 0)) refuse_argument("given->budget: seconds, 0 or more");
    if (read.budget > 0) out.seconds = read.budget;
    out.grid = read_extents(read.grid, "grid");
    out.block = read_extents(read.block, "block");
    out.cluster = read_extents(read.cluster, "cluster");
    if (read.number_count != 0 && read.numbers == nullptr) refuse_argument("given->numbers is NULL");
    for (std::size_t i = 0; i < read.number_count; ++i) {
        const wgrun_number& number = read.numbers[i];
        if (number.name == nullptr) refuse_argument("given->numbers[" + std::to_string(i) + "].name is NULL");
        out.numbers.emplace_back(number.name, number.value);
    }
    return out;
}

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
