"""python3 -m wgrun check, and what stands on it: the hook for pre-commit and the GitHub Action. Where pre-commit is not installed, the
hook's own command is run alone."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BROKEN = "tests/ptx/missing_fence.ptx"


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, *command, folder=None, **environment):
        done = subprocess.run(list(map(str, command)), cwd=folder or self.folder, env={**os.environ, **environment}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200, check=False)
        return done.returncode, done.stdout

    def check(self, *words):
        return self.run_in(sys.executable, "-m", "wgrun", "check", *words)

    def test_good_and_bad_files(self):
        (self.folder / "good.lua").write_text('return require "wgrun".kernel("k", {}, function() end)\n')
        (self.folder / "other.lua").write_text('error "is not run"\n')
        self.assertEqual(self.check("."), (0, "good.lua: proved\n"))
        shutil.copy(ROOT / BROKEN, self.folder / "bad.ptx")
        code, printed = self.check(".")
        self.assertEqual(code, 1)
        self.assertIn("bad.ptx:32: error: ", printed)
        self.assertIn("bad.ptx: wrong\n", printed)
        self.assertEqual(self.check("none.ptx")[0], 2)

    def test_undecided_and_not_checked(self):
        shutil.copy(ROOT / "tests/ptx/two_stages.ptx", self.folder / "open.ptx")
        self.assertEqual(self.check("open.ptx")[0], 0)
        self.assertEqual(self.check("--strict", "open.ptx")[0], 1)
        (self.folder / "none.lua").write_text('require "wgrun"\n')
        self.assertEqual(self.check("none.lua"), (1, "none.lua: not checked\n  there is no kernel in it\n"))
        (self.folder / "reads.lua").write_text('require "wgrun"\nreturn dofile "other.lua"\n')
        (self.folder / "other.lua").write_text('return require "wgrun".kernel("k", {}, function() end)\n')
        self.assertEqual(self.check("reads.lua")[0], 1)
        self.assertEqual(self.check("--unrestricted", "reads.lua"), (0, "reads.lua: proved\n"))

    def test_annotations_and_sarif(self):
        for name in ("a.ptx", "b.ptx"):
            shutil.copy(ROOT / BROKEN, self.folder / name)
        code, printed = self.check("--github", "--sarif", "out.sarif", "a.ptx", "b.ptx")
        self.assertEqual(code, 1)
        self.assertIn("::error file=b.ptx,line=32,title=WG-FENCE-01::an accumulator", printed)
        (run,) = json.loads((self.folder / "out.sarif").read_text())["runs"]
        self.assertEqual([rule["id"] for rule in run["tool"]["driver"]["rules"]], ["WG-FENCE-01"])
        places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]]
        self.assertEqual((places, [one["ruleIndex"] for one in run["results"]]), (["a.ptx", "b.ptx"], [0, 0]))

    def step(self, name, **given):
        """Runs the command of a step of the action, as GitHub would."""
        text = (ROOT / "action.yml").read_text().split(f"id: {name}\n", 1)[1].split("run: |\n", 1)[1].split("\n    - ", 1)[0]
        return self.run_in("bash", "-e", "-c", textwrap.dedent(text), ACTION=str(ROOT), GITHUB_OUTPUT=str(self.folder / "output"), **given)

    def test_the_action(self):
        code, printed = self.step("tool", TOOL="/my/wgrun")
        self.assertEqual(code, 0, printed)
        self.assertRegex((self.folder / "output").read_text(), r"\Apath=/my/wgrun\nsources=[0-9a-f]{40}\n\Z")
        (self.folder / "output").unlink()
        shutil.copy(ROOT / BROKEN, self.folder / "a.ptx")
        code, printed = self.step("check", TOOL=os.environ["WGRUN_TOOL"], FILES="a.ptx", OPTIONS="--seconds 20",
                                  RUNNER_TEMP=str(self.folder))
        self.assertEqual(code, 1, printed)
        self.assertIn("::error file=a.ptx,line=32", printed)
        sarif = (self.folder / "output").read_text().strip().removeprefix("sarif=")
        self.assertTrue(json.loads(Path(sarif).read_text())["runs"][0]["results"])

    def test_the_hook(self):
        hook = self.folder / "hook"
        shutil.copytree(ROOT / "bindings/python/wgrun", hook / "bindings/python/wgrun", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "bindings/python/wgrun-check", hook / "bindings/python")
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hook)
        user = self.folder / "user"
        user.mkdir()
        shutil.copy(ROOT / BROKEN, user / "a.ptx")
        if importlib.util.find_spec("pre_commit") is None or shutil.which("git") is None:
            code, printed = self.run_in(hook / "bindings/python/wgrun-check", "a.ptx", folder=user)
        else:
            names = {"HOME": str(self.folder), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                     "GIT_COMMITTER_EMAIL": "a@b"}
            for folder in (hook, user):
                for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "files"]):
                    self.assertEqual(self.run_in("git", *words, folder=folder, **names)[0], 0)
            code, printed = self.run_in(sys.executable, "-m", "pre_commit", "try-repo", hook, "wgrun-check", "--all-files", folder=user,
                                        **names)
        self.assertEqual(code, 1, printed)
        self.assertIn("a.ptx: wrong", printed)


if __name__ == "__main__":
    unittest.main()
