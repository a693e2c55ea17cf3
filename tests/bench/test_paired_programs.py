#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paired_programs.py with programs that only say how long they took."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TAKES = ['sh', '-c', 'echo "$NAME" >>order; echo "loop_s $TOOK"; [ -z "$BROKEN" ]']


class PairedPrograms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_sides(self, *sides, pairs=3, value='loop_s ([0-9.]+)'):
        words = [sys.executable, os.path.join(HERE, 'paired_programs.py'), '--pairs', str(pairs), '--value', value]
        for side in sides:
            words += ['--side', side]
        return subprocess.run(words + ['.'] + TAKES, cwd=self.folder.name, capture_output=True, text=True, check=False)

    def test_sides_are_compared(self):
        done = self.run_sides('bare=NAME=bare TOOK=2.0', 'recorded=NAME=recorded TOOK=2.2')
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        self.assertEqual(rows[0], 'bare 2 2 1.000 1.000 1.000 (1.000 to 1.000)'.split())
        self.assertEqual(rows[1], 'recorded 2.2 2.2 1.100 1.100 1.100 (1.100 to 1.100)'.split())

    def test_sides_take_turns(self):
        self.run_sides('bare=NAME=bare TOOK=1', 'recorded=NAME=recorded TOOK=1', pairs=2)
        with open(os.path.join(self.folder.name, 'order'), encoding='utf-8') as order:
            self.assertEqual(order.read().split(), ['recorded', 'bare', 'bare', 'recorded', 'recorded', 'bare'])

    def test_what_cannot_be_compared(self):
        broken = self.run_sides('bare=NAME=bare TOOK=1', 'recorded=NAME=recorded TOOK=1 BROKEN=1')
        self.assertNotEqual(broken.returncode, 0)
        self.assertIn('exit status 1', broken.stderr)
        silent = self.run_sides('bare=NAME=bare TOOK=1', value='another ([0-9]+)')
        self.assertNotEqual(silent.returncode, 0)
        self.assertIn("no 'another ([0-9]+)' in the output", silent.stderr)


if __name__ == '__main__':
    unittest.main()
