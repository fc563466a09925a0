#!/usr/bin/env python3
"""Texts that are no kernels: test_hostile.py BUILD. Each ends with a message, whatever it is, and the next command finds nothing of it."""

import sys

import machine

WG = 'local wg = require "wgrun"\n'
LIMITS = ["--max-instructions", "100000000", "--max-memory", "256"] # limits of time need a thread; the page ends the worker
# name: (file, text, words before the file, a word of what is said)
TEXTS = {
    "a NUL": ("a.lua", "local a = \0 1", ["check", "--json"], "unexpected symbol"),
    "a megabyte of one line": ("a.lua", "x = " + "1 + " * 250_000 + "1", ["check", "--json"], "findings"),
    "a megabyte of lines": ("a.lua", "local x = 1\n" * 100 + "x = x + 1\n" * 100_000, ["check", "--json", *LIMITS], "kernels"),
    "a syntax error": ("a.lua", "local function (", ["check", "--json"], "expected"),
    "an endless loop": ("a.lua", "while true do end", ["check", "--json", *LIMITS], "instructions"),
    "an endless loop that catches errors": ("a.lua", "while true do pcall(function() while true do end end) end", ["check", "--json", *LIMITS], "instructions"),
    "an endless pattern": ("a.lua", 'print(("a"):rep(100):find(("a?"):rep(40) .. ("a"):rep(40)))', ["run", *LIMITS], ""),
    "memory of Lua": ("a.lua", "local t = {} while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end", ["run", *LIMITS], "memory"),
    "memory of tensors": ("a.lua", WG + "t = {} for i = 1, 100 do t[i] = wg.zeros('f32', { 1 << 26 }) end", ["run"], "memory"),
    "one tensor that is too large": ("a.lua", WG + "wg.zeros('f32', { 1 << 40 })", ["run"], ""),
    "deep recursion": ("a.lua", "local function f(n) return 1 + f(n + 1) end f(0)", ["run"], "overflow"),
    "deep nesting": ("a.lua", "x = " + "(" * 100_000 + "1" + ")" * 100_000, ["check", "--json"], "too many"),
    "deep recursion through C": ("a.lua", "local function f() return pcall(f) end print(f())", ["run"], ""),
    "PTX of garbage": ("a.ptx", ".version 8.0\n" + "{" * 100_000, ["check", "--json"], "findings"),
    "PTX of a megabyte": ("a.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n" + "add.u32 %r1, %r1, 1;\n" * 50_000 + "ret;\n}\n", ["check", "--json"], "findings"),
    "bytecode": ("a.lua", "\x1bLua", ["run", "--restricted"], ""),
    "a GPU": ("a.lua", WG + 'local k = wg.kernel("k", { threads = 32 }, function(k) end) k:run { grid = { 1 }, args = {} }', ["run", "--backend", "gpu"], "libcuda"),
    "nothing": ("a.lua", "", ["check", "--json"], "kernels"),
}


def main():
    wasm = machine.Wasm(machine.needed(sys.argv[1]))
    wrong = []
    for name, (file, text, words, said) in TEXTS.items():
        got = wasm.run([*words, file], {file: text})
        everything = got.get("output", "") + got.get("messages", "") + got.get("error", "")
        print(f"{name}: {got.get('code', 'ended')} in {got['seconds']:.2f} s: {everything.strip()[:160]!r}")
        if "error" in got:
            wrong.append(f"{name}: {got['error']}")
        elif said not in everything:
            wrong.append(f"{name}: nothing of {said}")
        if got["seconds"] > 20:
            wrong.append(f"{name}: {got['seconds']} s")
    clean = wasm.run(["check", "hello.lua"], {"hello.lua": (machine.ROOT / "scripts/hello_wgmma.lua").read_text()})
    if clean.get("code") != 0 or "0 errors" not in clean["output"]:
        wrong.append(f"after all: {clean}")
    wasm.close()
    print(*wrong, f"{len(TEXTS)} texts, {len(wrong)} faults", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
