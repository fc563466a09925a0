"""python3 -m wgrun mcp, by the SDK's own client over standard input and output. Skipped where the SDK is not installed."""

import os
import sys
import unittest
from pathlib import Path

try:
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client
except ImportError as error:
    print(f"skipped: {sys.executable}: {error} (pip install 'mcp>=2')")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
BROKEN = (ROOT / "tests/ptx/missing_fence.ptx").read_text()
SCRIPT = (ROOT / "scripts/hello_wgmma.lua").read_text()


#: The tool finds the package by the Python that it runs.
SERVER = StdioServerParameters(command=os.environ["WGRUN_TOOL"], args=["mcp"], env={**os.environ, "WGRUN_PYTHON": sys.executable})


def ask(*calls):
    """The server's answers to calls of tools, each (is an error, what it holds)."""

    async def session():
        server = StdioServerParameters(command=sys.executable, args=["-m", "wgrun", "mcp"], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            listed = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in calls]
            return listed, [(one.is_error, one.structured_content or one.content[0].text) for one in answers]

    return anyio.run(session)


#: What is asked in one session, each (tool, arguments).
CALLS = {
    "broken": ("check", {"text": BROKEN, "name": "product.ptx"}), "fixed": ("fix", {"text": BROKEN, "name": "product.ptx"}),
    "restricted": ("check", {"text": "os.execute 'true'"}), "endless": ("simulate", {"text": "while true do end", "seconds": 1}),
    "ran": ("simulate", {"text": SCRIPT}), "verdicts": ("verdicts", {"text": SCRIPT}), "timeline": ("timeline", {"text": SCRIPT}),
    "rule": ("explain", {"rule": "WG-FENCE-01"}), "method": ("help", {"topic": "k:mma"}), "names": ("help", {}),
    "about": ("help", {"topic": "bank conflict"}), "forms": ("forms", {"instruction": "wgmma.fence"}),
    "descriptor": ("decode", {"descriptor": "0x4000004000010080"}), "layout": ("layout", {"expression": "(8,64):(64,1)"}),
    "no rule": ("explain", {"rule": "WG-NONE-99"}), "no number": ("decode", {"descriptor": "zzz"}), "no text": ("check", {}),
    "no limit": ("check", {"text": "", "seconds": 1e9}), "no option": ("verdicts", {"text": SCRIPT, "assume": {"n n": 1}}),
}


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools, answers = ask(*CALLS.values())
        cls.answers = dict(zip(CALLS, answers))

    def answer(self, name):
        failed, value = self.answers[name]
        self.assertFalse(failed, value)
        return value

    def test_tools_are_described(self):
        self.assertEqual(sorted(tool.name for tool in self.tools), ["check", "decode", "explain", "fix", "forms", "help", "layout", "simulate",
                                                                    "timeline", "verdicts"])
        for tool in self.tools:
            self.assertTrue(tool.description and tool.input_schema["properties"], tool.name)

    def test_check_and_fix(self):
        found = self.answer("broken")
        self.assertEqual(found["outcome"], "wrong")
        self.assertEqual([(one["rule"], one["file"], one["line"]) for one in found["findings"]], [("WG-FENCE-01", "product.ptx", 32)])
        mended = self.answer("fixed")
        self.assertEqual((mended["outcome"], mended["written"]), ("undecided", True))
        self.assertIn("+    wgmma.fence.sync.aligned;", mended["diff"])
        self.assertNotEqual(mended["text"], BROKEN)

    def test_a_script_is_restricted_and_ends(self):
        self.assertEqual(self.answer("restricted")["outcome"], "not checked")
        stopped = self.answer("endless")
        self.assertFalse(stopped["ended"])
        self.assertIn("more than 1 s", stopped["findings"][0]["message"])

    def test_simulate_verdicts_and_timeline(self):
        ran = self.answer("ran")
        self.assertTrue(ran["ended"], ran)
        self.assertIn("sim", ran["output"])
        self.assertEqual([len(kernel["verdicts"]) for kernel in self.answer("verdicts")["kernels"]], [14])
        timeline = self.answer("timeline")
        self.assertGreater(timeline["cycles"], 0)
        self.assertIn("tensor core", timeline["picture"])

    def test_questions(self):
        self.assertEqual(self.answer("rule")["id"], "WG-FENCE-01")
        self.assertEqual(self.answer("method")["kind"], "method")
        self.assertIn("wg.tile", self.answer("names")["names"])
        self.assertIn("WG-PERF-05", self.answer("about")["about"])
        self.assertEqual(self.answer("forms")["result"][0]["name"], "wgmma.fence")
        self.assertEqual(self.answer("descriptor")["swizzle"], "128B")
        self.assertEqual(self.answer("layout")["size"], 512)

    def test_resources(self):
        async def read():
            async with Client(stdio_client(SERVER)) as client:
                return [(await client.read_resource(f"wgrun://{name}")).contents[0].text for name in ("SKILL.md", "llms.txt")]

        self.assertEqual(anyio.run(read), [(ROOT / "docs" / name).read_text() for name in ("SKILL.md", "llms.txt")])

    def test_mistakes_are_said(self):
        for name, words in (("no rule", "no rule `WG-NONE-99`"), ("no number", "not a 64-bit number"), ("no text", "text"),
                            ("no limit", "between 0 and 3600"), ("no option", "no kernel has a number `n n`")):
            failed, said = self.answers[name]
            self.assertTrue(failed, name)
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
