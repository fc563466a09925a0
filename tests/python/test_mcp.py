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


def ask(*calls):
    """The server's answers to calls of tools, each (is an error, what it holds)."""

    async def session():
        server = StdioServerParameters(command=sys.executable, args=["-m", "wgrun", "mcp"], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            listed = (await client.list_tools()).tools
            answers = [await client.call_tool(name, given) for name, given in calls]
            return listed, [(one.is_error, one.structured_content or one.content[0].text) for one in answers]

    return anyio.run(session)


class Server(unittest.TestCase):
    def answer(self, tool, /, **given):
        _, [(failed, value)] = ask((tool, given))
        self.assertFalse(failed, value)
        return value

    def test_tools_are_described(self):
        tools, _ = ask()
        self.assertEqual(sorted(tool.name for tool in tools), ["check", "decode", "explain", "fix", "forms", "help", "layout", "simulate",
                                                               "timeline", "verdicts"])
        for tool in tools:
            self.assertTrue(tool.description and tool.input_schema["properties"], tool.name)

    def test_check_and_fix(self):
        found = self.answer("check", text=BROKEN, name="product.ptx")
        self.assertEqual(found["outcome"], "wrong")
        self.assertEqual([(one["rule"], one["file"], one["line"]) for one in found["findings"]], [("WG-FENCE-01", "product.ptx", 32)])
        mended = self.answer("fix", text=BROKEN, name="product.ptx")
        self.assertEqual((mended["outcome"], mended["written"]), ("undecided", True))
        self.assertIn("+    wgmma.fence.sync.aligned;", mended["diff"])
        self.assertEqual(self.answer("check", text=mended["text"])["outcome"], "undecided")

    def test_a_script_is_restricted_and_ends(self):
        self.assertEqual(self.answer("check", text="os.execute 'true'")["outcome"], "not checked")
        stopped = self.answer("simulate", text="while true do end", seconds=1)
        self.assertFalse(stopped["ended"])
        self.assertIn("more than 1 s", stopped["findings"][0]["message"])

    def test_simulate_verdicts_and_timeline(self):
        ran = self.answer("simulate", text=SCRIPT)
        self.assertTrue(ran["ended"], ran)
        self.assertIn("sim", ran["output"])
        kernels = self.answer("verdicts", text=SCRIPT)["kernels"]
        self.assertEqual([len(kernel["verdicts"]) for kernel in kernels], [14])
        timeline = self.answer("timeline", text=SCRIPT)
        self.assertGreater(timeline["cycles"], 0)
        self.assertIn("tensor core", timeline["picture"])

    def test_questions(self):
        self.assertEqual(self.answer("explain", rule="WG-FENCE-01")["id"], "WG-FENCE-01")
        self.assertEqual(self.answer("help", topic="k:mma")["kind"], "method")
        self.assertIn("wg.tile", self.answer("help")["names"])
        self.assertIn("WG-PERF-05", self.answer("help", topic="bank conflict")["about"])
        self.assertEqual(self.answer("forms", instruction="wgmma.fence")["result"][0]["name"], "wgmma.fence")
        self.assertEqual(self.answer("decode", descriptor="0x4000004000010080")["swizzle"], "128B")
        self.assertEqual(self.answer("layout", expression="(8,64):(64,1)")["size"], 512)

    def test_resources(self):
        async def read():
            server = StdioServerParameters(command=sys.executable, args=["-m", "wgrun", "mcp"], env=dict(os.environ))
            async with Client(stdio_client(server)) as client:
                return [(await client.read_resource(f"wgrun://{name}")).contents[0].text for name in ("SKILL.md", "llms.txt")]

        self.assertEqual(anyio.run(read), [(ROOT / "docs" / name).read_text() for name in ("SKILL.md", "llms.txt")])

    def test_mistakes_are_said(self):
        _, answers = ask(("explain", {"rule": "WG-NONE-99"}), ("decode", {"descriptor": "zzz"}), ("check", {}),
                         ("check", {"text": "", "seconds": 1e9}))
        self.assertEqual([failed for failed, _ in answers], [True] * 4)
        self.assertIn("no rule `WG-NONE-99`", answers[0][1])
        self.assertIn("not a 64-bit number", answers[1][1])
        self.assertIn("between 0 and 3600", answers[3][1])


if __name__ == "__main__":
    unittest.main()
