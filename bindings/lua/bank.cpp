// Bank conflicts of tiles, of layouts and of any addresses.
#include "wgrun/bank.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

// Pushes { {first_lane =, degree =, bank =, guilty = {lane, ...}}, ... }
void push_phases(lua_State* L, const std::vector<BankPhase>& phases) {
    lua_createtable(L, static_cast<int>(phases.size()), 0);
    lua_Integer position = 0;
    for (const BankPhase& phase : phases) {
        lua_createtable(L, 0, 4);
        put_integer(L, "first_lane", phase.first_lane);
        put_integer(L, "degree", phase.degree);
        put_integer(L, "bank", phase.bank);
        lua_createtable(L, static_cast<int>(phase.guilty.size()), 0);
        lua_Integer lane = 0;
        for (const int guilty : phase.guilty) {
            lua_pushinteger(L, guilty);
            lua_rawseti(L, -2, ++lane);
        }
        lua_setfield(L, -2, "guilty");
        lua_rawseti(L, -2, ++position);
    }
}

/// The engine's findings, and their text.
struct Found {
    BankConflicts conflicts;
    std::string text;
};

// Pushes { {access =, degree =, phases =, passes =, line =, unit =, text =, worst = phases}, ... }
template <class Make>
int push_conflicts(lua_State* L, Make&& make) {
    luaL_checkstack(L, 8, nullptr);
    auto& all = held<std::vector<Found>>(L);
    guarded(L, [&] {
        for (BankConflicts& conflicts : make()) {
            std::string text = conflicts.to_string();
            all.push_back({std::move(conflicts), std::move(text)});
        }
    });
    lua_createtable(L, static_cast<int>(all.size()), 0);
    lua_Integer position = 0;
    for (const Found& one : all) {
        lua_createtable(L, 0, 8);
        put_string(L, "access", to_string(one.conflicts.access));
        put_integer(L, "degree", one.conflicts.degree);
        put_integer(L, "phases", one.conflicts.phases);
        put_integer(L, "passes", one.conflicts.passes);
        put_integer(L, "line", one.conflicts.line);
        put_integer(L, "unit", one.conflicts.unit);
        put_string(L, "text", one.text);
        push_phases(L, one.conflicts.worst);
        lua_setfield(L, -2, "worst");
        lua_rawseti(L, -2, ++position);
    }
    return 1;
}

// t:bank_conflicts()
int tile_bank_conflicts(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    return push_conflicts(L, [&] { return bank_conflicts(tile); });
}

// L:bank_conflicts(dtype), of a matrix (row, column) -> element offset
int layout_bank_conflicts(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    const std::string_view dtype = string_argument(L, 2);
    return push_conflicts(L, [&] { return bank_conflicts(layout, bits(dtype_named(dtype))); });
}

// wg.bank_phases(addresses, bytes): one access of a warp, `bytes` at each of at most 32 byte addresses
int phases(lua_State* L) {
    auto& addresses = held<std::vector<std::int64_t>>(L);
    read_integers(L, 1, "wg.bank_phases: addresses", addresses);
    const int bytes = small_argument(L, 2);
    auto& found = held<std::vector<BankPhase>>(L);
    guarded(L, [&] {
        std::vector<std::uint32_t> unsigned_addresses;
        for (const std::int64_t address : addresses) {
            if (address < 0 || address > UINT32_MAX)
                throw ArgumentError("wg.bank_phases: " + std::to_string(address) +
                                    " is not an address in shared memory");
            unsigned_addresses.push_back(static_cast<std::uint32_t>(address));
        }
        found = bank_phases(unsigned_addresses, bytes);
    });
    push_phases(L, found);
    return 1;
}

}  // namespace

void open_bank(lua_State* L) {
    static const Member of_tile[] = {{"bank_conflicts", tile_bank_conflicts, R"(
The bank conflicts of the tile in shared memory, for each way of accessing it that its type and major allow: "wgmma", "ldmatrix", "stmatrix", "st_shared_16" (16 bytes a lane, along the lines) and "st_accumulator" (pairs of accumulators).
@return table  a list with an entry for each kind of access
@field access string  the kind of access
@field degree integer  passes that the worst phase needs; 1 means no conflicts
@field phases integer  phases over the whole tile
@field passes integer  passes over the whole tile; equal to `phases` where there are no conflicts
@field line integer  the line where the worst access begins
@field unit integer  the 16-byte unit of that line where it begins
@field text string  the same in words
@field worst table  the phases of the worst access, as of wg.bank_phases)"},
                                     {}};
    static const Member of_layout[] = {{"bank_conflicts", layout_bank_conflicts, R"(
The bank conflicts of a matrix in shared memory, whose layout maps (row, column) to the element offset.
@param dtype string  the element type
@return table  a list, as of tile:bank_conflicts
@raise when 16 bytes of a line are not contiguous.)"},
                                       {}};
    static const Member functions[] = {{"bank_phases", phases, R"(
The bank conflicts of one access of a warp to shared memory.
@param addresses table  at most 32 byte addresses, one for each lane
@param bytes integer  the bytes that each lane accesses: 1, 2, 4, 8 or 16
@return table  a list of phases
@field first_lane integer  the first lane of the phase
@field degree integer  the passes that it needs
@field bank integer  a bank with the most accesses
@field guilty table  the lanes that access that bank)"},
                                       {}};
    add_methods<Tile>(L, of_tile);
    add_methods<Layout>(L, of_layout);
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
