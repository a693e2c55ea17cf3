#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While the program runs its trace is made empty, it is killed, `run` is killed: the program does what it would do
without us, and what was recorded is judged or said to be missing.

usage: test_live.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import signal
import subprocess
import sys
import unittest

from run_case import AWKWARD, BUILD, COMMAND, ENVIRONMENT, ERRORS, LONG, UNPROVEN, Case

MANY = 20000  # several chunks
CLOSED, BEHIND = 1, 64  # flags of a file


class Live(Case):
    def setUp(self):
        super().setUp()
        self.trace = self.path("t.swt")

    def run_with(self, *steps):
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        return subprocess.run([COMMAND, "run", "--sim", "--error-exitcode", str(ERRORS), "-o", self.trace, AWKWARD, *steps],
                              cwd=self.dir, env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=LONG)

    def sets(self):
        dump = subprocess.run([COMMAND, "dump", self.trace], capture_output=True, text=True, env=ENVIRONMENT, timeout=LONG)
        lines = dump.stdout.splitlines()
        return sum(line.startswith("SET ") for line in lines), "".join(line for line in lines if line.startswith("DAMAGE"))

    def flags(self):
        with open(self.trace, "rb") as file:
            return int.from_bytes(file.read(28)[24:28], "little")


class Absent(Live):
    """What a process sees of itself is what it sees without us."""

    def same(self, *steps):
        bare = subprocess.run([AWKWARD, *steps], cwd=self.dir, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(ENVIRONMENT, LD_LIBRARY_PATH=os.path.join(BUILD, "sim")), timeout=LONG)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        self.assertTrue(bare.stdout)
        self.assertEqual(self.run_with(*steps).stdout, bare.stdout)
        for option in "--strict-host", "--guard-host":
            watched = self.call(option, AWKWARD, *steps)
            self.assertEqual((watched.returncode, watched.stdout.splitlines()), (0, bare.stdout.splitlines()), option)

    def test_state(self):
        self.same("state", "sets=10", "state", "fixed", "state")

    def test_errors_of_the_runtime(self):
        self.same("errors=libcudart.so.13")


@unittest.skipIf(os.uname().machine != "x86_64", "numbers of system calls")
class Refused(Live):
    def test_system_calls_of_the_memory(self):
        """seccomp's EPERM: the program notices nothing, and all is judged or named."""
        calls = {"memfd_create": 319, "pread64": 17, "pwrite64": 18, "lseek": 8, "fallocate": 285, "ftruncate": 77, "fcntl": 72, "openat": 257}
        for name, number in calls.items():
            for steps in ("load", f"deny={number}", "sets=10", "fixed"), ("load", "sets=10", f"deny={number}", f"sets={MANY}", "fixed"):
                result = self.run_with(*steps)
                printed = "".join(step[5:] + "\n" for step in steps if step.startswith("sets="))
                self.assertEqual((result.returncode in (0, UNPROVEN), result.stdout), (True, printed), (name, steps, result.stderr))


class Emptied(Live):
    """copytruncate, or `: > t.swt`"""

    def test_what_is_still_in_memory_is_written_again(self):
        result = self.run_with("fixed", f"empty={self.trace}", "sets=10", "fixed", f"empty={self.trace}", "sets=10")
        self.assertEqual((result.returncode, result.stdout), (0, "10\n10\n"), result.stderr)
        self.assertEqual(self.sets(), (24, ""))

    def test_the_findings_are_the_same(self):
        for name, status in ("race", ERRORS), ("fixed", 0):
            result = self.run_with(name, f"empty={self.trace}")
            self.assertEqual(result.returncode, status, result.stderr)

    def test_what_is_lost_is_said(self):
        result = self.run_with(f"sets={MANY}", f"empty={self.trace}", f"sets={MANY}", "fixed")
        self.assertEqual((result.returncode, result.stdout), (UNPROVEN, f"{MANY}\n{MANY}\n"), result.stderr)
        self.assertIn("its trace", result.stderr)
        self.assertEqual(self.run_with(f"sets={MANY}", f"sets={MANY}", "fixed").returncode, 0)

    def test_again_and_again(self):
        steps = [step for i in range(50) for step in ("sets=700", f"empty={self.trace}")]
        result = self.run_with(*steps)
        self.assertEqual((result.returncode in (0, UNPROVEN), result.stdout), (True, "700\n" * 50), result.stderr)


