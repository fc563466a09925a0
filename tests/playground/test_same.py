#!/usr/bin/env python3
"""The playground says what the tool says: test_same.py BUILD [PATTERN] compares the JSON of `wgrun check` of scripts of tests/rules, of all scripts/ and of
PTX texts, the texts that ptx, cuda, lua, explain, help and layout print, and files that commands write. Ends with 77 without a playground or node."""

import fnmatch
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import machine

RULES = machine.ROOT / "tests" / "rules"
OTHERS = {"tune.lua"}  # searches with processes of its own


def checks():
    """(name, words, files), from the texts of the tree."""
    kit = (RULES / "kit.lua").read_text()
    for file in sorted(RULES.glob("*/*_excerpt.lua")) + sorted(RULES.glob("WG-RACE-04/bad_*.lua")):
        name = f"rules/{file.parent.name}/{file.name}"
        yield name, ["check", "--json", "--budget", "1", name], {name: file.read_text(), "rules/kit.lua": kit}
    for file in sorted((machine.ROOT / "scripts").rglob("*.lua")):
        if file.name in OTHERS:
            continue
        yield file.name, ["check", "--json", "--budget", "1", file.name], {file.name: file.read_text()}
    for file in sorted((machine.ROOT / "tests" / "ptx").glob("*.ptx")):
        yield file.name, ["check", "--json", "--budget", "1", file.name], {file.name: file.read_text()}


def others():
    scripts = machine.ROOT / "scripts"
    files = {"hello.lua": (scripts / "hello_wgmma.lua").read_text(), "stages.ptx": (machine.ROOT / "tests/ptx/two_stages.ptx").read_text(),
             "gemm.lua": (machine.ROOT / "packaging/site/playground/gemm.lua").read_text(),
             "pictures.lua": (machine.ROOT / "packaging/site/playground/pictures.lua").read_text(), "bad.lua": "local x = ", "nul.lua": "a\0b"}
    for words in (["ptx", "hello.lua"], ["cuda", "hello.lua"], ["run", "--backend", "sim", "hello.lua"], ["timeline", "hello.lua"], ["timeline", "--json", "gemm.lua"],
                  ["ptx", "gemm.lua"], ["run", "--backend", "sim", "gemm.lua"], ["lua", "stages.ptx"], ["explain", "WG-FENCE-01"], ["explain", "--json", "WG-RACE-04"],
                  ["help", "wg.gemm"], ["isa", "wgmma.mma_async"], ["rules", "--json"], ["layout", "m64n16k16"], ["layout", "pictures.lua", "tile"],
                  ["layout", "--json", "(8,64):(64,1)"], ["decode", "0x4000004000010080"], ["check", "bad.lua"], ["check", "nul.lua"], ["check", "none.lua"], ["check"],
                  ["check", "--max-instructions", "1000", "gemm.lua"], ["check", "--dynamic", "--json", "hello.lua"], ["check", "--perf", "--json", "hello.lua"]):
        yield " ".join(words), words, files


def same(text, other):
    """JSON by value; else by letter."""
    try:
        return json.loads(text) == json.loads(other)
    except ValueError:
        return text == other


def main():
    build = sys.argv[1]
    pattern = sys.argv[2] if len(sys.argv) > 2 else "*"
    wasm = machine.Wasm(machine.needed(build))
    cases = [case for case in (*checks(), *others()) if fnmatch.fnmatch(case[0], pattern)]
    wrong, compared = [], 0
    with ThreadPoolExecutor(1) as pool:
        known = pool.map(lambda case: machine.native(str(Path(build) / "wgrun"), case[1], case[2]), cases)
        for (name, words, files), want in zip(cases, known):
            got = wasm.run(words, files)
            compared += 1
            if "error" in got:
                wrong.append(f"{name}: {got['error']}")
            elif got["code"] != want["code"] or not same(got["output"], want["output"]) or got["messages"] != want["messages"]:
                what = next(key for key in ("code", "output", "messages") if got[key] != want[key])
                wrong.append(f"{name}: {what}: {str(got[what])[:1500]!r}\n  here: {str(want[what])[:1500]!r}")
    wasm.close()
    for line in wrong:
        print(line)
    print(f"{compared} commands, {len(wrong)} with other answers")
    sys.exit(bool(wrong) or (pattern == "*" and compared < 150))


if __name__ == "__main__":
    main()
