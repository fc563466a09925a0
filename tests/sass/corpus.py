#!/usr/bin/env python3
"""Kernels before versions of ptxas: corpus.py WGRUN FOLDER [TEXT.ptx...] [--levels=-O3]

FOLDER has a folder for each version of ptxas, named by it, with a program ptxas somewhere in it:
    for v in 12.9.86; do pip install --no-deps --target FOLDER/$v nvidia-cuda-nvcc-cu12==$v; done
Each version assembles, at -O0 to -O3, the kernels of kernels.lua and of scripts/, and the texts that are given, and
`wgrun sass` holds the machine code against them. nvdisasm has to be found. Texts get the highest .version that the
ptxas reads. Prints a table by version (docs/assemblers.md), and what is not proved. Exit code 1: something is refuted.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
PTX_OF_CUDA = {"12.4": "8.4", "12.6": "8.5", "12.8": "8.7", "12.9": "8.8"}  # later ones: 9.0


def kernels_of(wgrun, script):
    """Returns (name, PTX) of the kernels of a script."""
    told = subprocess.run([wgrun, "ptx", "--json", str(script)], capture_output=True, text=True, cwd=TREE)
    try:
        kernels = json.loads(told.stdout)["kernels"]
    except ValueError:
        sys.exit(f"{script}: {told.stderr}")
    return [(f"{script.stem}/{kernel['name']}", kernel["text"]) for kernel in kernels]


def judge(wgrun, version, ptxas, level, name, text):
    """Returns a row: version, level, name, the verdict of each kernel, and findings."""
    newest = PTX_OF_CUDA.get(version.rpartition(".")[0], "9.0")
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        ptx.write_text(re.sub(r"^\.version .*", f".version {newest}", text, flags=re.M))
        made = subprocess.run([ptxas, "-arch=sm_90a", "-lineinfo", level, str(ptx), "-o", str(cubin)],
                              capture_output=True, text=True)
        if made.returncode:
            return version, level, name, ["not assembled"], []
        told = subprocess.run([wgrun, "sass", "--brief", "--json", str(ptx), str(cubin)], capture_output=True, text=True)
        try:
            found = json.loads(told.stdout)
        except ValueError:
            return version, level, name, ["no answer: " + told.stderr[:200]], []
        verdicts = [kernel["verdict"]["verdict"] for kernel in found["kernels"]]
        reasons = [kernel["verdict"]["reason"] for kernel in found["kernels"] if kernel["verdict"]["verdict"] == "undecided"]
        return version, level, name, verdicts, [(one["rule"], one["line"], one["message"]) for one in found["findings"]] + [
            ("undecided", 0, reason) for reason in reasons]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("wgrun")
    words.add_argument("folder", type=Path)
    words.add_argument("texts", nargs="*")
    words.add_argument("--levels", default=",".join(LEVELS), help="separated by commas")
    given = words.parse_args()
    wgrun, folder, texts = given.wgrun, given.folder, given.texts
    versions = {}
    for one in sorted(folder.iterdir()):
        found = sorted(one.rglob("bin/ptxas")) if one.is_dir() else []
        if found:
            versions[one.name] = str(found[0])
    kernels = kernels_of(wgrun, Path(__file__).with_name("kernels.lua"))
    for script in sorted((TREE / "scripts").glob("*.lua")) + sorted((TREE / "scripts" / "guide").glob("*.lua")):
        kernels += kernels_of(wgrun, script)
    kernels += [(Path(text).stem, Path(text).read_text()) for text in texts]
    work = [(wgrun, version, ptxas, level, name, text) for version, ptxas in versions.items() for level in given.levels.split(",")
            for name, text in kernels]
    table = defaultdict(Counter)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for version, level, name, verdicts, findings in pool.map(lambda one: judge(*one), work):
            for verdict in verdicts:
                table[version][verdict if verdict in ("proved", "refuted", "undecided", "not assembled") else "no answer"] += 1
            rules = {rule for rule, _, _ in findings}
            if "WG-SASS-04" in rules:
                table[version][f"serialised {level}"] += 1
            if "WG-SASS-09" in rules:
                table[version][f"spills {level}"] += 1
            for rule, line, message in findings:
                if rule not in ("WG-SASS-04", "WG-SASS-09"):
                    print(f"{version} {level} {name}:{line}: {message} [{rule}]")
    print(f"\n{len(kernels)} texts\n")
    print("| ptxas | kernels and levels | proved | refuted | undecided | serialised at -O3 | spills in a loop at -O3 |")
    print("|---|---|---|---|---|---|---|")
    for version, row in table.items():
        total = sum(row[one] for one in ("proved", "refuted", "undecided", "no answer"))
        print(f"| {version} | {total} | {row['proved']} | {row['refuted']} | {row['undecided'] + row['no answer']} "
              f"| {row['serialised -O3']} | {row['spills -O3']} |")
    return any(row["refuted"] or row["no answer"] for row in table.values())


if __name__ == "__main__":
    sys.exit(main())
