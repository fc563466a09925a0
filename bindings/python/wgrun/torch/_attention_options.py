"""What the operators of attention have in common: scripts of their kernels, options, sinks and dropout among their operands."""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch import Tensor

from ._made import DTYPES

# What becomes of scores besides the options of wg.attention, by `options.kind`. Tensors that are read have a value for each
# score ("bias", "hides") or for each head of each sequence ("alibi").
_SCORES = """
local kind, queries, keys, heads = options.kind, options.queries, options.keys, options.heads
options.kind, options.queries, options.keys = nil, nil, nil
local function at_head(at) return at.batch * heads + at.head end
local function element(k, at)
  local row = k:cvt_u64_u32(at_head(at)) * queries + k:cvt_u64_u32(k:mov(at.query, { type = "u32" }))
  return k:element(at.tensors.bias, row * keys + k:cvt_u64_u32(k:mov(at.key, { type = "u32" })))
end
if kind == "top_left" then -- query i sees the keys up to i, however many there are
  options.mask = function(_, at) return at.key:le(at.query) end
  options.block_mask = function(_, block) return block.first_key:le(block.last_query), block.last_key:le(block.first_query) end
elseif kind == "hides" then
  options.tensors = { bias = "u8" }
  options.mask = function(k, at) return k:ld_global_u8(element(k, at)):ne(0) end
elseif kind == "bias" then
  options.tensors = { bias = "f32" }
  options.score = function(k, score, at) return score + k:ld_global_f32(element(k, at)) end
elseif kind == "alibi" then
  options.tensors = { bias = "f32" }
  options.score = function(k, score, at)
    local slope = k:ld_global_f32(k:element(at.tensors.bias, at_head(at)))
    return k:fma(slope, -k:abs(at.distance), score)
  end
end
local function with_tensors(given)
  if given.bias then given.tensors = { bias = given.bias } end
  given.bias = nil
  return given
end
"""

FORWARD = _SCORES + """
local attention = require("wgrun").attention(options)
return { kernel = attention.kernel, launch = function(_, Q, K, V, O, given)
  return attention:launch(Q, K, V, O, with_tensors(given))
end }
"""

DECODE = _SCORES + """
options.queries = queries
local decode = require("wgrun").attention_decode(options)
return { kernel = decode.kernel, launch = function(_, Q, K, V, O, given)
  return decode:launch(Q, K, V, O, with_tensors(given))
end }
"""

BACKWARD = _SCORES + """
local backward = require("wgrun").attention_backward(options)
local names <const> = { "Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV" }
local function step(number, kernel)
  return { kernel = kernel, launch = function(_, ...)
    local operands, all = { ... }, {}
    for name, value in pairs(with_tensors(operands[#names + 1])) do all[name] = value end
    for i, name in ipairs(names) do all[name] = operands[i] end
    return backward:launches(all)[number][2]
  end }
end
return { first = step(1, backward.before), second = step(2, backward.kernel), third = step(3, backward.after) }
"""

Options = tuple[tuple[str, Any], ...]


def options_of(q: Tensor, k: Tensor, heads: int, kv_heads: int, causal: bool, window: int, softcap: float) -> Options:
    return (("dtype", DTYPES[q.dtype]), ("dim", q.shape[-1]), ("heads", heads), ("kv_heads", kv_heads), ("causal", causal),
            ("window", window or None), ("softcap", softcap or None))


def empty_o(q: Tensor, v: Tensor) -> Tensor:
    return q.new_empty((*q.shape[:-1], v.shape[-1]))


def widened(q: Tensor, *tensors: Tensor) -> list[Tensor]:
    """V, O and dO with zeros up to the head size of Q, since the kernels of the gradients have one head size. Zeros change
    neither dQ nor dK, and dV gets columns that are cut off."""
    return [torch.nn.functional.pad(tensor, (0, q.shape[-1] - tensor.shape[-1])) if tensor.shape[-1] < q.shape[-1] else tensor
            for tensor in tensors]


def more_options(sink: Optional[Tensor], dropout_p: float, state: Optional[Tensor], named: dict[str, Any]) -> Options:
    """The options of sinks and dropout; adds what they read to the operands."""
    options: Options = ()
    if sink is not None:
        options, named["sink"] = (("sink", True),), sink.float().contiguous()
    if state is not None:
        options += (("dropout", True),)
        named.update(dropout_p=dropout_p, dropout_state=state)
    return options


def gradient_of_sink(sink: Optional[Tensor], q: Tensor, heads: int, named: dict[str, Any]) -> Tensor:
    """Memory for it, in float32, which kernels write whole; adds it to the operands."""
    gradient = q.new_zeros(0 if sink is None else heads, dtype=torch.float32)
    if sink is not None:
        named["dsink"] = gradient
    return gradient


def as_sink(gradient: Tensor, sink: Optional[Tensor]) -> Tensor:
    return gradient if sink is None else gradient.to(sink.dtype)


def fake_gradient_of_sink(sink: Optional[Tensor], q: Tensor) -> Tensor:
    return q.new_empty(0, dtype=torch.float32) if sink is None else torch.empty_like(sink)


def of_no_keys(sums: Tensor, sink: Optional[Tensor], shape: tuple[int, ...]) -> Tensor:
    """lse where there are no keys: `shape` is that in which sinks are beside it."""
    sums.fill_(-math.inf)
    return sums if sink is None or sums.numel() == 0 else sums.copy_(sink.float().reshape(shape).expand_as(sums))


def alibi(slopes: Optional[Tensor], named: dict[str, Any]) -> Options:
    """Likewise of ALiBi alone: slopes of each head of each sequence."""
    if slopes is None:
        return ()
    named["bias"] = slopes
    return (("kind", "alibi"),)
