# SPDX-License-Identifier: Apache-2.0
"""What the tests of `syncwatch run` share: programs on the simulated CUDA, and how a run ends."""
import os
import subprocess

import command_case
from command_case import BUILD, COMMAND, ENVIRONMENT, OBJECTS, SOURCE  # noqa: F401  for the tests of run

AWKWARD = os.path.join(BUILD, "tests", "tools", "awkward")
ERRORS, UNPROVEN, NOTHING = 9, 6, 7
LONG = 1200  # seconds: no run of these takes one on an idle machine


class Case(command_case.Case):
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