class Failing(Live):
    """syncwatch itself fails while it judges: it says so, and the status is the program's, but never a proof."""

    def fails(self, status, arguments, end):
        fifo = self.path("report.json")  # no process reads it: the report waits there
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        with subprocess.Popen([COMMAND, "run", "--sim", *arguments, "--json", fifo, "--force", "-o", self.path("t.swt"),
                               "sh", "-c", f"'{AWKWARD}' fixed; exit {end}"], cwd=self.dir, env=ENVIRONMENT, stderr=subprocess.PIPE,
                              text=True) as process:
            for line in process.stderr:
                if line.startswith("  trace:"):
                    break
            process.send_signal(signal.SIGSEGV)
            said = process.stderr.read()
        self.assertEqual(process.returncode, status, said)
        self.assertIn("itself has failed with SIGSEGV", said)
        self.assertIn(f"{COMMAND}+0x", said)

    def test_the_status_is_that_of_the_program(self):
        self.fails(3, [], 3)
        self.fails(0, [], 0)
        self.fails(3, ["--error-exitcode", "9"], 3)
        self.fails(UNPROVEN, ["--error-exitcode", "9"], 0)


class Killed(Live):
    def test_the_program(self):
        for n in 10, MANY:
            result = self.run_with("fixed", f"sets={n}", "kill")
            self.assertEqual((result.returncode, result.stdout), (128 + 9, f"{n}\n"), result.stderr)
            self.assertEqual(self.sets(), (n + 2, ""))
            self.assertEqual(self.flags() & (CLOSED | BEHIND), 0)

    def test_the_run(self):
        """The program goes on; its end and its trace are what they would have been."""
        for n in 10, MANY:
            self.trace = self.path(f"{n}.swt")
            read, write = os.pipe()  # the program holds the other end until it has ended
            with subprocess.Popen([COMMAND, "run", "--sim", "-o", self.trace, AWKWARD, f"sets={n}", "killrun", f"sets={n}", "fixed"],
                                  cwd=self.dir, env=ENVIRONMENT, stdout=write, stderr=subprocess.DEVNULL) as process:
                os.close(write)
                with os.fdopen(read) as text:
                    self.assertEqual(text.read(), f"{n}\n{n}\n")
                self.assertEqual(process.wait(), -9)
            self.assertEqual(self.sets(), (2 * n + 2, ""))
            self.assertEqual(self.flags() & (CLOSED | BEHIND), CLOSED)

    def test_both(self):
        """What was recorded last is lost, which the trace says."""
        read, write = os.pipe()
        with subprocess.Popen([COMMAND, "run", "--sim", "-o", self.trace, AWKWARD, f"sets={MANY}", "killrun", "sets=10", "kill"],
                              cwd=self.dir, env=ENVIRONMENT, stdout=write, stderr=subprocess.DEVNULL) as process:
            os.close(write)
            with os.fdopen(read) as text:
                self.assertEqual(text.read(), f"{MANY}\n10\n")
            self.assertEqual(process.wait(), -9)
        self.assertLessEqual(self.sets()[0], MANY + 10)
        self.assertEqual(self.flags() & (CLOSED | BEHIND), BEHIND)
        report = subprocess.run([COMMAND, "report", "--json", self.path("r.json"), self.trace], capture_output=True,
                                text=True, env=ENVIRONMENT, timeout=LONG)
        self.assertIn("the last moments may be missing", report.stdout + report.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertIn("the last moments may be missing", json.dumps(json.load(file)))


unittest.main(argv=sys.argv[:1], verbosity=1)
