"""Translates PTX texts to scripts (wgrun lua), and compares: what is found in the script and in the text, and, with
ptxas, the machine code of the script's PTX and of the text's. The directives that tell ptxas of the launch are the
script's in both, and where that is not enough to give the same code, so is what like_the_script names. Prints a line for each kernel, and fails where a script does not run, or where anything differs and
--strict is given.

    python3 translate.py WGRUN [--strict] [--no-sass] [--other] FILE|FOLDER...

Of a script's kernels (FILE.lua) the PTX is translated, and the PTX of that compared, as text up to names. --other: WGRUN_PTX
names the folder instead, if it is set."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def body(disassembled):
    """The instructions of a kernel, without addresses and encodings."""
    out = []
    for line in disassembled.splitlines():
        found = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);", line)
        if found:
            out.append(found.group(1).strip())
        label = re.match(r"\s*(\.L_x?_?\d+):", line)
        if label:
            out.append(label.group(1))
    while out and (out[-1] == "NOP" or out[-1].startswith(".L")):
        out.pop()
    text = "\n".join(out)
    # Labels are numbered through the file.
    names = {}
    text = re.sub(r"\.L_x?_?\d+", lambda m: names.setdefault(m.group(0), f"L{len(names)}"), text)
    text = re.sub(r"\$?_?_?[A-Za-z_0-9$]*(shared|smem|buf)[A-Za-z_0-9]*", "SHARED", text)
    return text.splitlines()


def without_registers(lines):
    return [re.sub(r"\b(UR|UP|R|P|B)\d+\b", r"\1", line) for line in lines]


def machine_code(ptx, folder, name):
    path, cubin = f"{folder}/{name}.ptx", f"{folder}/{name}.cubin"
    with open(path, "w") as file:
        file.write(ptx)
    made = run("ptxas", "-arch=sm_90a", path, "-o", cubin)
    if made.returncode != 0:
        return None, made.stderr
    text = run("nvdisasm", "-c", cubin).stdout
    out = {}
    for part in re.split(r"^\.text\.", text, flags=re.M)[1:]:
        out[part.split(":", 1)[0]] = body(part)
    return out, ""


HEAD = re.compile(r"\.(maxntid|reqntid|minnctapersm|maxnreg|maxnctapersm|reqnctapercluster|maxclusterrank|explicitcluster|blocksareclusters)\b[^\n.{]*")


def with_heads(text, heads):
    """The text, its entries with the directives of these heads."""
    out, at = [], 0
    for found in re.finditer(r"\.entry\s+([\w$]+)", text):
        begin = text.index("(", found.end())
        end, depth = begin, 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        brace = text.index("{", end)
        if found.group(1) in heads:
            out += [text[at:end], "\n" + heads[found.group(1)] + "\n" + HEAD.sub("", text[end:brace])]
            at = brace
    return "".join(out) + text[at:]


DECLARED = re.compile(r"(?m)^(?!.*\.extern).*\.shared\s+(?:\.align \d+ )?\.\w+ ([\w$]+)(?:\[\d+\])*;")


def entry_of(text, kernel):
    """Where an entry begins and ends."""
    begin = re.search(r"\.entry\s+" + re.escape(kernel) + r"(?![\w$])", text).start()
    end = text.find(".entry ", begin + 1)
    return begin, end if end > 0 else len(text)


def in_one_array(text, kernel, layout):
    """The text, its static variables in shared memory as bytes of one dynamic array, as scripts have them.
    layout: of the script's PTX, where each is."""
    align = re.search(r"\.extern \.shared \.align (\d+)", layout)
    if align is None:
        return text
    places = re.findall(r"// wgrun_shared\+(\d+): ([\w$.]+), ", layout)
    begin, end = entry_of(text, kernel)
    module, own = text[:text.index(".entry ")], text[begin:end]
    found = [d for part in (module, own) for d in DECLARED.finditer(part)]
    for declared, (offset, _) in zip(found, places):
        text = text.replace(declared.group(0), "")
        text = re.sub(re.escape(declared.group(1)) + r"(?:\+(\d+))?(?![\w$])",
                      lambda m: f"wgrun_shared+{int(offset) + int(m.group(1) or 0)}", text)
    places = {name: offset for offset, name in places}
    for name in re.findall(r"\.extern \.shared[^;]*?([\w$]+)\[\];", text):
        text = re.sub(r"(?<![\w$])" + re.escape(name) + r"(?![\w$\[])(?:\+(\d+))?", lambda m: f"wgrun_shared+{int(places.get('shared', 0)) + int(m.group(1) or 0)}", text)
        text = re.sub(r"\.extern \.shared[^;]*?" + re.escape(name) + r"\[\];", "", text)
    return text.replace(".address_size 64", f".address_size 64\n.extern .shared .align {align.group(1)} .b8 wgrun_shared[];", 1)


