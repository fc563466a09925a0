"""The cases of layouts.cpp in pycute: pip install nvidia-cutlass, then python3 layouts.py. Medians of 31 rounds."""
import statistics
import time

from pycute import Layout, coalesce, complement, composition, logical_divide, logical_product, right_inverse
from pycute import zipped_divide

matrix = Layout((128, 64), (64, 1))
fragment = Layout(((4, 8, 4), (2, 2, 8)), ((128, 1, 16), (64, 8, 512)))
block = Layout((64, 64), (1, 64))
atom = Layout((8, 64), (64, 1))
small = Layout(((8, 2), (4, 4)), ((4, 32), (1, 64)))
tiler = (Layout(64, 1), Layout(16, 1))
whole = Layout(((8, 32), (64, 4)), ((64, 512), (1, 16384)))


def measure(name, calls, body):
    rounds = []
    for _ in range(31):
        start = time.perf_counter()
        for _ in range(calls):
            body()
        rounds.append((time.perf_counter() - start) / calls * 1e6)
    print(f"{name:<34} {statistics.median(rounds):>10.2f} us")


measure("256x256 offsets, no swizzle", 1, lambda: [whole(i) for i in range(65536)])
measure("composition with a fragment", 20, lambda: composition(block, fragment))
measure("composition, by mode", 20, lambda: composition(matrix, tiler))
measure("logical_divide, by mode", 20, lambda: logical_divide(matrix, tiler))
measure("zipped_divide, by mode", 20, lambda: zipped_divide(matrix, tiler))
measure("logical_divide by a layout", 20, lambda: logical_divide(small, Layout(16, 4)))
measure("logical_product", 20, lambda: logical_product(atom, Layout(16, 1)))
measure("complement", 20, lambda: complement(Layout(16, 4), 256))
measure("right_inverse", 20, lambda: right_inverse(fragment))
measure("coalesce", 20, lambda: coalesce(small))
