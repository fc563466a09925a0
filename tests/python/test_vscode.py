"""The extension for Visual Studio Code, run by node with stand-ins for the editor and its client library: which server it starts, with
which settings. Skipped where there is no node."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "editors" / "vscode"
VSCODE = """
const properties = require(process.env.EXTENSION + "/package.json").contributes.configuration.properties;
let listener;
module.exports = { workspace: {
  getConfiguration: (section) => ({ get: (name) => properties[`${section}.${name}`].default }),
  onDidChangeConfiguration: (given) => { listener = given; return {}; },
  change: (section) => listener({ affectsConfiguration: (asked) => asked === section }),
} };
"""
CLIENT = """
const log = [];
class LanguageClient {
  constructor(...given) { this.given = given; }
  async start() { log.push(["start", ...this.given]); }
  async stop() { log.push(["stop"]); }
}
module.exports = { LanguageClient, log };
"""
MAIN = """
const extension = require(process.env.EXTENSION), { workspace } = require("vscode"), { log } = require("vscode-languageclient/node");
(async () => {
  await extension.activate({ subscriptions: [] });
  await workspace.change("other");
  await workspace.change("wgrun");
  await extension.deactivate();
  console.log(JSON.stringify(log));
})();
"""


class Extension(unittest.TestCase):
    def test_it_starts_the_server(self):
        with tempfile.TemporaryDirectory() as folder:
            modules = Path(folder)
            (modules / "vscode-languageclient").mkdir()
            (modules / "vscode.js").write_text(VSCODE)
            (modules / "vscode-languageclient" / "node.js").write_text(CLIENT)
            done = subprocess.run(["node", "-e", MAIN], env={"NODE_PATH": folder, "EXTENSION": str(FOLDER)}, executable=shutil.which("node"),
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        log = json.loads(done.stdout)
        self.assertEqual([entry[0] for entry in log], ["start", "stop", "start", "stop"])
        _, _, _, server, options = log[0]
        self.assertEqual(server, {"command": "wgrun", "args": ["lsp"]})
        self.assertEqual(options["initializationOptions"], {"restricted": True, "seconds": 10, "dynamic": False, "verdicts": True})

    def test_its_files_are_there(self):
        described = json.loads((FOLDER / "package.json").read_text())
        for name in [described["main"], *(language["configuration"] for language in described["contributes"]["languages"])]:
            self.assertTrue((FOLDER / name).exists(), name)
        json.loads((FOLDER / "ptx.json").read_text())


if __name__ == "__main__":
    if shutil.which("node") is None:
        print("skipped: there is no node")
        sys.exit(77)
    unittest.main()
