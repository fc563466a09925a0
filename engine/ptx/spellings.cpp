// What PTX spells in two ways, as data. Records have one spelling of each instruction.
#include <array>
#include <utility>

#include "ptx/pattern.hpp"
#include "wgrun/spellings.hpp"

namespace wgrun::ptx {
namespace {

/// In opcodes that begin with `begins`, `written` is read as `means`.
struct Equivalent {
    std::string_view begins, written, means;
};

constexpr std::array equivalents{
    // bar is barrier.cta with .aligned (9.7.13.1).
    Equivalent{"barrier.cta.sync.aligned", "barrier.cta.sync.aligned", "bar.sync"},
    Equivalent{"barrier.cta.arrive.aligned", "barrier.cta.arrive.aligned", "bar.arrive"},
    Equivalent{"barrier.sync.aligned", "barrier.sync.aligned", "bar.sync"},
    Equivalent{"barrier.arrive.aligned", "barrier.arrive.aligned", "bar.arrive"},
    Equivalent{"bar.cta.", "bar.cta.", "bar."},
    Equivalent{"barrier.cta.", "barrier.cta.", "barrier."},
    Equivalent{"barrier.red.popc.aligned", "barrier.red.popc.aligned", "bar.red.popc"},
    Equivalent{"barrier.red.and.aligned", "barrier.red.and.aligned", "bar.red.and"},
    Equivalent{"barrier.red.or.aligned", "barrier.red.or.aligned", "bar.red.or"},
    Equivalent{"barrier.cluster.wait", ".acquire", ""},
    // A membar is a fence.sc, and a fence without an order one of acq_rel (9.7.13.4).
    Equivalent{"membar.cta", "membar.cta", "fence.sc.cta"},
    Equivalent{"membar.gl", "membar.gl", "fence.sc.gpu"},
    Equivalent{"membar.sys", "membar.sys", "fence.sc.sys"},
    Equivalent{"membar.proxy.", "membar.", "fence."},
    Equivalent{"fence.cta", "fence.", "fence.acq_rel."},
    Equivalent{"fence.cluster", "fence.", "fence.acq_rel."},
    Equivalent{"fence.gpu", "fence.", "fence.acq_rel."},
    Equivalent{"fence.sys", "fence.", "fence.acq_rel."},
    // Loads of what nobody writes are loads (9.7.9.14); mad of floats is fma (9.7.3.7).
    Equivalent{"ldu.", "ldu.", "ld."},
    Equivalent{"mad.rn.", "mad.", "fma."},
    Equivalent{"mad.rz.", "mad.", "fma."},
    Equivalent{"mad.rm.", "mad.", "fma."},
    Equivalent{"mad.rp.", "mad.", "fma."},
    Equivalent{"mad.ftz.", "mad.", "fma."},
    // Weak accesses are the default (9.7.9.8, 9.7.9.11).
    Equivalent{"ld.weak", ".weak", ""},
    Equivalent{"st.weak", ".weak", ""},
    Equivalent{"multimem.", ".weak", ""},
    Equivalent{"ld.volatile.global.relaxed.sys", ".volatile.global.relaxed.sys", ".volatile.global"},
    // A CTA's own shared memory is a part of its cluster's (9.7.9.27.5.2); .tile is the default mode.
    Equivalent{"cp.async.ca.shared::cta", ".shared::cta", ".shared"},
    Equivalent{"cp.async.cg.shared::cta", ".shared::cta", ".shared"},
    Equivalent{"cp.async.bulk.tensor", ".shared::cta.global", ".shared::cluster.global"},
    Equivalent{"cp.async.bulk.shared::cta.global", ".shared::cta.global", ".shared::cluster.global"},
    Equivalent{"cp.async.bulk.tensor", ".tile", ""},
    Equivalent{"cp.reduce.async.bulk.tensor", ".tile", ""},
    Equivalent{"cp.async.bulk.prefetch.tensor", ".tile", ""},
    Equivalent{"st.async.shared::cluster", "st.async.", "st.async.weak."},
    Equivalent{"st.async.mbarrier", "st.async.", "st.async.weak."},
    Equivalent{"red.async.mbarrier", "red.async.", "red.async.relaxed.cluster."},
    Equivalent{"red.async.shared::cluster", "red.async.", "red.async.relaxed.cluster."},
    // The shape may also come after the number of matrices.
    Equivalent{"ldmatrix", ".x1.m8n8", ".m8n8.x1"},
    Equivalent{"ldmatrix", ".x2.m8n8", ".m8n8.x2"},
    Equivalent{"ldmatrix", ".x4.m8n8", ".m8n8.x4"},
    Equivalent{"ldmatrix", ".x1.trans.m8n8", ".m8n8.x1.trans"},
    Equivalent{"ldmatrix", ".x2.trans.m8n8", ".m8n8.x2.trans"},
    Equivalent{"ldmatrix", ".x4.trans.m8n8", ".m8n8.x4.trans"},
    Equivalent{"stmatrix", ".x1.m8n8", ".m8n8.x1"},
    Equivalent{"stmatrix", ".x2.m8n8", ".m8n8.x2"},
    Equivalent{"stmatrix", ".x4.m8n8", ".m8n8.x4"},
    Equivalent{"stmatrix", ".x1.trans.m8n8", ".m8n8.x1.trans"},
    Equivalent{"stmatrix", ".x2.trans.m8n8", ".m8n8.x2.trans"},
    Equivalent{"stmatrix", ".x4.trans.m8n8", ".m8n8.x4.trans"},
    Equivalent{"bra.uni", ".uni", ""},
    Equivalent{"ret.uni", ".uni", ""},
};

/// With `dot` between the parts of names.
std::string with_equivalents(std::string name, char dot, std::string (*spelt)(std::string_view)) {
    for (const Equivalent& row : equivalents) {
        const std::string written = spelt(row.written);
        if (!name.starts_with(spelt(row.begins))) continue;
        const std::size_t at = name.find(written);
        const std::size_t end = at + written.size();
        if (at == std::string::npos) continue;
        if (written.ends_with(dot) || end == name.size() || name[end] == dot)
            name.replace(at, written.size(), spelt(row.means));
    }
    return name;
}

/// An opcode as methods are called: ::shared and .shared are _shared.
std::string underscored(std::string_view opcode) {
    std::string out;
    for (const char c : opcode)
        if (c != '.' && c != ':')
            out += c;
        else if (!out.ends_with('_'))
            out += '_';
    return out;
}

}  // namespace

std::string usual_spelling(std::string opcode) {
    return with_equivalents(std::move(opcode), '.', [](std::string_view text) { return std::string(text); });
}

std::string usual_method(std::string method) { return with_equivalents(std::move(method), '_', underscored); }

}  // namespace wgrun::ptx
