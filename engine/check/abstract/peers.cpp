#include "check/abstract/peers.hpp"

#include <algorithm>
#include <bit>

#include "isa/generic.hpp"
#include "machine/peers.hpp"
#include "program/end.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::check::abstract {

std::optional<int> Peers::find(std::uint64_t& address, bool owes) {
    using Whose = machine::SharedPlace::Whose;
    const Warp& warp = *execution_.warp;
    const auto [whose, rank, there] =
        machine::locate(address, static_cast<std::uint32_t>(warp.cta), ctas_.size());
    if (whose == Whose::nobodys) {
        report_.fault(rules::outside_cluster(execution_.name(), rank, ctas_.size()));
        return std::nullopt;
    }
    address = there;
    Cta& cta = ctas_[rank];
    if (whose == Whose::own) return warp.cta;
    if (cta.ended) {
        report_.fault(rules::peer_has_ended(execution_.name(), rank, false, end_of(execution_.program)));
        return static_cast<int>(rank);
    }
    if (!owes) return static_cast<int>(rank);
    const Visit visit{warp.number, execution_.began, execution_.op->step};
    if (const auto before = std::ranges::find(cta.visits, warp.number, &Visit::warp);
        before != cta.visits.end())
        *before = visit;
    else
        cta.visits.push_back(visit);
    return static_cast<int>(rank);
}

void Peers::visit(isa::Space space, const isa::Addresses& address) {
    const auto visit_all = [&](isa::Space found, isa::Mask lanes, const isa::Addresses& within) {
        if (found != isa::Space::shared_cluster) return;
        for (isa::Mask left = lanes; left != 0; left &= left - 1) {
            std::uint64_t at = within[static_cast<std::size_t>(std::countr_zero(left))];
            find(at, true);
        }
    };
    const isa::Mask lanes = execution_.active & address.known;
    if (space == isa::Space::generic)
        isa::for_each_space(address, lanes, visit_all);
    else
        visit_all(space, lanes, address);
}

void Peers::close(int rank) {
    Cta& cta = ctas_[static_cast<std::size_t>(rank)];
    cta.ended = true;
    if (execution_.anybody_left) return;
    for (const Visit& visit : cta.visits)
        if (!execution_.known_in(rank, visit.warp, visit.clock))
            report_.add(rules::peer_may_have_ended(end_of(execution_.program)), visit.step);
}

}  // namespace wgrun::check::abstract
