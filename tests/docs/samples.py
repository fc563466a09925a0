#!/usr/bin/env python3
"""Runs or compares every sample of the documents, as a reader would who types it in.

    samples.py WGRUN [PAGE...]           compares; exit code 1 where something differs
    samples.py WGRUN --update [PAGE...]  writes what the tool prints today into the pages' console blocks
    samples.py WGRUN --pictures          docs/pictures/*.svg beside what scripts/guide/pictures.lua draws today
    samples.py WGRUN --links             the links of every .md file of the project and of docs/llms.txt, the printed ones as well

Without a page: all of them, and the pictures.

A sample is a fenced block. Its language, and HTML comments before it, say what is done with it:

    ```lua       is run on the simulator as a script of its own
    ```console   lines that begin with `$ ` are commands, run in a copy of the tree; what follows is what they print,
                 standard error included. `...` stands for any characters of a line, alone on a line for any lines
    ```diff      with `file:` changes that file for the console blocks up to the next diff: a mistake, or its repair
    ```c, ```cpp are compiled (-fsyntax-only) with the public headers
    ```python    is run with the package of bindings/python, where its library has been built

    <!-- file: PATH -->      the block is an excerpt of that file, up to indentation; a line `...` leaves lines out
    <!-- saved as: NAME -->  the block becomes that file, for the console blocks of the page
    <!-- around: CODE -->    the block is put in the place of %% in CODE, and then run or compiled
    <!-- restored: -->       before a console block: the scripts are as they are in the tree again
    <!-- not run: REASON --> the block is listed with its reason, and nothing else is done

An indented code block, a fence without a language and a link to a file that is not there are errors.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
REMARK = "wgrun: running on the simulator: "  # and why: not the same on every machine
COMPILERS = {"c": ["cc", "-x", "c", "-std=c99"], "cpp": ["c++", "-x", "c++", "-std=c++20"]}


class Bad(Exception):
    """A sample that is not what the tool does."""


class Block:
    def __init__(self, page, line, language, directives):
        self.page, self.line, self.language, self.directives = page, line, language, directives
        self.lines = []

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page):
    """The fenced blocks of a page, with the comments that stand directly before them."""
    blocks, block, directives, comment, previous = [], None, {}, None, ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if block is not None:
            if line.strip() == "```":
                blocks.append(block)
                block = None
            else:
                block.lines.append(line)
            continue
        if comment is not None or line.startswith("<!--"):
            comment = (comment + "\n" if comment is not None else "") + line
            if "-->" in line:
                found = re.fullmatch(r"<!-- ([a-z ]+): ?(.*?) ?-->\s*", comment, re.S)
                if found:
                    directives[found[1]] = found[2]
                comment = None
            continue
        fence = re.fullmatch(r"```(\w*)", line)
        if fence:
            if not fence[1]:
                raise Bad(f"{page.relative_to(ROOT)}:{number}: a fence without a language")
            block, directives = Block(page, number + 1, fence[1], directives), {}
        elif line.startswith("    ") and not previous.strip() and not re.match(r"\s*([-*]|\d+\.) ", line):
            raise Bad(f"{page.relative_to(ROOT)}:{number}: an indented block: fence it, so that it is run")
        elif line.strip():
            directives = {}
        previous = line
    if block is not None:
        raise Bad(f"{block.place}: the block has no end")
    return blocks


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them: in small letters, and numbered where a heading is repeated."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        repeated = 0
        while anchor + (f"-{repeated}" if repeated else "") in found:
            repeated += 1
        found.add(anchor + (f"-{repeated}" if repeated else ""))
    return found


def check_links(page):
    """What is wrong with the relative links: each leads to a file, and to a heading in it."""
    wrong = []
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    text = re.sub(r"`[^`]*`", "", text)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)", text, re.M)
    for target in targets + re.findall(r"(?:src|href|srcset)=\"([^\"]+)\"", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            wrong.append(f"{page.relative_to(ROOT)}: no such file: {target}")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            wrong.append(f"{page.relative_to(ROOT)}: no such heading: {target}")
    return wrong


def matches(expected, given):
    """Whether `given` is `expected`, whose `...` stand for anything."""
    pattern = []
    for line in expected:
        if line.strip() == "...":
            pattern.append(r"(?:.*\n)*?")
        else:
            pattern.append(".*".join(map(re.escape, line.split("..."))) + r"\n")
    return re.fullmatch("".join(pattern), "".join(line + "\n" for line in given)) is not None


def excerpt_in(lines, source):
    """Whether `lines`, dedented, stand in `source`, one after the other; `...` leaves lines out."""
    parts, part = [], []
    for line in lines:
        if line.strip() in ("...", "-- ...", "// ..."):
            parts.append(part)
            part = []
        else:
            part.append(line.rstrip())
    parts.append(part)
    at = 0
    for part in parts:
        part = textwrap.dedent("\n".join(part)).strip("\n").split("\n")
        for start in range(at, len(source) - len(part) + 1):
            if textwrap.dedent("\n".join(source[start:start + len(part)])).strip("\n").split("\n") == part:
                at = start + len(part)
                break
        else:
            return False
    return True


class Session:
    """A copy of the scripts, in which the commands of a page run."""

    def __init__(self, wgrun):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wgrun-docs-"))
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        (self.folder / ".bin").mkdir()
        (self.folder / ".bin/wgrun").symlink_to(wgrun)
        self.changed = None
        self.wgrun = wgrun
        names = {"LC_ALL": "C.UTF-8", "WGRUN_CUDA": "off", "XDG_CACHE_HOME": str(self.folder / ".cache"),
                 "PATH": f"{self.folder}/.bin:{os.environ['PATH']}", "WGRUN_CACHE": str(self.folder / ".cache/wgrun"),
                 "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONDONTWRITEBYTECODE": "1"}
        library = next(iter(sorted(wgrun.parent.glob("lib/libwgrun_c.so*"))), None)
        if library:
            names["WGRUN_LIBRARY"] = str(library)
        self.library = library
        self.environment = {**os.environ, **names}
        for name in ("NO_COLOR", "COLUMNS"):
            self.environment.pop(name, None)

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, command, **options):
        """Exit code, and standard output and error together, of a shell command or of a list of words."""
        done = subprocess.run(command, shell=isinstance(command, str), cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300, check=False, **options)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def change(self, block):
        """Applies a diff block: lines with `-` go, those with `+` come, the others tell the place."""
        self.restore()
        name = block.directives["file"]
        path = self.folder / name
        if not path.exists():
            raise Bad(f"{block.place}: there is no {name}")
        self.changed = (path, path.read_text())
        source = self.changed[1].split("\n")
        old = [line[1:] for line in block.lines if line[:1] in " -"]
        new = [line[1:] for line in block.lines if line[:1] in " +"]
        places = [i for i in range(len(source)) if source[i:i + len(old)] == old]
        if len(places) != 1:
            raise Bad(f"{block.place}: these lines stand {len(places)} times in {name}")
        source[places[0]:places[0] + len(old)] = new
        path.write_text("\n".join(source))

    def restore(self):
        if self.changed:
            self.changed[0].write_text(self.changed[1])
        self.changed = None


class Page:
    def __init__(self, path, session, update):
        self.path, self.session, self.update = path, session, update
        self.counts, self.reasons, self.replacements = {}, [], []

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def excerpt(self, block):
        name = block.directives["file"]
        if not (ROOT / name).exists():
            raise Bad(f"{block.place}: there is no {name}")
        if not excerpt_in(block.lines, [line.rstrip() for line in (ROOT / name).read_text().split("\n")]):
            raise Bad(f"{block.place}: this is not what stands in {name}")
        self.count("excerpts")

    def whole(self, block):
        """The block with what is said to stand around it."""
        around = block.directives.get("around", "%%")
        if "%%" not in around:
            raise Bad(f"{block.place}: `around` has no %%")
        if around == "%%":  # its lines have the numbers that a reader's file has
            return block.text
        return around.replace("%%", "\n" + block.text, 1)

    def script(self, block):
        name = block.directives.get("saved as", "sample.lua")
        (self.session.folder / name).write_text(self.whole(block))
        code, printed = self.session.run(["wgrun", "--backend=sim", name])
        if code != 0 and "saved as" not in block.directives:
            raise Bad(f"{block.place}: exit code {code}:\n{printed}")
        self.count("run")

    def console(self, block):
        if "restored" in block.directives:
            self.session.restore()
        out, failed, i = [], [], 0
        while i < len(block.lines):
            line = block.lines[i]
            if not line.startswith("$ "):
                raise Bad(f"{block.place}: a console block begins with a command, `$ wgrun ...`")
            command, expected = line[2:], []
            out.append(line)
            i += 1
            while command.endswith("\\") and i < len(block.lines):
                command = command[:-1] + block.lines[i].lstrip()
                out.append(block.lines[i])
                i += 1
            while i < len(block.lines) and not block.lines[i].startswith("$ "):
                expected.append(block.lines[i])
                i += 1
            _, printed = self.session.run(command)
            given = [text.rstrip() for text in printed.split("\n") if not text.startswith(REMARK)]
            while given and not given[-1]:
                given.pop()
            good = matches(expected, given)
            out += expected if good else given
            if not good:
                failed.append(f"{block.place}: $ {command}\n--- the page:\n" + "\n".join(expected) +
                              "\n--- printed:\n" + "\n".join(given))
        if failed and not self.update:
            raise Bad("\n".join(failed))
        if failed:
            self.replacements.append((block.line - 1, len(block.lines), out))
        self.count("run")

    def compiled(self, block):
        compiler = COMPILERS[block.language]
        if not shutil.which(compiler[0]):
            self.reasons.append(f"no {compiler[0]} here")
            return
        includes = [f"-I{folder}" for folder in [*sorted(ROOT.glob("engine/*/include")), *sorted(ROOT.glob("bindings/*/include")),
                                                 *sorted(self.session.wgrun.parent.glob("generated*"))]]
        lua = subprocess.run(["pkg-config", "--cflags-only-I", "lua5.4"], stdout=subprocess.PIPE, check=False)
        includes += lua.stdout.decode().split() or ["-I/usr/include/lua5.4"]
        file = self.session.folder / f"sample.{block.language}"
        file.write_text(self.whole(block))
        code, printed = self.session.run([*compiler, "-fsyntax-only", *includes, str(file)])
        if code != 0:
            raise Bad(f"{block.place}: does not compile:\n{printed}")
        self.count("compiled")

    def python(self, block):
        missing = not self.session.library and "the library for Python is not built here"
        if self.session.library and re.search(b"__[at]san_init", self.session.library.read_bytes()):
            missing = "the library is built with a sanitizer, and Python is not"
        for package in re.findall(r"^import ([\w, ]+)", self.whole(block), re.M):
            for name in package.split(", "):
                if name != "wgrun" and not importlib.util.find_spec(name):
                    missing = f"there is no Python package {name} here"
        if missing:
            self.reasons.append(missing)
            return
        (self.session.folder / "sample.py").write_text(self.whole(block))
        code, printed = self.session.run([sys.executable, "sample.py"])
        if code != 0:
            raise Bad(f"{block.place}: exit code {code}:\n{printed}")
        self.count("run")

    def sample(self, block):
        if "not run" in block.directives:
            self.reasons.append(block.directives["not run"])
        elif block.language == "diff" and "file" in block.directives:
            self.session.change(block)
            self.count("changes")
        elif "file" in block.directives:
            self.excerpt(block)
        elif block.language == "lua":
            self.script(block)
        elif block.language == "console":
            self.console(block)
        elif block.language in COMPILERS:
            self.compiled(block)
        elif block.language == "python":
            self.python(block)
        else:
            raise Bad(f"{block.place}: a `{block.language}` block is no sample that can be run: say <!-- not run: why -->")

    def check(self):
        """What is wrong with the page, one text a sample."""
        wrong = check_links(self.path)
        try:
            blocks = blocks_of(self.path)
        except Bad as error:
            return [*wrong, str(error)]
        for block in blocks:
            try:
                self.sample(block)
            except Bad as error:
                wrong.append(str(error))
            except subprocess.TimeoutExpired as error:
                wrong.append(f"{block.place}: {error}")
        if self.replacements:
            lines = self.path.read_text().split("\n")
            for start, length, new in reversed(self.replacements):
                lines[start:start + length] = new
            self.path.write_text("\n".join(lines))
        return wrong

    def summary(self):
        parts = [f"{count} {what}" for what, count in self.counts.items()]
        if self.reasons:
            parts.append(f"{len(self.reasons)} not run ({'; '.join(sorted(set(self.reasons)))})")
        return f"{self.path.relative_to(ROOT)}: " + (", ".join(parts) or "no samples")


def pictures(session, update):
    """docs/pictures beside what is drawn today."""
    code, printed = session.run(["wgrun", "--backend=sim", "scripts/guide/pictures.lua", "new"])
    if code != 0:
        return [printed]
    kept, new = ROOT / "docs/pictures", session.folder / "new"
    if update:
        for file in kept.glob("*.svg"):
            file.unlink()
        for file in new.glob("*.svg"):
            shutil.copy(file, kept / file.name)
    wrong = [f"docs/pictures/{name} is not what scripts/guide/pictures.lua draws today"
             for name in sorted({f.name for f in [*kept.glob("*.svg"), *new.glob("*.svg")]})
             if not (kept / name).exists() or not (new / name).exists() or
             (kept / name).read_bytes() != (new / name).read_bytes()]
    pages = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    return wrong + [f"docs/pictures/{f.name} stands on no page" for f in sorted(new.glob("*.svg")) if f.name not in pages]


def markdown_files():
    """Every page of the project: what git tracks, or, without git, what is not in a build folder."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md", "docs/llms.txt"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [file for file in (ROOT / name for name in listed.stdout.splitlines()) if file.exists()]
    return [file for file in ROOT.rglob("*.md") if not any(part.startswith(("build", ".")) for part in file.relative_to(ROOT).parts)]


