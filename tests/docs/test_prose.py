#!/usr/bin/env python3
"""What prose.py must notice, and what it must leave alone."""

import tempfile
import unittest
from pathlib import Path

import prose

RULES = prose.rules()


class Words(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            prose.ROOT = Path(folder)
            page = Path(folder) / "page.md"
            page.write_text(text)
            return prose.faults(page, RULES)

    def test_each_row_of_the_table_finds_its_word(self):
        for text in ("It was slower since.", "It has since become faster.", "A kernel is told of it.", "As told of kernels.", "What is said of a kernel.", "It was spoken of.",
                     "A made up number.", "Whoever reads it.", "It came to 12 rows.", "Likewise here.", "An option goes without it.", "It waits in vain.", "A kernel of one's own.",
                     "Faster than ours.", "A part thereof."):
            self.assertTrue(self.faults(text), text)

    def test_a_word_over_the_end_of_a_line(self):
        self.assertEqual(self.faults("One\nis made\nup here.\n"), ['page.md:2: "made up": write *synthetic*, *invented*'])

    def test_code_and_its_output_are_no_prose(self):
        for text in ("```console\nno fence since [WG]. It is told.\n```\n", "`goes without`", "<!-- said of -->", "[x](of/whoever.md)", "It is so since it waits.", "The loop comes to an end."):
            self.assertEqual(self.faults(text), [], text)

    def test_sentences_are_found_with_their_places(self):
        prose.ROOT = Path(__file__).resolve().parents[2]
        found = list(prose.sentences())
        self.assertGreater(len(found), 1000)
        self.assertFalse([s for _, s in found if s.startswith("|")])


if __name__ == "__main__":
    unittest.main()
