#include "isa/sparse.hpp"

#include <fmt/format.h>

#include "wgrun/rules.hpp"

namespace wgrun::isa {

Chunks::Chunks(Type a, std::vector<int>& k_of_a, int rows, int stored, bool increasing)
    : one_of_two_(a == Type::tf32), increasing_(increasing), k_of_a_(k_of_a), stored_(stored) {
    k_of_a.resize(static_cast<std::size_t>(rows * stored));
}

void Chunks::put(int row, int chunk, unsigned code) {
    const int first = static_cast<int>(code & 3), second = static_cast<int>(code >> 2);
    const bool meaningless = one_of_two_   ? code != 0b0100 && code != 0b1110
                             : increasing_ ? first >= second
                                           : first == second;
    if (meaningless)
        throw rules::refusal(
            rules::WG_SPARSE_01,
            fmt::format("sparse metadata of row {}, chunk {}: 0b{:04b} has no meaning", row, chunk, code),
            one_of_two_   ? "0b0100 (element 0 is kept) or 0b1110 (element 1)"
            : increasing_ ? "two indices, the lower one first (.sp::ordered_metadata)"
                          : "two different indices: wg.sparse.validate says where the words are wrong");
    int* k = k_of_a_.data() + row * stored_;
    if (one_of_two_) {
        k[chunk] = 2 * chunk + (code == 0b1110 ? 1 : 0);
    } else {
        k[2 * chunk] = 4 * chunk + first;
        k[2 * chunk + 1] = 4 * chunk + second;
    }
}

}  // namespace wgrun::isa
