// A proof by exploring states: the abstract execution runs from cut to cut (abstract/cut.hpp), each way that
// a comparison with a number of the launch may come out, until every cut is covered by one that has been
// explored.
//
// Warps park before such comparisons, and those that are behind go on first. So roles that count the same
// turns stay together, and a ring of stages is in few states. One order of warps stands for all
// (docs/verdicts.md). A cut that differs from an earlier one in counters alone is widened: they are taken to
// have turned any number of times. Whatever is true of all states that the cuts stand for is true of the
// kernel, since these include all of its own.
#pragma once

#include "check/proof.hpp"

namespace wgrun::check {

/// Explores the protocol of the program, for every cluster of every grid, as prove() does. What it does not
/// prove may still be provable by the values of numbers. gaps: null, or what is not proved of accesses to
/// shared memory. Who accessed which byte is no part of a state: of what rests on that it has gaps before.
/// Where each access goes decides about bounds and descriptors.
Proof explore(const Program& program, const Skeleton& skeleton, const abstract::Live& live,
              const Budget& budget, Gaps* gaps = nullptr);

}  // namespace wgrun::check
