#include "diag/fix.hpp"

#include <fmt/format.h>

namespace wgrun {

Insertion insert_before(Where where, std::vector<std::string> calls) {
    return {where, false, std::move(calls)};
}

Insertion insert_after(Where where, std::vector<std::string> calls) {
    return {where, true, std::move(calls)};
}

std::string in_words(const Remedy& remedy) {
    std::string text;
    for (const Insertion& insertion : remedy) {
        if (!text.empty()) text += ", ";
        for (std::size_t i = 0; i < insertion.calls.size(); ++i) {
            if (i > 0) text += i + 1 == insertion.calls.size() ? " and " : ", ";
            text += fmt::format("k:{}", insertion.calls[i]);
        }
        text += insertion.after ? " after " : " before ";
        text += insertion.where ? fmt::format("line {}", insertion.where.line) : "it";
    }
    return text;
}

Fix::Fix(std::vector<Remedy> alternatives) : remedies(std::move(alternatives)) {
    if (!remedies.empty()) text = in_words(remedies.front());
}

}  // namespace wgrun
