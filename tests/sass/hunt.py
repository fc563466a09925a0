#!/usr/bin/env python3
"""Random kernels before versions of ptxas: hunt.py KIND WGRUN PTXAS... [--count N] [--seed S] [--jobs N]

KIND is a module beside this one: fragments, descriptors or integers. Each ptxas assembles the kernels, some in a file, and
`wgrun sass` holds the machine code against them. Prints what is refuted or undecided, keeps its PTX, and prints the
counts. One seed makes the same kernel each time.
"""
import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

IN_A_FILE = 16


def joined(texts):
    """Returns PTX kernels as one text, in which they have other names."""
    out = []
    for i, text in enumerate(texts):
        head, entry, body = text.partition(".visible .entry random(")
        out += [head if i == 0 else "", entry.replace("random", f"random{i}"), body]
    return "".join(out)


def judge(wgrun, ptxas, options, texts):
    """Returns a verdict for each kernel, and why."""
    with tempfile.TemporaryDirectory() as folder:
        path, cubin = Path(folder) / "random.ptx", Path(folder) / "random.cubin"
        path.write_text(joined(texts))
        made = subprocess.run([ptxas, "-arch=sm_90a", "-lineinfo", *options, str(path), "-o", str(cubin)],
                              capture_output=True, text=True)
        wrong = ("not assembled", made.stdout + made.stderr)
        if made.returncode == 0:
            told = subprocess.run([wgrun, "sass", "--brief", "--json", str(path), str(cubin)], capture_output=True, text=True)
            wrong = ("no answer", told.stderr)
            try:
                return verdicts(json.loads(told.stdout), path.read_text())
            except ValueError:
                pass
    return [wrong] if len(texts) == 1 else [judge(wgrun, ptxas, options, [text])[0] for text in texts]


def verdicts(found, text):
    """Returns (verdict, why) of each kernel of the JSON of `wgrun sass`; findings are at lines of the text."""
    begins = [i for i, line in enumerate(text.splitlines(), 1) if line.startswith(".visible .entry")] + [1 << 40]
    by_name = {kernel["kernel"]: kernel["verdict"] for kernel in found["kernels"]}
    out = []
    for i, (begin, end) in enumerate(zip(begins, begins[1:])):
        verdict = by_name[f"random{i}"]
        findings = [one for one in found["findings"] if begin <= one["line"] < end]
        serial = any(one["rule"] == "WG-SASS-04" for one in findings)
        errors = [one["message"] for one in findings if one["severity"] == "error"]
        out.append((verdict["verdict"] + (", serialised" if serial else ""), errors or verdict.get("reason", "")))
    return out


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("kind", choices=["fragments", "descriptors", "integers"])
    words.add_argument("wgrun")
    words.add_argument("ptxas", nargs="+")
    words.add_argument("--count", type=int, default=100)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--keep", default=".", help="folder for the PTX of what is not proved")
    given = words.parse_args()
    kind = importlib.import_module(given.kind)
    counts = {ptxas: Counter() for ptxas in given.ptxas}

    def work(first):
        seeds = range(first, min(first + IN_A_FILE, given.seed + given.count))
        texts = [kind.kernel(random.Random(seed)) for seed in seeds]
        options = random.Random(first).choice(kind.LEVELS)
        return [(seeds, texts, ptxas, options, judge(given.wgrun, ptxas, options, texts)) for ptxas in given.ptxas]

    with ThreadPoolExecutor(given.jobs) as pool:
        for results in pool.map(work, range(given.seed, given.seed + given.count, IN_A_FILE)):
            for seeds, texts, ptxas, options, found in results:
                for seed, text, (verdict, why) in zip(seeds, texts, found):
                    counts[ptxas][verdict] += 1
                    if not verdict.startswith("proved"):
                        print(f"seed {seed}, {ptxas} {' '.join(options)}: {verdict}: {str(why)[:600]}", flush=True)
                        (Path(given.keep) / f"{given.kind}-{seed}.ptx").write_text(text)
    for ptxas, count in counts.items():
        print(ptxas, dict(count))
    return any(not verdict.startswith(("proved", "undecided")) for count in counts.values() for verdict in count)


if __name__ == "__main__":
    sys.exit(main())
