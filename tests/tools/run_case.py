# SPDX-License-Identifier: Apache-2.0
"""What the tests of `syncwatch run` share: the programs, and a folder for each test."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from command_case import OBJECTS  # noqa: F401  for the tests of run

BUILD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
COMMAND = os.path.join(BUILD, "syncwatch")
AWKWARD = os.path.join(BUILD, "tests", "tools", "awkward")
ERRORS, UNPROVEN, NOTHING = 9, 6, 7
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("LD_PRELOAD", "SYNCWATCH_OPTIONS", "SYNCWATCH_RUN")}
ENVIRONMENT["XDG_CACHE_HOME"] = ENVIRONMENT["XDG_DATA_HOME"] = "/dev/null"  # nothing is kept, or found
LONG = 1200  # seconds: no run of these takes one on an idle machine


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="syncwatch-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def traces(self):
        return sorted(name for name in os.listdir(self.dir) if name.endswith(".swt"))

    def call(self, *arguments, command=COMMAND, environment=None, cwd=None):
        return subprocess.run([command, "run", "--sim", "--error-exitcode", str(ERRORS), *arguments],
                              cwd=cwd or self.dir, env=dict(ENVIRONMENT, **(environment or {})), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=LONG)

    def ends(self, status, *arguments, **others):
        result = self.call(*arguments, **others)
        self.assertEqual(result.returncode, status, result.stderr)
        if status == UNPROVEN:
            self.assertIn("not all of this run was watched or judged", result.stderr)
        elif status == 0:
            self.assertNotIn("not all of this run", result.stderr)
        return result.stderr

    def shell(self, status, text, **others):
        text = text.replace("GOOD", f"'{AWKWARD}' fixed").replace("BAD", f"'{AWKWARD}' race")
        return self.ends(status, "sh", "-c", text, **others)