def main(arguments):
    if "--links" in arguments:
        pages = markdown_files()
        wrong = [text for page in sorted(pages) for text in check_links(page)]
        print(*wrong, f"the links of {len(pages)} pages, {len(wrong)} wrong", sep="\n")
        return 1 if wrong or len(pages) < 20 else 0
    update = "--update" in arguments
    wgrun, *rest = [word for word in arguments if word != "--update"]
    wgrun = pathlib.Path(wgrun).resolve()
    wrong, reasons = [], []
    if not rest:
        # What the tool prints has tests of its own: golden, and docs/reference.sh.
        pages = [page for page in sorted((ROOT / "docs").rglob("*.md"))
                 if page.name not in ("rules.md", "api.md") and page.parent.name != "api"]
        rest = ["--pictures", str(ROOT / "README.md"), *map(str, pages)]
    if "--pictures" in rest:
        rest.remove("--pictures")
        session = Session(wgrun)
        wrong += pictures(session, update)
        session.close()
    for name in rest:
        session = Session(wgrun)
        page = Page(pathlib.Path(name).resolve(), session, update)
        wrong += page.check()
        session.close()
        print(page.summary())
        reasons += page.reasons
    print(f"{len(reasons)} samples are not run")
    for text in wrong:
        print(text)
    if wrong and not update:
        print("tests/docs/samples.py WGRUN --update writes what is printed and drawn today: read the difference")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
