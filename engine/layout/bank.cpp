#include "wgrun/bank.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "layout/lines.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

constexpr int banks = sm_90a.banks, warp = sm_90a.lanes;
constexpr std::uint32_t word_bytes = sm_90a.bank_bytes;

/// A matrix as lines of contiguous bytes.
struct Lines {
    int lines = 0;
    int bytes = 0;  // of a line
    int element_bits = 0;
    std::function<std::uint32_t(int line, int byte)> address;
};

BankPhase phase_of(std::span<const std::uint32_t> addresses, int bytes, int first_lane) {
    BankPhase phase{.first_lane = first_lane, .degree = 1, .bank = 0, .guilty = {}, .addresses = {}};
    phase.addresses.assign(addresses.begin(), addresses.end());
    std::array<std::vector<std::uint32_t>, banks> words;
    for (const std::uint32_t address : addresses)
        for (std::uint32_t word = address / word_bytes;
             word <= (address + static_cast<std::uint32_t>(bytes) - 1) / word_bytes; ++word) {
            auto& seen = words[word % banks];
            if (std::ranges::find(seen, word) == seen.end()) seen.push_back(word);
        }
    for (int bank = 0; bank < banks; ++bank)
        if (const int degree = static_cast<int>(words[static_cast<std::size_t>(bank)].size());
            degree > phase.degree) {
            phase.degree = degree;
            phase.bank = bank;
        }
    if (phase.degree == 1) return phase;
    for (std::size_t i = 0; i < addresses.size(); ++i)
        for (std::uint32_t word = addresses[i] / word_bytes;
             word <= (addresses[i] + static_cast<std::uint32_t>(bytes) - 1) / word_bytes; ++word)
            if (static_cast<int>(word % banks) == phase.bank) {
                phase.guilty.push_back(first_lane + static_cast<int>(i));
                break;
            }
    return phase;
}

/// Adds one warp-wide access to the sums and keeps the worst.
void add(BankConflicts& sum, std::span<const std::uint32_t> addresses, int line, int unit) {
    std::vector<BankPhase> phases = bank_phases(addresses, sum.bytes);
    int degree = 1;
    for (const BankPhase& phase : phases) {
        degree = std::max(degree, phase.degree);
        sum.passes += phase.degree;
    }
    sum.phases += static_cast<int>(phases.size());
    if (degree <= sum.degree && !sum.worst.empty()) return;
    sum.degree = degree;
    sum.line = line;
    sum.unit = unit;
    sum.worst = std::move(phases);
}

/// The access of a lane: bytes of a line from `byte` on.
struct Lane {
    int line = 0;
    int byte = 0;
};

/// Bytes of each lane.
int bytes_of(const Lines& m, SharedAccess access) {
    return access == SharedAccess::st_accumulator ? 2 * m.element_bits / 8 : 16;
}

/// visit(lanes) for each access of a warp, in order.
template <class Visit>
void for_each_access(const Lines& m, SharedAccess access, Visit visit) {
    std::vector<Lane> lanes;
    switch (access) {
        case SharedAccess::wgmma:
        case SharedAccess::ldmatrix:
        case SharedAccess::stmatrix:
            for (int line = 0; line + 8 <= m.lines; line += 8)
                for (int byte = 0; byte < m.bytes; byte += 16) {
                    lanes.clear();
                    for (int i = 0; i < 8; ++i) lanes.push_back({line + i, byte});
                    visit(lanes);
                }
            break;
        case SharedAccess::st_shared_16: {
            const int units = m.bytes / 16;
            const int total = m.lines * units;
            for (int first = 0; first < total; first += warp) {
                lanes.clear();
                for (int i = first; i < std::min(first + warp, total); ++i)
                    lanes.push_back({i / units, i % units * 16});
                visit(lanes);
            }
            break;
        }
        case SharedAccess::st_accumulator: {
            // 8 lines of 8 elements: a quarter of the lanes' pairs side by side in each.
            const int bytes = bytes_of(m, access);
            for (int line = 0; line + 8 <= m.lines; line += 8)
                for (int byte = 0; byte < m.bytes; byte += 4 * bytes) {
                    lanes.clear();
                    for (int lane = 0; lane < warp; ++lane)
                        lanes.push_back({line + lane / 4, byte + lane % 4 * bytes});
                    visit(lanes);
                }
            break;
        }
    }
}

std::vector<std::uint32_t> addresses_of(const Lines& m, std::span<const Lane> lanes) {
    std::vector<std::uint32_t> out;
    for (const auto& [line, byte] : lanes) out.push_back(m.address(line, byte));
    return out;
}

BankConflicts measure(const Lines& m, SharedAccess access) {
    BankConflicts sum{};
    sum.access = access;
    sum.bytes = bytes_of(m, access);
    for_each_access(m, access, [&](const std::vector<Lane>& lanes) {
        add(sum, addresses_of(m, lanes), lanes.front().line, lanes.front().byte / 16);
    });
    return sum;
}

ConflictBlocks blocks_of(const Lines& m, bool along_rows, SharedAccess access) {
    ConflictBlocks out{.total = measure(m, access),
                       .along_rows = along_rows,
                       .groups = (m.lines + 7) / 8,
                       .units = m.bytes / 16,
                       .worst = {}};
    out.worst.resize(static_cast<std::size_t>(out.groups) * static_cast<std::size_t>(out.units));
    for_each_access(m, access, [&](const std::vector<Lane>& lanes) {
        for (const BankPhase& phase : bank_phases(addresses_of(m, lanes), out.total.bytes))
            for (std::size_t i = 0; i < phase.addresses.size(); ++i) {
                const auto& [line, byte] = lanes[static_cast<std::size_t>(phase.first_lane) + i];
                BankPhase& worst = out.worst[static_cast<std::size_t>(line / 8 * out.units + byte / 16)];
                if (worst.addresses.empty() || phase.degree > worst.degree) worst = phase;
            }
    });
    return out;
}

