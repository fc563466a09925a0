"""What the tool does with a text or a name, as functions whose results are JSON: the tools that agents and editors get."""

from __future__ import annotations

import functools
from typing import Any, Optional

from . import _tool
from ._errors import LimitError, refuse
from ._report import check as check_report

#: Characters of what a script prints that are handed on.
OUTPUT = 20_000


def _value(ran: _tool.Ran) -> Any:
    """The JSON of a command that needs no text; where there is none, what it remarked is raised as an ArgumentError."""
    return ran.json() if ran.out.startswith(("{", "[")) else refuse(ran.err.strip().removeprefix("wgrun: "))


def _output(text: str) -> str:
    return text if len(text) <= OUTPUT else text[:OUTPUT] + f"\n... ({len(text) - OUTPUT} more characters)"


def check(text: str, name: str = "kernel", dynamic: bool = False, perf: bool = False, seconds: float = _tool.SECONDS) -> dict[str, Any]:
    """Checks the kernels of a Lua script of wgrun, or of a PTX text, without a GPU: findings with rule, line and fix.

    `outcome` is "wrong", "not checked" (something could not be looked at: this is no good news), "undecided" (nothing is wrong, not
    everything is proved) or "proved"; `reasons` says why. dynamic: also runs the script on the simulator, in several schedules.
    perf: also says what is slow. seconds: how long the script may run.
    """
    return check_report(text, name, dynamic=dynamic, perf=perf, seconds=seconds).summary()


def verdicts(text: str, name: str = "kernel", block: Optional[list[int]] = None, cluster: Optional[list[int]] = None,
             grid: Optional[list[int]] = None, assume: Optional[dict[str, int]] = None, budget: Optional[float] = None) -> dict[str, Any]:
    """What is proved of each kernel for all launches, property by property (no deadlock, no races, bounds, ...).

    What a launch would say can be given: block, cluster and grid (threads or CTAs in x, y, z), assume (parameters: {"n": 64}).
    budget: seconds for the proofs of a kernel.
    """
    report = check_report(text, name, block=block, cluster=cluster, grid=grid, assume=assume, budget=budget)
    return {"outcome": report.outcome, "reasons": report.reasons, "version": report.json["version"], "inputs": report.json["inputs"],
            "kernels": [{"name": kernel["name"], "verdicts": kernel["verdicts"]} for kernel in report.kernels]}


def fix(text: str, name: str = "kernel", seconds: float = _tool.SECONDS) -> dict[str, Any]:
    """Repairs what added calls, instructions or another option can repair: `text` is the repaired text, `diff` what was changed.

    The repaired text is checked anew: `outcome` is of it. Where an error would be left, `text` is as it was given; warnings may be left, and
    `outcome` is then "wrong" all the same. `written`: whether `text` differs from what was given.
    """
    with _tool.Text(text, name) as file:
        changed = file.run("check", "--fix", "--json", seconds=seconds).json()
        shown = file.read()
    report = check_report(shown, name, seconds=seconds)
    kept = {key: changed[key] for key in ("inserted", "set", "written", "problem") if key in changed}
    return {"outcome": report.outcome, "reasons": report.reasons, "text": shown, "diff": _diff(text, shown, name), **kept,
            "findings": report.findings, "version": report.json["version"], "inputs": report.json["inputs"]}


def _diff(old: str, new: str, name: str) -> str:
    import difflib
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name))


def simulate(text: str, name: str = "kernel.lua", seconds: float = _tool.SECONDS) -> dict[str, Any]:
    """Runs a Lua script with its kernels on the simulator, which reports races and hangs: `output` is what it printed.

    `ended`: whether it ran to its end without an error.
    """
    with _tool.Text(text, name) as file:
        try:
            ran = file.run("run", "--json", "--backend=sim", seconds=seconds)
        except LimitError as error:
            return {"ended": False, "exit_code": None, "output": str(error), "findings": []}
        return {"ended": ran.code == 0, "exit_code": ran.code, "output": _output(ran.err), "findings": ran.json()["findings"]}


def timeline(text: str, name: str = "kernel.lua", kernel: Optional[str] = None, launch: int = 1,
             seconds: float = _tool.SECONDS) -> dict[str, Any]:
    """When the warps of a launch of a Lua script work and wait, by a model of an H200, and what limits the kernel.

    kernel: its name, where the script launches several; launch: which launch of the script.
    """
    words = ["timeline", "--color=never", f"--launch={launch}", *([f"--kernel={kernel}"] if kernel else [])]
    with _tool.Text(text, name) as file:
        given = file.run(*words, "--json", seconds=seconds)
        value = _value(given)
        if given.code != 0:
            return dict(value)
        picture = file.run(*words, seconds=seconds).out
    return {**{key: value[key] for key in value if key not in ("rows", "spans")}, "picture": picture}


def explain(rule: str) -> dict[str, Any]:
    """What a rule of the checker says (WG-FENCE-01), with an example that breaks it and one that keeps it; also a code of ptxas (C7510)
    or of CUDA, or a word: deadlock, multicast."""
    return dict(_value(_tool.run(["explain", "--json", "--", rule])))


def forms(instruction: str, n: Optional[int] = None, dtype: Optional[str] = None) -> list[dict[str, Any]]:
    """The legal forms of a PTX instruction, or of all whose names begin so (wgmma, cp.async): qualifiers, operands, section of the ISA.

    n and dtype: only forms with this N, or with this type.
    """
    words = [*([f"--n={n}"] if n is not None else []), *([f"--dtype={dtype}"] if dtype else [])]
    return list(_value(_tool.run(["isa", "--json", *words, "--", instruction])))


def help(topic: str = "") -> dict[str, Any]:  # noqa: A001: the tool's name
    """Describes a function, type, method or instruction of wgrun's Lua library (wg.tile, k:mma), or finds what words are about ("bank
    conflict"). Without a topic: the names of all functions and types, with a summary each."""
    if not topic:
        return {"names": {one["name"]: one["summary"] for one in all_help()}}
    ran = _tool.run(["help", "--json", "--", topic])
    if ran.out.startswith("{"):
        return dict(ran.json())
    if ran.code == 0 and ran.out.startswith("["):
        return {"names": {one["name"]: one["summary"] for one in ran.json()}}
    words = _tool.run(["help", "--", topic])
    return {"about": words.out} if words.code == 0 else refuse(words.err.strip().removeprefix("wgrun: "))


@functools.lru_cache(maxsize=None)
def all_help() -> list[dict[str, Any]]:
    """Every entry of the reference."""
    return list(_tool.run(["help", "--json"]).json())


def layout(expression: str, dtype: Optional[str] = None, view: str = "auto") -> dict[str, Any]:
    """A layout, "(8,64):(64,1)" or "Sw<3,4,3> o (8,64):(64,1)", or a product, "m64n16k16": its shape, and a picture as text.

    view: what the picture shows: auto, offsets, bytes, chunks, banks, conflicts, overview.
    """
    words = ["layout", *([f"--dtype={dtype}"] if dtype else []), "--color=never"]
    value = dict(_value(_tool.run([*words, "--json", "--", expression])))
    return {**value, "picture": _output(_tool.run([*words, f"--view={view}", "--", expression]).out)}


def decode(descriptor: str) -> dict[str, Any]:
    """The fields of a 64-bit matrix descriptor of wgmma, "0x4000004000010080": start, LBO and SBO in bytes, swizzle."""
    return dict(_value(_tool.run(["decode", "--json", "--", descriptor])))


#: By name, in the order in which they are listed.
ALL = {function.__name__: function
       for function in (check, explain, verdicts, layout, decode, forms, help, simulate, timeline, fix)}
