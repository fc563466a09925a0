#!/usr/bin/env python3
"""The annotations that the build has made, as the Lua language server reads them: annotations.py META

It has nothing to say of the scripts, and of annotations/mistakes.lua what is written there. Exit code 77 where there is no
lua-language-server.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = {"runtime.version": "Lua 5.4", "workspace.library": sys.argv[1:], "workspace.checkThirdParty": False,
          "diagnostics.disable": ["unused-local"]}


def warnings(server, folder):
    """(file, line) -> codes, and the messages, of the Lua files below `folder`."""
    with tempfile.TemporaryDirectory() as log:
        subprocess.run([server, "--check", folder, "--checklevel=Warning", "--check_format=json", f"--logpath={log}"],
                       check=False, capture_output=True, timeout=300)
        report = pathlib.Path(log) / "check.json"
        if not report.exists():
            sys.exit("the server has written no report")
        found, words = {}, []
        for uri, list_ in (json.loads(report.read_text()) or {}).items():
            for one in list_:
                place = pathlib.Path(uri.removeprefix("file://")).name, one["range"]["start"]["line"] + 1
                found.setdefault(place, set()).add(one["code"])
                words.append(f"{place[0]}:{place[1]}: {one['code']}: {one['message'].splitlines()[0]}")
        return found, words


def main():
    server = shutil.which("lua-language-server")
    if server is None:
        print("skipped: there is no lua-language-server")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scripts = shutil.copytree(ROOT / "scripts", pathlib.Path(folder) / "scripts")
        (scripts / ".luarc.json").write_text(json.dumps(CONFIG))
        wrong = warnings(server, scripts)[1]
    with tempfile.TemporaryDirectory() as folder:
        text = (ROOT / "tests/docs/annotations/mistakes.lua").read_text()
        (pathlib.Path(folder) / "mistakes.lua").write_text(text)
        (pathlib.Path(folder) / ".luarc.json").write_text(json.dumps(CONFIG))
        found, words = warnings(server, folder)
        for number, line in enumerate(text.splitlines(), 1):
            expected = set(re.findall(r"--> ([a-z-]+)", line))
            got = found.get(("mistakes.lua", number), set())
            if got != expected:
                wrong.append(f"mistakes.lua:{number}: {expected or 'no warning'} expected, {got or 'no warning'} given")
                wrong += [word for word in words if word.startswith(f"mistakes.lua:{number}:")]
    print(*wrong, f"{len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