/// Refers to `tile`.
Lines lines_of(const Tile& tile) {
    const bool k_major = tile.major() == Major::k;
    const int element_bits = bits(tile.dtype());
    return {.lines = k_major ? tile.mn() : tile.k(),
            .bytes = (k_major ? tile.k() : tile.mn()) * element_bits / 8,
            .element_bits = element_bits,
            .address = [&tile, k_major, element_bits](int line, int byte) {
                const int at = byte * 8 / element_bits;
                return static_cast<std::uint32_t>(k_major ? tile.offset(line, at) : tile.offset(at, line));
            }};
}

/// Refers to `units`.
Lines lines_of(const UnitLines& units, int element_bits) {
    return {.lines = units.lines,
            .bytes = 16 * units.units,
            .element_bits = element_bits,
            .address = [&units](int line, int byte) {
                return units.address(line, byte / 16) + static_cast<std::uint32_t>(byte % 16);
            }};
}

void check_access(SharedAccess access, int element_bits) {
    if (access == SharedAccess::st_accumulator && element_bits == 1)
        throw ArgumentError("bank conflicts: accumulators cannot be b1");
}

/// `of` each access that elements of these bits allow.
template <class Of>
std::vector<BankConflicts> all_accesses(int element_bits, Of of) {
    std::vector<BankConflicts> out;
    for (const SharedAccess access : {SharedAccess::wgmma, SharedAccess::ldmatrix, SharedAccess::stmatrix,
                                      SharedAccess::st_shared_16, SharedAccess::st_accumulator})
        if (access != SharedAccess::st_accumulator || element_bits >= 8) out.push_back(of(access));
    return out;
}

}  // namespace

std::span<const std::string_view> shared_access_names() {
    static constexpr std::string_view names[]{"wgmma", "ldmatrix", "stmatrix", "st.shared.v4",
                                              "st.shared of accumulator pairs"};
    return names;
}

std::string_view to_string(SharedAccess access) {
    return shared_access_names()[static_cast<std::size_t>(access)];
}

std::vector<BankPhase> bank_phases(std::span<const std::uint32_t> addresses, int bytes) {
    if (bytes < 1 || bytes > 16 || (bytes & (bytes - 1)) != 0)
        throw ArgumentError(fmt::format("bank conflicts: a lane cannot access {}", count_of(bytes, "byte")),
                            "1, 2, 4, 8 or 16 bytes");
    if (addresses.size() > warp)
        throw ArgumentError(fmt::format("bank conflicts: {} for one warp",
                                        count_of(addresses.size(), "address", "addresses")),
                            fmt::format("at most {}", warp));
    for (const std::uint32_t address : addresses)
        if (address % static_cast<std::uint32_t>(bytes) != 0)
            throw ArgumentError(fmt::format("bank conflicts: address {} is not a multiple of {}", address,
                                            count_of(bytes, "byte")));
    const std::size_t together =
        std::min<std::size_t>(warp, banks * word_bytes / static_cast<std::size_t>(bytes));
    std::vector<BankPhase> out;
    for (std::size_t first = 0; first < addresses.size(); first += together)
        out.push_back(phase_of(addresses.subspan(first, std::min(together, addresses.size() - first)), bytes,
                               static_cast<int>(first)));
    return out;
}

std::string BankConflicts::to_string() const {
    const std::string name(wgrun::to_string(access));
    if (degree == 1) return name + ": no conflicts";
    const auto phase = std::ranges::max_element(worst, {}, &BankPhase::degree);
    return fmt::format("{}: {}-way conflict (line {}, unit {}: lanes {} on bank {}), {} instead of {}", name,
                       degree, line, unit, fmt::join(phase->guilty, " "), phase->bank,
                       count_of(passes, "pass", "passes"), phases);
}

BankConflicts bank_conflicts(const Tile& tile, SharedAccess access) {
    check_access(access, bits(tile.dtype()));
    return measure(lines_of(tile), access);
}

BankConflicts bank_conflicts(const Layout& layout, int element_bits, SharedAccess access) {
    const UnitLines units = unit_lines(layout, element_bits, "bank conflicts");
    check_access(access, element_bits);
    return measure(lines_of(units, element_bits), access);
}

ConflictBlocks conflict_blocks(const Tile& tile, SharedAccess access) {
    check_access(access, bits(tile.dtype()));
    return blocks_of(lines_of(tile), tile.major() == Major::mn, access);
}

ConflictBlocks conflict_blocks(const Layout& layout, int element_bits, SharedAccess access) {
    const UnitLines units = unit_lines(layout, element_bits, "bank conflicts");
    check_access(access, element_bits);
    return blocks_of(lines_of(units, element_bits), units.along_rows, access);
}

std::vector<BankConflicts> bank_conflicts(const Tile& tile) {
    return all_accesses(bits(tile.dtype()),
                        [&](SharedAccess access) { return bank_conflicts(tile, access); });
}

std::vector<BankConflicts> bank_conflicts(const Layout& layout, int element_bits) {
    return all_accesses(element_bits,
                        [&](SharedAccess access) { return bank_conflicts(layout, element_bits, access); });
}

}  // namespace wgrun
