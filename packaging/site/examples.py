"""The texts that the playground offers: scripts as they are, the same with a line taken out, and files of the tests."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELLO = "scripts/hello_wgmma.lua"

RIGHT, WRONG, PTX = "Right", "Broken", "PTX of compilers"
# (group, title, file, the line that is missing)
EXAMPLES = [
    (WRONG, "No wgmma.fence (WG-FENCE-01)", HELLO, "  k:wgmma_fence()"),
    (WRONG, "No fence before the async proxy (WG-PROXY-01)", HELLO, '  k:fence_proxy_async { space = "shared::cta" }'),
    (WRONG, "Accumulators read too early (WG-GROUP-01)", HELLO, "  k:wgmma_wait_group(0)"),
    (WRONG, "No barrier before the product (WG-RACE-01)", HELLO, "  k:bar_sync(0)"),
    (WRONG, "A bound that is not looked at (WG-MEM-01)", "tests/rules/WG-MEM-01/bad_excerpt.lua", None),
    (WRONG, "A barrier that some threads miss (WG-SYNC-02)", "tests/rules/WG-SYNC-02/bad_excerpt.lua", None),
    (WRONG, "An mbarrier that waits for ever (WG-MBAR-05)", "tests/rules/WG-MBAR-05/bad_one_lane_a_warp.lua", None),
    (WRONG, "Threads that write one place (WG-RACE-04)", "tests/rules/WG-RACE-04/bad_one_place.lua", None),
    (RIGHT, "One product, step by step", HELLO, None),
    (RIGHT, "Guide 1: element by element", "scripts/guide/01-elementwise.lua", None),
    (RIGHT, "Guide 2: shared memory", "scripts/guide/02-shared-memory.lua", None),
    (RIGHT, "Guide 3: an mbarrier", "scripts/guide/03-mbarrier.lua", None),
    (RIGHT, "Guide 5: TMA", "scripts/guide/05-tma.lua", None),
    (RIGHT, "Guide 6: a pipeline", "scripts/guide/06-pipeline.lua", None),
    (RIGHT, "Guide 7: a GEMM", "scripts/guide/07-gemm.lua", None),
    (RIGHT, "Guide 10: clusters", "scripts/guide/10-clusters.lua", None),
    (RIGHT, "wg.gemm, 256 cubed", "packaging/site/playground/gemm.lua", None),
    (RIGHT, "mma.sync", "scripts/mma_sync.lua", None),
    (RIGHT, "Pictures of layouts", "packaging/site/playground/pictures.lua", None),
    (PTX, "Two stages", "tests/ptx/two_stages.ptx", None),
    (PTX, "One row less than a box (WG-MBAR-05)", "tests/ptx/one_row_less.ptx", None),
    (PTX, "A missing wgmma.fence (WG-FENCE-01)", "tests/ptx/missing_fence.ptx", None),
    (PTX, "A buffer that is used again too early (WG-RACE-03)", "tests/ptx/reduce_then_reuse.ptx", None),
]


def example(group, title, file, missing):
    text = (ROOT / file).read_text()
    if missing is not None:
        lines = text.split("\n")
        if lines.count(missing) != 1:
            raise ValueError(f"{file}: the line is there {lines.count(missing)} times: {missing}")
        lines.remove(missing)
        text = "\n".join(lines)
    return {"group": group, "title": title, "kind": Path(file).suffix[1:], "text": text, "file": file}


def examples():
    return json.dumps([example(*one) for one in EXAMPLES])
