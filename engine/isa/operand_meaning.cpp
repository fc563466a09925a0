#include "wgrun/operand_meaning.hpp"

#include <algorithm>
#include <array>

namespace wgrun::isa {
namespace {

constexpr auto meanings = std::to_array<OperandMeaning>({
    {"", "d", "the result"},
    {"", "p", "the predicate that is set"},
    {"", "membermask",
     "the lanes that execute the instruction together, a bit for each; all of them if not given"},
    {"", "policy", "the cache policy, from createpolicy"},
    {"", "mbarrier", "the mbarrier that counts the bytes"},
    {"", "map", "the address of the tensor map"},
    {"", "coordinates", "the first element of the box, the contiguous dimension first"},
    {"", "offsets", "the offsets of the pixels from their corner, by dimension"},
    {"", "size", "the bytes to copy, a multiple of 16"},
    {"", "mask", "the ranks of the CTAs that receive the copy, a bit for each"},

    // Arithmetic.
    {"abs neg not cnot popc clz bfind brev sqrt rsqrt rcp lg2 tanh mov", "a", "the value"},
    {"add", "a", "the first summand"},
    {"add", "b", "the second summand"},
    {"sub", "a", "the value that `b` is subtracted from"},
    {"sub", "b", "the value that is subtracted"},
    {"mul mad fma", "a", "the first factor"},
    {"mul mad fma", "b", "the second factor"},
    {"mul24 mad24", "a", "the first factor, its low 24 bits"},
    {"mul24 mad24", "b", "the second factor, its low 24 bits"},
    {"mad mad24 fma sad dp2a dp4a", "c", "the summand"},
    {"div rem", "a", "the dividend"},
    {"div rem", "b", "the divisor"},
    {"sad", "a", "the first value of the difference"},
    {"sad", "b", "the second value of the difference"},
    {"dp2a", "a", "two 16-bit factors"},
    {"dp2a", "b", "four 8-bit factors, of which `half` names two"},
    {"dp4a", "a", "four 8-bit factors"},
    {"dp4a", "b", "four 8-bit factors"},
    {"min max", "a", "the first value"},
    {"min max", "b", "the second value"},
    {"copysign", "a", "the value that gives its sign"},
    {"copysign", "b", "the value that gives its magnitude"},
    {"sin cos", "a", "the angle in radians"},
    {"ex2", "a", "the exponent of 2"},
    {"testp", "a", "the value that is tested"},

    // Bits.
    {"and or xor", "a", "the first word"},
    {"and or xor", "b", "the second word"},
    {"lop3", "a", "the first word, 0xf0 in `table`"},
    {"lop3", "b", "the second word, 0xcc in `table`"},
    {"lop3", "c", "the third word, 0xaa in `table`"},
    {"lop3", "table", "the truth table: the function applied to 0xf0, 0xcc and 0xaa"},
    {"shl shr", "a", "the word that is shifted"},
    {"shl shr", "b", "the number of bits"},
    {"shf", "a", "the low half of the double word that is shifted"},
    {"shf", "b", "the high half of the double word that is shifted"},
    {"shf", "c", "the number of bits"},
    {"bfe", "a", "the word that contains the field"},
    {"bfe", "position", "the lowest bit of the field"},
    {"bfe bfi", "length", "the bits of the field"},
    {"bfi", "a", "the field, in the lowest bits"},
    {"bfi", "b", "the word into which the field goes"},
    {"bfi", "position", "the lowest bit of the field in the result"},
    {"bmsk", "position", "the lowest bit that is set"},
    {"bmsk", "length", "the number of bits that are set"},
    {"szext", "a", "the word that is extended"},
    {"szext", "b", "the number of bits that are kept"},
    {"fns", "mask", "the word in which a set bit is looked for"},
    {"fns", "base", "the bit from which the search starts"},
    {"fns", "n", "the number of the bit among the set ones: upwards if positive, downwards if negative"},
    {"prmt", "a", "bytes 0 to 3"},
    {"prmt", "b", "bytes 4 to 7"},
    {"prmt", "c", "the selection: without a mode, four bits for each byte of the result"},
    {"pack", "a", "the parts, the lowest first"},
    {"unpack", "d", "the parts, the lowest first"},
    {"unpack", "a", "the word that is taken apart"},

    // Comparisons and choices.
    {"set set.pair setp", "a", "the first value of the comparison"},
    {"set set.pair setp", "b", "the second value of the comparison"},
    {"setp", "c", "the predicate that the outcome is combined with"},
    {"setp", "q", "the predicate that gets the opposite outcome"},
    {"setp.pair", "p", "the outcome for the low halves"},
    {"setp.pair", "q", "the outcome for the high halves"},
    {"selp", "a", "the result where `p` holds"},
    {"selp slct", "b", "the result elsewhere"},
    {"selp", "p", "the predicate that chooses"},
    {"slct", "a", "the result where `c` is at least 0"},
    {"slct", "c", "the value that chooses"},

    // Conversions and addresses.
    {"cvt", "a", "the value that is converted"},
    {"cvt.pair", "a", "the value for the high half"},
    {"cvt.pair", "b", "the value for the low half"},
    {"cvta", "a", "the address that is converted"},
    {"cvta", "d", "the address, in the other space"},
    {"isspacep", "a", "the generic address that is tested"},
    {"mapa", "d", "the peer's address"},
    {"mapa", "a", "an address in this CTA's shared memory"},
    {"mapa", "b", "the peer's rank in the cluster"},
    {"getctarank", "d", "the rank in the cluster of the CTA that has the address"},
    {"getctarank", "a", "an address in shared memory, of this CTA or of a peer"},
    {"local.address", "d", "the address in local memory"},
    {"local.address", "offset", "the bytes from the beginning of the kernel's local memory"},
    {"param.address", "d", "the address of the parameter"},
    {"param.address cvta.param ld.param", "a", "the parameter"},
    {"ld.param.at", "a", "the address, from cvta.param"},
    {"cvta.param.at", "a", "the address in the space of parameters"},
    {"matrix.descriptor", "d", "the descriptor of the matrix"},
    {"matrix.descriptor", "address", "the byte of shared memory where the matrix begins"},
    {"matrix.descriptor", "fields", "the descriptor's other fields, in place: LBO, SBO, swizzle"},

    // Memory.
    {"ld", "d", "the loaded value"},
    {"ld", "a", "the address to load from"},
    {"st", "a", "the address to store to"},
    {"st st.async", "b", "the value, or `vec` values"},
    {"st.async red.async", "a", "the peer's address, from mapa"},
    {"st.async red.async", "mbarrier", "the mbarrier beside it in the peer that counts the bytes, from mapa"},
    {"red.async", "b", "the value to combine with the one in memory"},
    {"atom", "d", "the value before the operation"},
    {"atom red", "a", "the address of the value in memory"},
    {"atom red", "b", "the value to combine with it"},
    {"atom.cas", "b", "the value that memory is compared with"},
    {"atom.cas", "c", "the value that is stored where they are equal"},
    {"prefetch", "a", "the address whose line is fetched"},
    {"prefetchu", "a", "the generic address whose line is fetched"},
    {"applypriority discard", "a", "the address of the line, a multiple of 128"},
    {"applypriority discard", "bytes", "the bytes of the line: 128"},
    {"createpolicy", "d", "the cache policy"},
    {"createpolicy.range", "a", "the global address where the range begins"},
    {"createpolicy.range", "primary", "the bytes at its beginning that have the first priority"},
    {"createpolicy.range", "total", "the bytes of the range"},
    {"createpolicy.fractional", "fraction", "the share of the accesses that have the first priority"},
    {"createpolicy.cvt", "property", "the access property of the CUDA API"},
    {"ldmatrix", "d", "the fragments: one register for each matrix"},
    {"ldmatrix stmatrix", "a", "the address of a row of 16 bytes: lane 8i + r gives row r of matrix i"},
    {"stmatrix", "b", "the fragments: one register for each matrix"},
    {"movmatrix", "d", "the fragment of the transposed matrix"},
    {"movmatrix", "a", "the fragment of an 8 x 8 matrix"},

    // Asynchronous copies.
    {"cp.async", "d", "the address in shared memory to copy to"},
    {"cp.async", "a", "the global address to copy from"},
    {"cp.async", "src_size", "the bytes to read; the rest of `bytes` becomes 0"},
    {"cp.async", "ignore_src", "the predicate where nothing is read and all bytes become 0"},
    {"cp.async.wait_group cp.async.bulk.wait_group wgmma.wait_group", "n",
     "the number of the youngest groups that may be unfinished"},
    {"cp.async.mbarrier.arrive", "a", "the mbarrier at which the copies of this thread arrive"},
    {"cp.async.bulk", "d", "the address in shared memory to copy to, of this CTA or of a peer"},
    {"cp.async.bulk.cluster cp.reduce.async.bulk.cluster", "d", "the peer's address, from mapa"},
    {"cp.async.bulk.cluster", "a", "the address in this CTA's shared memory to copy from"},
    {"cp.async.bulk.cluster cp.reduce.async.bulk.cluster", "mbarrier",
     "the peer's mbarrier that counts the bytes, from mapa"},
    {"cp.async.bulk.store", "d", "the global address to copy to"},
    {"cp.async.bulk.store cp.async.bulk.tensor.store", "a", "the address in shared memory to copy from"},
    {"cp.async.bulk.prefetch", "a", "the global address to fetch into the L2 cache"},
    {"cp.reduce.async.bulk", "d", "the global address of the values that the bytes are combined with"},
    {"cp.reduce.async.bulk", "a", "the address in shared memory to read from"},
    {"tensormap.cp_fenceproxy fence.proxy.tensormap.acquire", "bytes", "the bytes of a tensor map: 128"},
    {"tensormap.cp_fenceproxy", "to", "the tensor map in global memory that is written"},
    {"tensormap.cp_fenceproxy", "from", "the tensor map in shared memory that is copied"},
    {"tensormap.replace fence.proxy.tensormap.acquire", "a", "the address of the tensor map"},
    {"tensormap.replace", "dimension", "the dimension, 0 the contiguous one"},
    {"tensormap.replace", "value", "the field's new value"},

    // Synchronisation.
    {"bar barrier", "barrier", "the number of the CTA's barrier, 0 to 15"},
    {"bar barrier", "threads", "the threads that take part, a multiple of 32; all of the CTA if not given"},
    {"bar.red barrier.red", "d", "the count, or the predicate, over all threads"},
    {"bar.red barrier.red", "c", "this thread's predicate"},
    {"mbarrier", "a", "the address of the mbarrier"},
    {"mbarrier", "count", "the number of arrivals"},
    {"mbarrier.init", "count", "the arrivals that complete a phase"},
    {"mbarrier", "bytes", "the bytes that the phase expects besides"},
    {"mbarrier.complete_tx", "bytes", "the bytes that count as arrived"},
    {"mbarrier", "state", "the state at the arrival, which names the phase"},
    {"mbarrier", "parity", "the parity of the phase to wait for: 0 for the first, then 1, 0, ..."},
    {"mbarrier.pending_count", "d", "the arrivals that the phase lacks"},
    {"mbarrier.test_wait mbarrier.try_wait", "p", "whether the phase is complete"},
    {"mbarrier.try_wait", "hint", "the longest wait in nanoseconds"},
    {"nanosleep", "time", "the time in nanoseconds, which may take twice as long"},
    {"setmaxnreg", "n", "the registers that a thread has from then on, a multiple of 8"},
    {"pmevent", "event", "the number of the event, 0 to 15"},
    {"pmevent", "events", "the events, a bit for each"},

    // Lanes of a warp.
    {"elect.sync", "p", "whether this lane is the elected one"},
    {"elect.sync", "leader", "the lane that is elected"},
    {"activemask", "d", "the lanes that are active, a bit for each"},
    {"shfl.sync", "d", "the value of the other lane"},
    {"shfl.sync", "a", "the value that this lane offers"},
    {"shfl.sync", "b", "the lane, or the distance to it, by the mode"},
    {"shfl.sync", "c", "the bounds: 0x1f for the whole warp; bits 8 to 12 divide it into segments"},
    {"shfl.sync", "p", "whether the other lane is within the bounds"},
    {"vote.sync", "d", "the outcome: a predicate, or the lanes where it holds"},
    {"vote.sync", "a", "this lane's predicate"},
    {"match", "d", "the lanes that have the same value, a bit for each"},
    {"match redux.sync", "a", "this lane's value"},
    {"match.all.sync", "p", "whether all lanes have the same value"},
    {"redux.sync", "d", "the value over all lanes"},

    // Matrix products.
    {"mma", "d", "the fragment of D = A * B + C"},
    {"mma", "a", "the fragment of A"},
    {"mma", "b", "the fragment of B"},
    {"mma", "c", "the fragment of C, the accumulators"},
    {"mma wgmma.mma_async", "sp_meta", "the metadata of A: which elements its codes stand for"},
    {"wgmma.mma_async", "d", "the accumulators, D = A * B + D"},
    {"wgmma.mma_async", "a", "A: its descriptor in shared memory, or its registers"},
    {"wgmma.mma_async", "b", "B: its descriptor in shared memory"},
    {"wgmma.mma_async", "scale_d", "whether D is added; 0: the product replaces it"},
});

/// How many letters of an instruction's name one of the families has that the row names; -1: none.
int match(std::string_view name, std::string_view families) {
    if (families.empty()) return 0;
    int longest = -1;
    while (!families.empty()) {
        const std::string_view family = families.substr(0, families.find(' '));
        families.remove_prefix(std::min(family.size() + 1, families.size()));
        if (name == family || (name.starts_with(family) && name[family.size()] == '.'))
            longest = std::max(longest, static_cast<int>(family.size()));
    }
    return longest;
}

}  // namespace

std::span<const OperandMeaning> operand_meanings() { return meanings; }

std::string_view operand_meaning(const Instruction& op, const OperandRule& operand) {
    std::string_view found;
    int longest = -1;
    for (const OperandMeaning& row : meanings)
        if (const int length = row.operand == operand.name ? match(op.name, row.families) : -1;
            length > longest) {
            found = row.text;
            longest = length;
        }
    return found;
}

}  // namespace wgrun::isa
