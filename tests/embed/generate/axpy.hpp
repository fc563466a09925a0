// y = a * x + y, one element a thread.
#pragma once

#include <wgrun/program.hpp>

/// `threads` of a CTA. Elements beyond `count`, which the kernel gets, are left alone.
wgrun::Program axpy(int threads);

/// The same, but the CTA reverses its elements through shared memory without a barrier: a race.
wgrun::Program racy(int threads);
