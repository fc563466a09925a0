#include "isa/sparse.hpp"

#include <fmt/format.h>

#include "wgrun/rules.hpp"

namespace wgrun::isa {

bool Codes::has(unsigned code) const {
    const unsigned first = code & 3, second = code >> 2;
    if (one_of_two_) return code == 0b0100 || code == 0b1110;
    return increasing_ ? first < second : first != second;
}

bool Codes::all_of(std::uint32_t word) const {
    for (int bit = 0; bit < 32; bit += 4)
        if (!has(word >> bit & 15U)) return false;
    return true;
}

Chunks::Chunks(Type a, std::vector<int>& k_of_a, int rows, int stored, bool increasing)
    : codes_(a, increasing), k_of_a_(k_of_a), stored_(stored) {
    k_of_a.resize(static_cast<std::size_t>(rows * stored));
}

void Chunks::put(int row, int chunk, unsigned code) {
    if (!codes_.has(code))
        throw rules::refusal(
            rules::WG_SPARSE_01,
            fmt::format("sparse metadata of row {}, chunk {}: 0b{:04b} has no meaning", row, chunk, code),
            codes_.one_of_two() ? "0b0100 (element 0 is kept) or 0b1110 (element 1)"
            : codes_.increasing()
                ? "two indices, the lower one first (.sp::ordered_metadata)"
                : "two different indices: wg.sparse.validate says where the words are wrong");
    int* k = k_of_a_.data() + row * stored_;
    if (codes_.one_of_two()) {
        k[chunk] = 2 * chunk + (code == 0b1110 ? 1 : 0);
    } else {
        k[2 * chunk] = 4 * chunk + static_cast<int>(code & 3);
        k[2 * chunk + 1] = 4 * chunk + static_cast<int>(code >> 2);
    }
}

}  // namespace wgrun::isa
