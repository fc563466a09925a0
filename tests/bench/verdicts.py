"""The CPU time and the memory of `wgrun check`, verdicts included: verdicts.py WGRUN [FILE|FOLDER...], each file in a process of its own.

Without files: the scripts of scripts/ and scripts/guide, and the PTX of tests/ptx. Prints a row for each of the slowest, and
the median, the 95th of 100, and the most of all. --budget SECONDS and other options of check go through."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
SUFFIXES = (".lua", ".ptx")


def checked(wgrun, options, file):
    """Returns the seconds of a processor, MiB and the exit code of one check."""
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        os.chdir(TREE)
        os.execv(wgrun, [wgrun, "check", *options, str(file)])
    _, status, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def files_of(names):
    for name in names:
        path = Path(name).resolve()
        if path.is_dir():
            yield from sorted(one for one in path.iterdir() if one.suffix in SUFFIXES)
        else:
            yield path


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def main():
    wgrun, words = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    options = []
    while words and words[0].startswith("--"):
        options += words[:2]
        words = words[2:]
    names = words or [TREE / "scripts", TREE / "scripts" / "guide", *sorted((TREE / "tests" / "ptx").glob("*.ptx"))]
    rows = [(*checked(wgrun, options, file), file) for file in files_of(names)]
    for seconds, memory, code, file in sorted(rows, reverse=True)[:10]:
        name = file.relative_to(TREE) if file.is_relative_to(TREE) else file
        print(f"{seconds:8.2f} s {memory:7.0f} MiB  {code}  {name}")
    for what, at in (("s", 0), ("MiB", 1)):
        values = [row[at] for row in rows]
        print(f"{len(rows)} files, {what}: median {percentile(values, 50):.2f}, p95 {percentile(values, 95):.2f}, most {max(values):.2f}")


main()