WIDE_LOAD = re.compile(r"(?m)^(\s*)(ld(?:\.\w+|::\w+)*\.([su]|b)32)\s+(%rd\d+),\s*([^;]+);")
WIDE_ADDRESS = re.compile(r"(?m)^(\s*)(tensormap\.replace[^;]*\.shared::cta[^;]*\[)(%rd\d+)(\][^;]*;)")
NUMBER_IN_LIST = re.compile(r"(?m)^(\s*)(cp\.[^;]*\{)(-?\d+)(,[^;]*;)")


def like_the_script(text, kernel, own, layout):
    """The text, with what scripts do in another way: the entry's name (ptxas schedules by it), the shared memory, bra.uni, numbers
    among the coordinates of a copy, loads and addresses in registers that are wider, and variables of the module."""
    text = in_one_array(text, kernel, layout).replace("bra.uni", "bra")
    begin, end = entry_of(text, kernel)
    body, more = text[begin:end], []

    def fresh(bits):
        more.append(f".reg .b{bits} %wgrun_{len(more)};")
        return f"%wgrun_{len(more) - 1}"

    def widened(m):
        narrow = fresh(32)
        sign = "s" if m.group(3) == "s" else "u"
        return f"{m.group(1)}{m.group(2)} {narrow}, {m.group(5)};\n cvt.{sign}64.{sign}32 {m.group(4)}, {narrow};"

    def narrowed(m):
        narrow = fresh(32)
        return f"{m.group(1)}cvt.u32.u64 {narrow}, {m.group(3)};\n {m.group(2)}{narrow}{m.group(4)}"

    def in_register(m):
        place = fresh(32)
        return f"{m.group(1)}mov.s32 {place}, {m.group(3)};\n{m.group(2)}{place}{m.group(4)}"

    body = NUMBER_IN_LIST.sub(in_register, WIDE_ADDRESS.sub(narrowed, WIDE_LOAD.sub(widened, body)))
    for name in re.findall(r"\.param \.u64 param_([\w$]+)(?=[,\n])", layout):
        if not re.search(r"(?m)^[^\n]*\.global[^\n]* " + re.escape(name) + r"\b", text[:begin]):
            continue
        def loaded(m):
            given, moved = fresh(64), fresh(64)
            return f"ld.param.u64 {given}, [{kernel}_{name}];\n add.u64 {moved}, {given}, 0;\n mov.u64 {m.group(1)}, {moved};"
        body = re.sub(r"mov\.u64\s+(%[\w$]+), " + re.escape(name) + ";", loaded, body)
        body = body.replace("\n)", f",\n .param .u64 {kernel}_{name}\n)", 1)
    at = body.index("\n{") + 2
    text = text[:begin] + body[:at] + "\n" + "\n".join(more) + body[at:] + text[end:]
    return re.sub(r"(?<![\w$])" + re.escape(kernel) + r"(?![\w$])", own, text)


def findings(wgrun, path):
    # What a rule finds it finds early.
    ran = run(wgrun, "check", "--json", "--budget", "2", path)
    try:
        told = json.loads(ran.stdout)
    except json.JSONDecodeError:
        return None, ran.stderr
    return Counter((f["rule"], f["severity"]) for f in told["findings"]), ran.stderr


def normal(ptx):
    """A text of wgrun's, without comments, its registers and labels numbered by their first use."""
    lines = [line.strip() for line in ptx.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("//", ".reg", ".version"))]
    text = "\n".join(lines)
    names = {}
    def number(m):
        kind = re.match(r"%?\D*", m.group(0)).group(0) if m.group(0).startswith("%") else "L"
        return names.setdefault(m.group(0), f"{kind}#{len(names)}")
    labels = re.findall(r"^([\w$]+):$", text, flags=re.M)
    text = re.sub(r"%(?:rd|rs|fd|r|f|p)\d+\b", number, text)
    # Several labels may be in one place.
    text = re.sub(r"^[\w$]+:\n(?=[\w$]+:$)", lambda m: m.group(0), text, flags=re.M)
    for label in labels:
        text = re.sub(r"(?<![\w$])" + re.escape(label) + r"(?![\w$])", "LABEL", text)
    return text


def of_script(wgrun, path):
    """The PTX of each kernel that a script makes."""
    printed = run(wgrun, "ptx", path).stdout
    return sorted(set(t for t in re.split(r"(?=^// [^\n]*\n\.version)", printed, flags=re.M) if t.strip()))


