"""The playground's wgrun under node, a process that takes command after command; and the tool of this machine, in the same words."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NODE = shutil.which("node") or shutil.which("nodejs")


def needed(build):
    """Ends with 77 where there is no playground, or nothing that runs it."""
    folder = Path(build) / "playground"
    for thing, there in (("node", NODE), (f"{folder}/wgrun.wasm (make playground)", (folder / "wgrun.wasm").exists())):
        if not there:
            print(f"skipped: no {thing}")
            sys.exit(77)
    return folder


class Wasm:
    def __init__(self, folder):
        self.process = subprocess.Popen([NODE, "--stack-size=4000", str(HERE / "batch.js"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, words, files):
        self.process.stdin.write(json.dumps({"words": words, "files": files}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"node has ended with {self.process.wait()}: {words}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def native(tool, words, files):
    """The same of this machine's tool: code, output, messages."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([tool, *words], cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    return {"code": done.returncode, "output": done.stdout, "messages": done.stderr}
