"""Dropout of attention: the state of its random numbers, and the mask that follows from it."""

from __future__ import annotations

from typing import Optional

import torch
from torch import Tensor

from ._made import untraced, wrong
from ._typed import typed

_ROUNDS, _BITS = 7, 15
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_WORD = 0xFFFFFFFF


@untraced
def _check(what: str, p: float) -> None:
    if not (0 <= p <= 31 / 32 or p == 1):
        wrong(what, f"dropout_p of {p}: from 0 to 31 / 32, or 1")


def state_of(what: str, p: float, q: Tensor) -> Optional[Tensor]:
    """Seed and offset of a call, int64, from the default generator of the device, which a graph that is captured advances at
    each replay; None where nothing is dropped."""
    _check(what, p)
    return torch.randint(0, 2 ** 63 - 1, (2,), dtype=torch.int64, device=q.device) if p > 0 else None


def _product(x: Tensor, by: int) -> tuple[Tensor, Tensor]:
    """The high and the low word of a product of words, which are int64 here: the whole product may not fit."""
    low, high = x * (by & 0xFFFF), x * (by >> 16)
    low = low + ((high & 0xFFFF) << 16)
    return (high >> 16) + (low >> 32), low & _WORD


@typed
def dropout_mask(state: Tensor, dropout_p: float, batch: int, heads: int, queries: int, keys: int) -> Tensor:
    """What the attention of this package keeps with dropout_p: bool, batch x heads x queries x keys. state: what
    flash_attn_func and flash_attn_varlen_func return in the third place with return_attn_probs: seed and offset. Of packed
    sequences the batch is their number, and queries and keys count from the beginning of each. The generator is Philox 4x32
    with 7 rounds. Its key is the seed, its counter for query i and key j (4 (j // 16) + j // 2 % 4, 8 (i // 16) + i % 8, batch
    * heads + head, offset mod 2^32). Of the four words, i // 8 % 2 + 2 (j // 8 % 2) has 15 bits for an even j, from bit 0, and
    15 for the odd one behind it, from bit 16; a score is kept where they are dropout_p * 2^15, rounded, or more."""
    _check("dropout_mask", dropout_p)
    def along(count: int, dimension: int) -> Tensor:
        return torch.arange(count, device=state.device).reshape([-1 if at == dimension else 1 for at in range(3)])

    pair, i, j = along(batch * heads, 0), along(queries, 1), along(keys, 2)
    seed, offset = state.unbind()
    key = [seed & _WORD, seed >> 32 & _WORD]
    whole = torch.broadcast_tensors(j // 16 * 4 + j // 2 % 4, i // 16 * 8 + i % 8, pair, offset & _WORD)
    counter: list[Tensor] = list(whole)
    for _ in range(_ROUNDS):
        high_x, low_x = _product(counter[0], _MULTIPLIERS[0])
        high_z, low_z = _product(counter[2], _MULTIPLIERS[1])
        counter = [high_z ^ counter[1] ^ key[0], low_z, high_x ^ counter[3] ^ key[1], low_x]
        key = [(word + weyl) & _WORD for word, weyl in zip(key, _WEYL)]
    number = (i // 8 % 2 + 2 * (j // 8 % 2)).expand_as(counter[0])
    word = torch.stack(counter).gather(0, number[None])[0]
    bits = word >> 16 * (j % 2) & (1 << _BITS) - 1
    return ((bits >= int(dropout_p * (1 << _BITS) + 0.5)) & (dropout_p < 1)).reshape(batch, heads, queries, keys)
