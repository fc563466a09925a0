#!/usr/bin/env python3
"""What samples.py must notice: each fault of a page, on pages and with a tool that are made up here."""

import pathlib
import tempfile
import unittest

import samples

TOOL = """#!/bin/sh
[ "$1" = "--backend=sim" ] && shift
case $1 in
    *.lua) grep -q fault "$1" && { echo "$1:1: error"; exit 1; }; echo "ran $1"; exit 0 ;;
esac
echo "wgrun: running on the simulator: because"
echo "one $1"
echo "two 12.5 us"
"""


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        samples.ROOT = root = pathlib.Path(self.folder.name)
        (root / "scripts").mkdir()
        (root / "scripts/a.lua").write_text("local a = 1\nif a then\n  local b = 2\nend\nreturn a\n")
        (root / "wgrun").write_text(TOOL)
        (root / "wgrun").chmod(0o755)

    def tearDown(self):
        self.folder.cleanup()

    def check(self, text, update=False):
        """What is wrong with a page of that text, and the page."""
        path = samples.ROOT / "page.md"
        path.write_text(text)
        session = samples.Session(samples.ROOT / "wgrun")
        page = samples.Page(path, session, update)
        wrong = page.check()
        session.close()
        return wrong, page

    def good(self, text):
        wrong, page = self.check(text)
        self.assertEqual(wrong, [])
        return page

    def bad(self, text, words):
        wrong, _ = self.check(text)
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn(words, wrong[0])

    def test_console(self):
        self.good("```console\n$ wgrun x\none x\ntwo 12.5 us\n```\n")
        self.good("```console\n$ wgrun x\none x\ntwo ... us\n$ wgrun y\n...\n```\n")
        self.bad("```console\n$ wgrun x\none x\ntwo 13.5 us\n```\n", "two 12.5 us")
        self.bad("```console\n$ wgrun x\none x\n```\n", "two 12.5 us")
        self.bad("```console\none x\n```\n", "begins with a command")

    def test_update(self):
        wrong, page = self.check("before\n```console\n$ wgrun x\nold\n```\nafter\n", update=True)
        self.assertEqual(wrong, [])
        self.assertEqual(page.path.read_text(), "before\n```console\n$ wgrun x\none x\ntwo 12.5 us\n```\nafter\n")

    def test_lua(self):
        self.good("```lua\nlocal x = 1\n```\n")
        self.bad("```lua\nfault\n```\n", "exit code 1")
        self.bad("<!-- around: fault %% -->\n```lua\nlocal x = 1\n```\n", "exit code 1")
        self.good("<!-- saved as: b.lua -->\n```lua\nfault\n```\n```console\n$ wgrun b.lua\nb.lua:1: error\n```\n")

    def test_excerpts(self):
        self.good("<!-- file: scripts/a.lua -->\n```lua\nlocal b = 2\n```\n")
        self.good("<!-- file: scripts/a.lua -->\n```lua\nlocal a = 1\n...\nreturn a\n```\n")
        self.bad("<!-- file: scripts/a.lua -->\n```lua\nlocal b = 3\n```\n", "not what stands in scripts/a.lua")
        self.bad("<!-- file: scripts/b.lua -->\n```lua\nlocal b = 3\n```\n", "there is no scripts/b.lua")

    def test_changes(self):
        change = "<!-- file: scripts/a.lua -->\n```diff\n-  local b = 2\n+  fault\n```\n"
        run = "```console\n$ wgrun scripts/a.lua\n%s\n```\n"
        self.good(change + run % "scripts/a.lua:1: error")
        self.good(change + "<!-- restored: -->\n" + run % "ran scripts/a.lua")
        self.bad(change.replace("b = 2", "b = 3"), "stand 0 times")

    def test_marks(self):
        self.bad("```text\nx\n```\n", "no sample that can be run")
        self.bad("```\nx\n```\n", "without a language")
        self.bad("text\n\n    wgrun x\n", "an indented block")
        self.bad("```lua\nx\n", "has no end")
        page = self.good("<!-- not run: needs a GPU -->\n```sh\nx\n```\n")
        self.assertIn("1 not run (needs a GPU)", page.summary())

    def test_links(self):
        self.good("# A head\n[a](scripts/a.lua) [b](#a-head) [c](page.md#a-head) [d](https://example.org/x)\n")
        self.bad("[a](scripts/b.lua)\n", "no such file")
        self.good("# A `head_L2`: of (two) words\n[a](#a-head_l2-of-two-words)\n")
        self.good("# A\n## B\n## B\n[a](#b-1)\n")
        self.bad("# A head\n[a](#another)\n", "no such heading")
        self.bad("# A head\n[a](#A-head)\n", "no such heading")
        self.bad("# A\n## B\n[a](#b-1)\n", "no such heading")
        self.bad("<img src=\"b.svg\" alt=\"\">\n", "no such file")


if __name__ == "__main__":
    unittest.main()
