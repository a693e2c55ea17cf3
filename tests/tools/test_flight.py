#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`run --last` and `--keep`: a trace holds its end, on disk as in the report; what was dropped is said.

usage: test_flight.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import subprocess
import sys
import unittest

from run_case import AWKWARD, COMMAND, ENVIRONMENT, ERRORS, LONG, UNPROVEN, Case

MANY = 60000  # 4 MB of records
KEEP = 1 << 20
# What the recorder prepares ahead, and chunks that are not full.
AHEAD = 12 << 20


class Flight(Case):
    def setUp(self):
        super().setUp()
        self.trace = self.path("t.swt")

    def run_with(self, options, *steps, **environment):
        return subprocess.run([COMMAND, "run", "--sim", "--error-exitcode", str(ERRORS), *options, "-o", self.trace, AWKWARD, *steps],
                              cwd=self.dir, env=dict(ENVIRONMENT, **environment), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=LONG)

    def dump(self, trace=None):
        dump = subprocess.run([COMMAND, "dump", trace or self.trace], capture_output=True, text=True, env=ENVIRONMENT, timeout=LONG)
        self.assertEqual(dump.returncode, 0, dump.stderr)
        return dump.stdout.splitlines()

    def counts(self, trace=None):
        """Sets that are there, calls that were dropped, and what is wrong with the trace."""
        lines = self.dump(trace)
        cuts = [re.search(r" calls=(\d+) why=DROPPED", line) for line in lines if line.startswith("CUT ")]
        self.assertLessEqual(len(cuts), 1)
        return (sum(line.startswith("SET ") for line in lines), sum(int(cut.group(1)) for cut in cuts),
                [line for line in lines if line.startswith(("DAMAGE", "LOSS"))])

    def blocks(self, trace=None):
        return os.stat(trace or self.trace).st_blocks * 512


class Window(Flight):
    def test_the_end_is_there(self):
        result = self.run_with(["--keep", str(KEEP)], f"sets={MANY}")
        sets, dropped, damage = self.counts()
        self.assertEqual((result.returncode, result.stdout, damage), (UNPROVEN, f"{MANY}\n", []), result.stderr)
        self.assertLess(self.blocks(), KEEP + AHEAD)
        self.assertGreater(sets, 1000)
        self.assertGreater(dropped, 1000)
        self.assertLessEqual(abs(sets + dropped - MANY), 100)  # and the calls before
        self.assertIn(f"{dropped} calls before its last ones were dropped", result.stderr)
        self.assertEqual(sum(line.startswith("END ") for line in self.dump()), 1)

    def test_the_file_stays_small(self):
        """While the program runs: 29 MB are recorded."""
        small = "for i in $(seq 300); do [ $(stat -c %b t.swt) -lt 32768 ] && echo small && break; sleep 0.1; done"
        result = self.run_with(["--keep", str(KEEP)], "sets=400000", f"system={small}")
        self.assertEqual(result.stdout, "400000\nsmall\n", result.stderr)

    def test_a_program_that_hangs(self):
        """The last seconds are those in which it did something."""
        result = self.run_with(["--last", "2", "--keep", "64M"], f"sets={MANY}", "sleep=4000", "kill")
        sets, dropped, damage = self.counts()
        self.assertEqual((result.returncode, damage), (128 + 9, []), result.stderr)
        self.assertGreater(sets, 3700)  # more than the chunk that was not full

    def test_what_fits_is_whole(self):
        """The twin: nothing was dropped, and the report is a proof."""
        result = self.run_with(["--keep", "64M", "--last", "600"], "sets=1000", "fixed")
        self.assertEqual((result.returncode, self.counts()), (0, (1002, 0, [])), result.stderr)
        self.assertNotIn("dropped", result.stderr)

    def test_a_race_in_the_window(self):
        for name, status in ("race", ERRORS), ("fixed", UNPROVEN):
            self.trace = self.path(name + ".swt")
            result = self.run_with(["--keep", str(KEEP)], f"sets={MANY}", name)
            self.assertEqual(result.returncode, status, result.stderr)

    def test_a_race_before_the_window(self):
        """It is not reported, and the report is no proof."""
        result = self.run_with(["--keep", str(KEEP)], "race", f"sets={MANY}")
        self.assertEqual(result.returncode, UNPROVEN, result.stderr)
        self.assertNotIn("SW103", result.stdout + result.stderr)

    def test_a_window_smaller_than_a_chunk(self):
        """The chunk that the thread was writing at the end stays."""
        result = self.run_with(["--keep", "1K"], f"sets={MANY}", "race")
        self.assertEqual(result.returncode, ERRORS, result.stderr)
        sets, dropped, damage = self.counts()
        self.assertEqual((sets >= 2, dropped > 1000, damage), (True, True, []))

    def test_the_trace_is_like_any_other(self):
        self.run_with(["--keep", str(KEEP)], f"sets={MANY}", "race")
        packed = self.path("p.swt")
        for command in (["report", "--json", self.path("r.json"), self.trace], ["stat", self.trace],
                        ["pack", "-o", packed, self.trace], ["report", packed]):
            done = subprocess.run([COMMAND, *command], capture_output=True, text=True, env=ENVIRONMENT, timeout=LONG)
            self.assertIn(done.returncode, (0, ERRORS), (command, done.stderr))
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertTrue(any(finding["severity"] == "error" for finding in json.load(file)["findings"]))


    def test_all_is_judged_live(self):
        """The follower has read each chunk before it goes: the report is a proof."""
        result = self.run_with(["--keep", str(KEEP), "--live"], f"sets={MANY}", "fixed")
        sets, dropped, damage = self.counts()
        self.assertEqual((result.returncode, damage), (0, []), result.stderr)
        self.assertGreater(dropped, 1000)
        self.assertLess(self.blocks(), KEEP + AHEAD)
        self.assertIn(f"{MANY + 2} sets", result.stderr)
        self.assertNotIn("removed or replaced", result.stderr)


