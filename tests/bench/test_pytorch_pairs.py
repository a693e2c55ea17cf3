#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytorch_pairs.py with scripts that only say how long they took, on the simulation."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("top_builddir", ".")


class PytorchPairs(unittest.TestCase):
    def pairs(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = os.path.join(folder.name, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        words = [sys.executable, os.path.join(HERE, "pytorch_pairs.py"), "--sim", "--pairs", "2", "--sides", "bare,recorded,run", BUILD, script]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def test_each_side_has_a_row_for_each_value(self):
        done = self.pairs("print('loop_s', 2 if __name__ == '__main__' else 0)")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        self.assertEqual([row[:3] for row in rows], [["script.py", value, side] for value in ("loop", "whole") for side in ("bare", "recorded", "run")])
        self.assertEqual(rows[1][3:], "2 2 1.000 1.000 1.000 (1.000 to 1.000), 2 pairs".split())

    def test_a_program_that_fails_ends_it(self):
        done = self.pairs("import sys\nsys.exit('no GPU')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status 1: no GPU", done.stdout)


if __name__ == "__main__":
    unittest.main()
