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
const listeners = [];
module.exports = { workspace: {
  getConfiguration: (section) => ({ get: (name) => properties[`${section}.${name}`].default }),
  onDidChangeConfiguration: (given) => { listeners.push(given); return {}; },
  change: (section) => Promise.all(listeners.map((each) => each({ affectsConfiguration: (asked) => asked === section }))),
} };
"""
CLIENT = """
const log = [];
class LanguageClient {
  constructor(...given) { this.given = given; }
  async start() {
    if (log.push(["start", ...this.given]) === 1 && process.env.FAILS) throw new Error("no such program");
  }
  async stop() { log.push(["stop"]); }
}
module.exports = { LanguageClient, log };
"""
MAIN = """
const extension = require(process.env.EXTENSION), { workspace } = require("vscode"), { log } = require("vscode-languageclient/node");
(async () => {
  await extension.activate({ subscriptions: [] }).catch((error) => log.push(["failed", error.message]));
  await workspace.change("other");
  await Promise.all([workspace.change("wgrun"), workspace.change("wgrun")]);
  await extension.deactivate();
  console.log(JSON.stringify(log));
})();
"""


class Extension(unittest.TestCase):
    def run_in_node(self, **environment):
        with tempfile.TemporaryDirectory() as folder:
            modules = Path(folder)
            (modules / "vscode-languageclient").mkdir()
            (modules / "vscode.js").write_text(VSCODE)
            (modules / "vscode-languageclient" / "node.js").write_text(CLIENT)
            done = subprocess.run(["node", "-e", MAIN], env={"NODE_PATH": folder, "EXTENSION": str(FOLDER), **environment}, executable=shutil.which("node"),
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_it_starts_the_server(self):
        log = self.run_in_node()
        self.assertEqual([entry[0] for entry in log], ["start", "stop"] * 3)
        _, _, _, server, options = log[0]
        self.assertEqual(server, {"command": "wgrun", "args": ["lsp"]})
        self.assertEqual(options["initializationOptions"], {"restricted": True, "seconds": 10, "dynamic": False, "verdicts": True})

    def test_a_command_that_is_wrong_can_be_set_right(self):
        log = self.run_in_node(FAILS="1")
        self.assertEqual([entry[0] for entry in log], ["start", "failed", *["start", "stop"] * 2])

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
