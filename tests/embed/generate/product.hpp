// D = A * B^T by wgmma, with tiles that TMA copies: a block of 64 x 64 of D for each CTA.
#pragma once

#include <wgrun/program.hpp>

/// A is M x K, B is N x K, both bf16; D is M x N, f32; then N and K. M, N and K are multiples of 64.
wgrun::Program product();
