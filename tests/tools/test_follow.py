#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`run --live`: hazards are told while the program runs, the report is that of judging afterwards, and whatever happens to
the process that judges, the program does what it would do without it.

usage: test_follow.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from run_case import AWKWARD, COMMAND, ENVIRONMENT, ERRORS, LONG, UNPROVEN, Case

GONE = "what judged while the program ran is gone"


def read(path):
    """"" where it is not there."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def children(pid, task):
    """Processes that a thread has started."""
    return [int(word) for word in read(f"/proc/{pid}/task/{task}/children").split()]


def name_of(pid):
    return read(f"/proc/{pid}/comm").strip()


def is_over(pid):
    return read(f"/proc/{pid}/stat").rpartition(")")[2][1:2] in ("", "Z", "X")


class Follow(Case):
    def setUp(self):
        super().setUp()
        self.log, self.gate, self.here = self.path("log"), self.path("gate"), self.path("here")

    def start(self, *steps, options=()):
        """A run that waits for open_gate() after its steps."""
        return subprocess.Popen([COMMAND, "run", "--sim", "--live", "--error-exitcode", str(ERRORS), "--log", self.log,
                                 "--json", self.path("live.json"), "-o", self.path("t.swt"), *options, "--", AWKWARD, *steps,
                                 "touch=" + self.here, "wait=" + self.gate], cwd=self.dir, env=ENVIRONMENT,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def logged(self):
        return read(self.log)

    def open_gate(self):
        open(self.gate, "w").close()

    def finish(self, run):
        self.open_gate()
        out, error = run.communicate(timeout=LONG)
        return run.returncode, error

    def follower(self, run):
        """Its parent is a thread of its own."""
        def found():
            return [pid for task in os.listdir(f"/proc/{run.pid}/task") if int(task) != run.pid
                    for pid in children(run.pid, task)]
        self.until(found)
        return found()[0]

    # ---- while the program runs

    def test_race_is_told_while_the_program_runs(self):
        run = self.start("race")
        self.until(lambda: "suppress:" in self.logged())
        self.assertIsNone(run.poll())
        self.assertFalse(os.path.exists(self.gate))
        status, error = self.finish(run)
        self.assertEqual(status, ERRORS, error)
        self.assertEqual(self.logged().count("SW103 race-write-after-write"), 1)
        self.assertEqual(error.count("SW103 race-write-after-write"), 1)
        self.assertNotIn(GONE, error)
        self.assertNotIn("judged again", error)

    def test_ordered_work_is_not(self):
        run = self.start("fixed", "fixed")
        self.until(lambda: os.path.exists(self.here))
        status, error = self.finish(run)
        self.assertEqual((status, self.logged()), (0, ""), error)
        self.assertNotIn("SW103", error)
        self.assertNotIn(GONE, error)

    def test_report_is_that_of_judging_afterwards(self):
        run = self.start("race", "fixed", "sets=3000", "race")
        self.assertEqual(self.finish(run)[0], ERRORS)
        self.same_as_afterwards()

    def test_replays_are_bounded(self):
        """Of a run that is longer, four windows of 65,536 nodes are kept; `report` keeps all of this one."""
        sets = 180000
        run = self.start(f"sets={sets}", "fixed")
        self.assertEqual(self.finish(run)[0], 0)
        self.same_as_afterwards()
        with open(self.path("live.json")) as live, open(self.path("after.json")) as after:
            live, after = (json.load(file)["summary"]["replay"] for file in (live, after))
        self.assertGreater(live["windows"], 2)
        self.assertLess(live["operations"], sets * 9 // 10)
        self.assertGreater(after["operations"], sets)

    def same_as_afterwards(self):
        subprocess.run([COMMAND, "report", self.path("t.swt"), "--json", self.path("after.json")], cwd=self.dir,
                       env=ENVIRONMENT, capture_output=True, timeout=LONG)
        with open(self.path("live.json")) as live, open(self.path("after.json")) as after:
            live, after = json.load(live), json.load(after)

        def facts(report):
            return ([(f["id"], f["count"], f["fingerprint"], f["message"]) for f in report["findings"]],
                    {key: value for key, value in report["coverage"].items() if key != "analysis"})
        self.assertEqual(facts(live), facts(after))

    def test_paused(self):
        """What is not recorded is not told, and counted as in the report afterwards."""
        run = self.start("race", "race", options=("--paused",))
        self.until(lambda: os.path.exists(self.here))
        self.assertNotEqual(self.finish(run)[0], ERRORS)
        self.assertEqual(self.logged(), "")
        self.same_as_afterwards()

    def test_each_finding_is_told_once(self):
        run = self.start("race", "race", "race")
        self.assertEqual(self.finish(run)[0], ERRORS)
        # The three steps are one place of the program.
        self.assertEqual(self.logged().count("race-write-after-write"), 1)

    def test_on_error(self):
        mark = self.path("mark")
        run = self.start("race", "race", options=("--on-error", f'echo "$SYNCWATCH_FINDING $SYNCWATCH_PID" >>{mark}'))
        self.until(lambda: os.path.exists(mark) and os.path.getsize(mark))
        self.assertEqual(self.finish(run)[0], ERRORS)
        with open(mark) as file:
            self.assertRegex(file.read(), r"^SW103 \d+\n$")

    def test_stop_on_error(self):
        run = self.start("race", options=("--stop-on-error",))
        out, error = run.communicate(timeout=LONG)  # nobody opens the gate
        self.assertIn("ended by signal 15", error)
        self.assertEqual(run.returncode, ERRORS, error)

    def test_stop_on_error_without_one(self):
        run = self.start("fixed", options=("--stop-on-error",))
        self.until(lambda: os.path.exists(self.here))
        self.assertEqual(self.finish(run)[0], 0)

    def test_several_processes(self):
        result = self.call("--live", "--log", self.log, "--", "sh", "-c", f"'{AWKWARD}' race & '{AWKWARD}' fixed; '{AWKWARD}' race; wait")
        self.assertEqual(result.returncode, ERRORS, result.stderr)
        self.assertEqual(self.logged().count("SW103 race-write-after-write"), 2)
        self.assertIn("in all 3 processes that used CUDA: 1 error", result.stderr)
        self.assertNotIn(GONE, result.stderr)

    def test_fork_and_exec(self):
        result = self.call("--live", "--log", self.log, "--", "sh", "-c",
                           f"'{AWKWARD}' fork fixed; '{AWKWARD}' fixed exec='{AWKWARD}'")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("in all 2 processes", result.stderr)

    def top(self, which, *options):
        return subprocess.run([COMMAND, "top", str(which), "--once", *options], cwd=self.dir, env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=LONG)

    def test_top(self):
        run = self.start("race", "sets=100")
        self.until(lambda: os.path.exists(self.here) and "suppress:" in self.logged())
        result = self.top(run.pid, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        process, = json.loads(result.stdout)["processes"]
        self.assertEqual((process["program"], process["errors"], process["ended"]), ("awkward", 1, False))
        self.assertGreaterEqual(process["calls"], 100)
        self.assertIn("1 error, 0 warnings so far", self.top(process["pid"]).stdout)  # by the process, too
        self.assertRegex(self.top(run.pid, "--prometheus").stdout, r'syncwatch_errors\{pid="\d+",program="awkward"\} 1\n')
        self.assertEqual(self.finish(run)[0], ERRORS)
        ended = json.loads(self.top(self.path("t.swt"), "--json").stdout)["processes"][0]
        self.assertEqual((ended["errors"], ended["ended"]), (1, True))
        self.assertEqual(self.top(run.pid).returncode, 3)

    def test_top_of_a_run_that_is_not_judged(self):
        run = subprocess.Popen([COMMAND, "run", "--sim", "-o", self.path("t.swt"), AWKWARD, "fixed", "touch=" + self.here,
                                "wait=" + self.gate], cwd=self.dir, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        self.until(lambda: os.path.exists(self.here))
        result = self.top(run.pid)
        self.assertEqual(result.returncode, 3)
        self.assertIn("run --live", result.stderr)
        self.open_gate()
        run.wait()

    # ---- what may happen

    def test_follower_is_killed(self):
        run = self.start("race")
        os.kill(self.follower(run), signal.SIGKILL)
        self.until(lambda: os.path.exists(self.here))
        self.assertIsNone(run.poll())
        status, error = self.finish(run)
        self.assertEqual(status, ERRORS, error)
        self.assertIn(GONE, error)
        self.assertEqual(error.count("SW103 race-write-after-write"), 1)

    def test_follower_is_stopped(self):
        run = self.start("race")
        os.kill(self.follower(run), signal.SIGSTOP)
        self.until(lambda: os.path.exists(self.here))
        self.assertIsNone(run.poll())
        status, error = self.finish(run)
        self.assertEqual(status, ERRORS, error)
        self.assertNotIn(GONE, error)

    def test_run_is_killed(self):
        run = self.start("race")
        follower = self.follower(run)
        self.until(lambda: os.path.exists(self.here))
        program = [pid for pid in children(run.pid, run.pid) if name_of(pid) == "awkward"][0]
        run.kill()
        run.wait()
        self.until(lambda: is_over(follower))
        os.kill(program, 0)
        self.open_gate()
        self.until(lambda: is_over(program))
        run.stdout.close()
        run.stderr.close()

    def test_program_is_killed(self):
        result = self.call("--live", "--log", self.log, "--", AWKWARD, "race", "kill")
        self.assertIn("ended by signal 9", result.stderr)
        self.assertEqual(result.returncode, ERRORS, result.stderr)
        self.assertEqual(self.logged().count("SW103 race-write-after-write"), 1)

    def test_trace_is_made_empty(self):
        run = self.start("fixed", "sets=20000", "empty=" + self.path("t.swt"))
        status, error = self.finish(run)
        self.assertIn(status, (0, UNPROVEN), error)

    def test_a_process_that_outlives_the_program(self):
        result = self.call("--live", "--log", self.log, "--", AWKWARD, "detach", "race")
        self.assertEqual(result.returncode, ERRORS, result.stderr)
        self.assertEqual(self.logged().count("SW103 race-write-after-write"), 1)

    def test_no_cuda(self):
        result = self.call("--live", "--", "true")
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_options(self):
        for wrong in (("--log", "x"), ("--on-error", "true"), ("--stop-on-error",)):
            result = self.call(*wrong, "--", AWKWARD, "fixed")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("--live", result.stderr)
        result = self.call("--live", "--log", "/nowhere/log", "--", AWKWARD, "fixed")
        self.assertIn("cannot write to '/nowhere/log'", result.stderr)
        self.assertEqual(self.traces(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