def same_again(wgrun, ptx, folder, sass):
    """Is the PTX of the script that a kernel of wgrun's own is translated to the kernel's?"""
    path, script = f"{folder}/own.ptx", f"{folder}/own.lua"
    with open(path, "w") as file:
        file.write(ptx)
    made = run(wgrun, "lua", path, "-o", script)
    again = run(wgrun, "ptx", script)
    if made.returncode != 0 or not again.stdout:
        return "no script: " + (made.stderr + again.stderr).strip()[:300]
    if normal(again.stdout) == normal(ptx):
        return "same"
    if not sass:
        return "other text"
    ours, theirs = machine_code(again.stdout, folder, "again")[0], machine_code(ptx, folder, "first")[0]
    if ours is None or theirs is None:
        return "other text"
    ours, theirs = list(ours.values())[0], list(theirs.values())[0]
    return "same" if ours == theirs else "same up to registers" if without_registers(ours) == without_registers(theirs) else "other code"


def translate(wgrun, path, folder, sass):
    script = f"{folder}/script.lua"
    made = run(wgrun, "lua", path, "-o", script)
    if made.returncode != 0:
        return [("?", "no script: " + made.stderr.strip()[:300])]
    names = re.findall(r'\["([^"]+)"\] = kernel_', open(script).read().rsplit("return {", 1)[1])
    told, _ = findings(wgrun, path)
    again, errors = findings(wgrun, script)
    if again is None or "ERROR" in errors:
        return [("?", "the script does not run: " + errors.strip()[:300])]
    out = []
    if told != again:
        out.append(("findings", f"text {dict(told - again)} script {dict(again - told)}"))
    if not sass:
        return out + [(name, "made") for name in names]
    printed = run(wgrun, "ptx", script)
    texts = [t for t in re.split(r"(?=^// [^\n]*\n\.version)", printed.stdout, flags=re.M) if t.strip()]
    by_name = {}
    for text in texts:
        by_name.setdefault(text[3:text.index("\n")], []).append(text)
    texts = {}
    for name in names:
        own = name if re.fullmatch(r"\w{1,256}", name) else "kernel"
        if by_name.get(own):
            texts[name] = by_name[own].pop(0)
        else:
            out.append((name, "other text: no PTX"))
    names = list(texts)
    theirs = open(path).read()
    heads, codes = {}, {}
    for name, text in texts.items():
        heads[name] = text[text.index("\n)") + 2:text.index("\n{")]
        code, error = machine_code(text, folder, "ours")
        codes[name] = (list(code.values())[0], "") if code else (None, error)
    theirs = re.sub(r"\.version 9\.[1-9]", ".version 9.0", with_heads(theirs, heads))
    every, error = machine_code(theirs, folder, "theirs")
    for name in names:
        ours, code = codes[name], every
        if code is not None and ours[0] != code.get(name):
            own = re.search(r"\.entry\s+([\w$]+)", texts[name]).group(1)
            code, error = machine_code(like_the_script(theirs, name, own, texts[name]), folder, "theirs")
            code = code and {name: code[own]}
        if code is None:
            out.append((name, "ptxas refuses the text: " + error.strip()[:200]))
        elif ours[0] is None:
            out.append((name, "ptxas refuses the script's: " + ours[1].strip()[:200]))
        elif ours[0] == code.get(name):
            out.append((name, "same"))
        elif without_registers(ours[0]) == without_registers(code.get(name, [])):
            out.append((name, "same up to registers"))
        else:
            other = code.get(name, [])
            strip = lambda lines: Counter(line.split()[1 if line.startswith("@") and len(line.split()) > 1 else 0] for line in lines if line.strip())
            near = strip(ours[0]) == strip(other)
            out.append((name, f"{'same instructions in another order' if near else 'other code'}: {len(ours[0])} and {len(other)}"))
    return out


# Nothing that ptxas makes of a text is a reason for these.
FAULTS = ("no script", "other text", "ptxas refuses the script's")


def main():
    words = sys.argv[1:]
    strict, sass = "--strict" in words, "--no-sass" not in words
    wgrun, *given = [word for word in words if not word.startswith("--")]
    if "--other" in words and os.environ.get("WGRUN_PTX"):
        given = [os.environ["WGRUN_PTX"]]
    files = [file for path in given for file in ([path] if os.path.isfile(path) else
                                                 sorted(glob.glob(f"{path}/**/*.ptx", recursive=True)))]
    if not files:
        print("skipped: no PTX in " + " ".join(given))
        return 0
    if sass and (shutil.which("ptxas") is None or shutil.which("nvdisasm") is None):
        print("no ptxas and nvdisasm: machine code is not compared")
        sass = False
    counts, bad = Counter(), 0
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            if path.endswith(".lua"):
                results = ((ptx[3:ptx.index("\n")], same_again(wgrun, ptx, folder, sass)) for ptx in of_script(wgrun, path))
            else:
                results = translate(wgrun, path, folder, sass)
            for name, what in results:
                print(f"{os.path.basename(path)}: {name[:60]}: {what}", flush=True)
                kind = what.split(":")[0]
                counts["findings differ" if name == "findings" else kind] += 1
                bad += name == "?" or kind in FAULTS or (strict and kind not in ("same", "same up to registers", "made"))
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if bad else 0


sys.exit(main())
