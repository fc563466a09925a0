#!/usr/bin/env python3
"""The checker's estimate of registers beside ptxas: registers.py WGRUN SCRIPT...

For each kernel of the scripts: the estimate, what ptxas uses when it may take 255, and the least that it can do with:
without spills, and without more C75xx notes than with 255. setmaxnreg and the limits at entry are taken out of the
text, so that the role that needs most decides. Prints a table, and how far the estimate is from the two.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

most = 255


def free_of_limits(ptx):
    """The text without what fixes the registers of a role or of the kernel."""
    ptx = re.sub(r"(?m)^.*setmaxnreg.*$", "", ptx)
    return re.sub(r"\.(maxntid|minnctapersm)\s+[0-9, ]+", "", ptx)


def assembled(path, limit):
    """Registers, bytes of spills and notes; None where ptxas gives up."""
    run = subprocess.run(
        ["ptxas", "-v", "-arch=sm_90a", f"--maxrregcount={limit}", path, "-o", os.devnull], capture_output=True, text=True
    )
    said = run.stdout + run.stderr
    used = re.search(r"Used (\d+) registers", said)
    if run.returncode != 0 or used is None:
        return None
    return int(used[1]), int(re.search(r"(\d+) bytes spill stores", said)[1]), len(re.findall(r"\(C75\d\d\)", said))


def measured(ptx):
    """What ptxas uses, and the least that it can do with."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        used, _, notes = assembled(file.name, most)

        def is_enough(limit):
            result = assembled(file.name, limit)
            return result is not None and result[1] == 0 and result[2] <= notes

        low, high = 16, used  # ptxas takes no limit below 16
        while low < high:
            middle = (low + high) // 2
            if is_enough(middle):
                high = middle
            else:
                low = middle + 1
    return used, high


def kernels(wgrun, script):
    """Name, estimate and PTX of each kernel."""
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="")

    def say(*arguments):
        return subprocess.run([wgrun, *arguments, script], capture_output=True, text=True, env=environment).stdout

    checked = json.loads(say("check", "--assemble", "--json"))["assembly"]
    texts = [text for text in re.split(r"(?m)^(?=\.version)", say("ptx")) if ".entry" in text]
    if len(texts) != len(checked):
        sys.exit(f"{script}: {len(texts)} texts of {len(checked)} kernels")
    return [(report["kernel"], report["estimated"], text) for report, text in zip(checked, texts)]


def row(name, differences):
    return f"| {name} | {statistics.median(differences):+.0f} | {min(differences):+} | {max(differences):+} |"


def main():
    wgrun, *scripts = sys.argv[1:]
    seen, against_least, against_used = set(), [], []
    print("| kernel | estimate | least | used |\n|---|---|---|---|")
    for script in scripts:
        for name, estimate, text in kernels(wgrun, script):
            # Kernels whose code is the same count once, wherever in the script they stand.
            text = free_of_limits(text)
            code = re.sub(r"(?m)^\s*//.*$", "", text)
            if code in seen:
                continue
            seen.add(code)
            used, least = measured(text)
            against_least.append(estimate - least)
            against_used.append(estimate - used)
            print(f"| {os.path.basename(script)}: {name} | {estimate} | {least} | {used} |", flush=True)
    print(f"\n{len(seen)} kernels\n\n| the estimate minus | median | min | max |\n|---|---|---|---|")
    print(row("the least that ptxas can do with", against_least))
    print(row("what it uses when it may take 255", against_used))


if __name__ == "__main__":
    main()