class Ends(Flight):
    def test_the_program_is_killed(self):
        result = self.run_with(["--keep", str(KEEP)], f"sets={MANY}", "race", "kill")
        sets, dropped, damage = self.counts()
        self.assertEqual((result.returncode, damage), (ERRORS, []), result.stderr)
        self.assertGreater(sets, 1000)
        self.assertGreater(dropped, 1000)
        self.assertIn("SW103", result.stdout + result.stderr)

    def test_a_signal(self):
        result = self.run_with(["--last", "3600", "--keep", str(KEEP)], f"sets={MANY}", "race", "system=kill -SEGV $PPID")
        self.assertEqual((result.returncode, self.counts()[2]), (ERRORS, []), result.stderr)
        self.assertIn("signal 11", result.stderr)

    def test_a_cuda_error(self):
        """The calls before it are in a file of their own: those of the window move on."""
        result = self.run_with(["--keep", str(KEEP)], f"tries={MANY}", "system=while [ ! -s t-dump1.swt ]; do sleep 0.1; done",
                               f"system='{COMMAND}' ctl $PPID status", SYNCWATCH_SIM_ERROR_AFTER=str(MANY - 1000))
        self.assertEqual(result.returncode, UNPROVEN, result.stderr)
        self.assertIn("a CUDA error ended its context; its last calls: ", result.stderr)
        dump = self.path("t-dump1.swt")
        lines = self.dump(dump)
        self.assertEqual([line for line in lines if line.startswith(("DAMAGE", "LOSS"))], [])
        sets = [line for line in lines if line.startswith("SET ")]
        self.assertIn(" status=0 ", sets[0])
        self.assertIn(" status=700 ", sets[-1])
        self.assertEqual(self.traces(), ["t-dump1.swt", "t.swt"])  # once a process

    def test_run_is_killed(self):
        """The program ends as ever; its file stops growing, and says what is missing."""
        read, write = os.pipe()
        with subprocess.Popen([COMMAND, "run", "--sim", "--keep", str(KEEP), "-o", self.trace, AWKWARD, f"sets={MANY}", "killrun",
                               f"sets={20 * MANY}"], cwd=self.dir, env=ENVIRONMENT, stdout=write, stderr=subprocess.DEVNULL) as process:
            os.close(write)
            with os.fdopen(read) as text:
                self.assertEqual(text.read(), f"{MANY}\n{20 * MANY}\n")
            self.assertEqual(process.wait(), -9)
        self.assertLess(self.blocks(), KEEP + KEEP // 2 + (64 << 20) + AHEAD)
        report = subprocess.run([COMMAND, "report", "--error-exitcode", str(ERRORS), self.trace], capture_output=True, text=True,
                                env=ENVIRONMENT, timeout=LONG)
        self.assertEqual(report.returncode, UNPROVEN, report.stderr)

    def test_a_dump_is_asked_for(self):
        ask = f"'{COMMAND}' ctl $PPID dump"
        result = self.run_with(["--keep", str(KEEP)], f"sets={MANY}", f"system={ask}", "sets=1000", f"system={ask}", "sets=10")
        self.assertEqual(result.returncode, UNPROVEN, result.stderr)
        kept = []
        for number in 1, 2:
            dump = self.path(f"t-dump{number}.swt")
            self.assertIn(dump, result.stdout)
            sets, dropped, damage = self.counts(dump)
            kept.append(sets + dropped)
            self.assertGreater(sets, 1000)
            self.assertEqual(damage, [])
            self.assertLess(self.blocks(dump), KEEP + AHEAD)
            report = subprocess.run([COMMAND, "report", dump], capture_output=True, text=True, env=ENVIRONMENT, timeout=LONG)
            self.assertIn("while the program ran: it was asked for", report.stdout + report.stderr)
        self.assertEqual(kept[1] - kept[0], 1000)
        self.assertEqual(sum(self.counts()[:2]) - kept[1], 10)

    def test_a_dump_without_a_window(self):
        """Without --last and --keep there is none to ask for."""
        result = self.run_with([], "sets=10", f"system='{COMMAND}' ctl $PPID dump || true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.traces(), ["t.swt"])

    def test_a_full_disk(self):
        """No room next to the trace for a new one: it stays as it is, which the report says."""
        os.mkdir(self.trace + ".part")
        with open(os.path.join(self.trace + ".part", "x"), "w", encoding="utf-8"):
            pass
        result = self.run_with(["--keep", str(KEEP)], f"sets={MANY}")
        self.assertEqual((result.returncode, result.stdout), (UNPROVEN, f"{MANY}\n"), result.stderr)
        self.assertIn("could not be put together", result.stderr)


unittest.main(argv=sys.argv[:1], verbosity=1)
