#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that call CUDA past the recorder: SW901 says so, names the object, and the run is not proven.

usage: test_escapes.py BUILD_DIR SOURCE_DIR
"""
import os
import subprocess
import sys
import unittest

from run_case import AWKWARD, BUILD, COMMAND, ENVIRONMENT, ERRORS, LONG, NOTHING, UNPROVEN, Case

PLUGIN = os.path.join(BUILD, "tests", "tools", "plugin.so")


class Escapes(Case):
    def held(self, device, *program):
        """In a /dev of its own: the driver's device is what says that a process uses CUDA."""
        inner = [COMMAND, "run", "--sim", "--error-exitcode", str(ERRORS), *program]
        result = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && touch "/dev/$0" && exec "$@"',
                                 device, *inner], cwd=self.dir, env=ENVIRONMENT, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=LONG)
        if "mount" in result.stderr or "unshare" in result.stderr:
            self.skipTest("no mount namespace")
        return result

    def test_a_process_whose_calls_are_not_seen(self):
        other = self.held("nvidia0", AWKWARD, "open=/dev/nvidia0")
        self.assertEqual(other.returncode, NOTHING, other.stderr)
        bypassed = self.held("nvidia-uvm", AWKWARD, "open=/dev/nvidia-uvm")
        self.assertEqual(bypassed.returncode, UNPROVEN, bypassed.stderr)
        self.assertIn("SW901: this program used a GPU, but no CUDA call could be intercepted", bypassed.stderr)

    def test_one_that_is_bound_to_the_real_dlsym(self):
        bypassed = self.held("nvidia-uvm", AWKWARD, "open=/dev/nvidia-uvm", f"deepbind={PLUGIN}")
        self.assertEqual(bypassed.returncode, UNPROVEN, bypassed.stderr)
        self.assertRegex(bypassed.stderr, r"SW901: .*no CUDA call could.*/plugin.so \(RTLD_DEEPBIND\) calls CUDA past the recorder")
        seen = self.held("nvidia-uvm", AWKWARD, "open=/dev/nvidia-uvm", f"plugin={PLUGIN}")
        self.assertEqual(seen.returncode, 0, seen.stderr)
        self.assertNotIn("SW901", seen.stderr)

    def test_among_calls_that_are_seen(self):
        for how, name in ("deepbind", "RTLD_DEEPBIND"), ("dlmopen", "dlmopen"):
            for steps in ("fixed", f"{how}={PLUGIN}"), (f"{how}={PLUGIN}", "fixed"), (f"{how}={PLUGIN}", f"plugin={PLUGIN}"):
                said = self.ends(UNPROVEN, AWKWARD, *steps)
                self.assertRegex(said, r"SW901: not all CUDA calls.*/plugin.so \(" + name)
        self.assertNotIn("SW901", self.ends(0, AWKWARD, "fixed", f"plugin={PLUGIN}"))

    def test_a_driver_in_a_namespace_of_its_own(self):
        said = self.ends(UNPROVEN, AWKWARD, f"dlmopen={PLUGIN}")
        self.assertRegex(said, r"SW901: not all CUDA calls.*/plugin.so \(dlmopen\) calls CUDA past the recorder")
        self.assertNotIn("SW901", self.ends(0, AWKWARD, f"plugin={PLUGIN}"))

    def test_the_report_repeats_it(self):
        self.ends(UNPROVEN, "-o", "t.swt", AWKWARD, "fixed", f"dlmopen={PLUGIN}")
        result = subprocess.run([COMMAND, "report", self.path("t.swt")], capture_output=True, text=True, env=ENVIRONMENT,
                                timeout=LONG)
        self.assertRegex(" ".join(result.stdout.split()), r"SW901: not all CUDA calls.*plugin.so \(dlmopen\)")


unittest.main(argv=sys.argv[:1], verbosity=1)
