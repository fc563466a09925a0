"""Layouts of operands in shared memory, as wgmma and TMA take them."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass

from ._script import literal, loads

#: In the order of CUtensorMapSwizzle; and what the layout type of a matrix descriptor says of each (PTX ISA 9.7.15.5.1.2.2).
_SWIZZLES = ("none", "32B", "64B", "128B")
_LAYOUT_TYPES = {"none": 0, "128B": 1, "64B": 2, "32B": 3}

_SCRIPT = """
local wg = require "wgrun"
local layout = wg.layout({layout})
local found = wg.identify(layout, {dtype})
local function quoted(text) return '"' .. tostring(text):gsub('[%c"\\\\]', " ") .. '"' end
print(('{{"layout": %s, "major": %s, "swizzle": %s, "lbo": %d, "sbo": %d, "canonical": %s, "operand": %s, "text": %s}}'):format(
  quoted(layout), quoted(found.major), quoted(found.swizzle), found.lbo, found.sbo, found.canonical, found.operand,
  quoted(found.text)))
return {{}}
"""


@dataclass(frozen=True)
class Layout:
    """What a layout of an operand in shared memory is to wgmma and to TMA."""

    layout: str  #: as CuTe writes it
    dtype: str
    major: str  #: "K" or "MN"
    swizzle: str  #: "none", "32B", "64B" or "128B"
    lbo: int  #: the leading byte offset of a matrix descriptor
    sbo: int  #: its stride byte offset
    canonical: bool  #: it is one of wgmma's layouts; else what is here is of the nearest one
    operand: bool  #: wgmma can read it
    text: str  #: the same in words

    @property
    def layout_type(self) -> int:
        """Bits 62 and 63 of a matrix descriptor."""
        return _LAYOUT_TYPES[self.swizzle]

    @property
    def tma_swizzle(self) -> int:
        """The CUtensorMapSwizzle of a tensor map that fills it."""
        return _SWIZZLES.index(self.swizzle)


def layout(layout: str, dtype: str = "bf16") -> Layout:
    """Identifies a layout, (row, k) to the element offset, such as "Sw<3,4,3> o (8,64):(64,1)": wg.identify."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        loads(_SCRIPT.format(layout=literal(layout), dtype=literal(dtype)), name="wgrun.layout")
    return Layout(dtype=dtype, **json.loads(printed.getvalue()))
