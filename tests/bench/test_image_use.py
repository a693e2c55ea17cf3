#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image_use.py with a program that loads modules from memory, on the simulation."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("top_builddir", ".")


class ImageUse(unittest.TestCase):
    def rows(self, *programs):
        done = subprocess.run([sys.executable, os.path.join(HERE, "image_use.py"), "--sim", BUILD, *programs], capture_output=True, text=True,
                              check=False)
        return done, [line.split() for line in done.stdout.splitlines()[2:]]

    def test_a_second_run_copies_nothing(self):
        done, rows = self.rows(f"{os.path.abspath(BUILD)}/tests/bench/load_images {HERE}/../footprint/sass/sm_90.cubin 16 400000")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(rows), 1)
        copied, copied_mb, at_end, trace, again, again_mb, _, second_trace = map(float, rows[0][1:])
        self.assertEqual((rows[0][0], copied, again, again_mb, at_end), ("load_images", 16, 0, 0, 0))
        self.assertGreater(copied_mb, 6.39)
        self.assertLess(second_trace, trace - copied_mb)

    def test_a_program_that_fails_is_named(self):
        done, rows = self.rows("/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(rows[0][:2], ["/bin/false", "failed:"])


if __name__ == "__main__":
    unittest.main()
