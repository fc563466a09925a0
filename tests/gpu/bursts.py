"""What the comparisons with PyTorch on a GPU share: errors against binary64, and times in alternating bursts. Importing it ends
the program with 77 where there is no PyTorch or no Hopper GPU."""

import random
import statistics
import sys
import time

from hopper import torch  # first: ends where there is no GPU

failed = []


def check(name, got, want, most=0.0025):
    """The root mean square of the error over that of the result: rounding to bf16 makes it 0.0017."""
    error = ((got.double() - want).pow(2).mean().sqrt() / want.pow(2).mean().sqrt()).item() if want.numel() else 0.0
    wrong = not error < most
    if wrong:
        failed.append(name)
    print(f"{name}: error {error:.5f}{' WRONG' if wrong else ''}", flush=True)


def burst(function, launches):
    """Microseconds of a launch; the first ones wait for the host behind a kernel that sleeps."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(600000)
    first.record()
    for _ in range(launches):
        function()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / launches * 1e3


def shuffled(functions):
    """The chip is as hot as what ran before has left it."""
    return random.sample(list(functions), len(functions))


def compare(title, functions, flops, gigabytes=None, rounds=7):
    """Prints the medians; the first function is what the others are compared with. Once in bursts of about 6 ms, which
    follow each other in any order, once in single bursts of at most 1 ms after a pause. What cannot be built is left out,
    and why. gigabytes: what a function must read and write, by name."""
    working = {}
    for name, make in functions.items():
        try:
            function = make()
            function(), function()
            working[name] = function
        except Exception as error:
            print(f"{title}  {name:34} left out: {str(error).splitlines()[0]}", flush=True)
    base = next(iter(working))
    us = burst(working[base], 3)
    launches = max(2, round(6000 / us))
    hot, cool = {name: [] for name in working}, {name: [] for name in working}
    for _ in range(rounds):
        for name in shuffled(working):
            hot[name].append(burst(working[name], launches))
    for _ in range(rounds):
        for name in shuffled(working):
            time.sleep(0.03)
            cool[name].append(burst(working[name], max(1, launches // 12)))
    for name in working:
        line = f"{title}  {name:34}"
        for times in (hot, cool):
            ratio = statistics.median(a / b for a, b in zip(times[base], times[name]))
            us = statistics.median(times[name])
            line += f" | {us:8.1f} us {flops / us / 1e6:7.1f} TFLOP/s"
            if gigabytes:
                line += f" {gigabytes(name) / us * 1e3:5.2f} TB/s"
            line += f"  {ratio:.3f}"
        print(line, flush=True)


def end():
    print(f"{len(failed)} wrong" if failed else "all right")
    sys.exit(1 if failed else 0)
