#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows: orders of `syncwatch ctl`, timers, what a run refuses, what becomes of windows at fork, exec and SIGKILL.

usage: test_windows.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from run_case import AWKWARD, BUILD, COMMAND, ENVIRONMENT, ERRORS, LONG, UNPROVEN, Case


class Windows(Case):
    def setUp(self):
        super().setUp()
        self.trace = self.path("t.swt")

    def start(self, *steps, options=()):
        return subprocess.Popen([COMMAND, "run", "--sim", "--error-exitcode", str(ERRORS), "-o", self.trace, *options, "--",
                                 AWKWARD, *steps], cwd=self.dir, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ctl(self, *words):
        return subprocess.run([COMMAND, "ctl", *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=LONG)

    @staticmethod
    def send(run, number):
        try:
            run.send_signal(number)
        except BlockingIOError:
            pass  # so many wait already

    def until(self, run, pattern, before=lambda: None):
        """Asks for the state of the processes until it fits; returns it."""
        end = time.monotonic() + LONG
        while True:
            before()
            said = self.ctl(run.pid, "status").stdout
            if re.search(pattern, said):
                return said
            self.assertLess(time.monotonic(), end, said)
            self.assertIsNone(run.poll(), said)
            time.sleep(0.005)

    def gate(self, name="gate"):
        open(self.path(name), "w").close()

    def finish(self, run):
        self.gate()
        _, error = run.communicate(timeout=LONG)
        return run.returncode, error

    def cuts(self, trace=None):
        dump = subprocess.run([COMMAND, "dump", "--kinds", "CUT", trace or self.trace], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=LONG, check=True).stdout
        return [int(flags, 16) for flags in re.findall(r"^CUT .*flags=0x(\d)$", dump, flags=re.M)]


BEGINS, AT_END = 1, 2


class Ctl(Windows):
    def test_start_and_stop(self):
        run = self.start("until=" + self.path("gate"), options=["--paused"])
        said = self.until(run, "paused, 0 windows")
        program = re.search(r"process (\d+):", said).group(1)
        self.assertEqual(self.ctl(program, "start").stdout, "recording: 1 process\n")
        self.until(run, "recording, 1 window")
        self.assertEqual(self.ctl(run.pid, "stop").stdout, "paused: 1 process\n")
        self.until(run, "paused, 1 window so far")
        status, error = self.finish(run)
        self.assertEqual(status, 0, error)
        self.assertIn("no hazards in 1 window of awkward", error)
        self.assertRegex(error, r"\d+ calls outside of the windows were left out")
        self.assertEqual(self.cuts(), [BEGINS, 0, BEGINS, AT_END])
        # The second call of its place in the window is not the second one of another run.
        tried = subprocess.run([COMMAND, "confirm", "--sim", "--trace", self.trace, "--", AWKWARD], env=ENVIRONMENT,
                               capture_output=True, text=True, timeout=LONG)
        self.assertEqual((tried.returncode, tried.stderr.count("\n")), (3, 1), tried.stderr)
        self.assertIn("lacks calls outside of its windows", tried.stderr)
        said = subprocess.run([COMMAND, "stat", self.trace], env=ENVIRONMENT, capture_output=True, text=True, timeout=LONG).stdout
        self.assertRegex(said, r"\nwindows      1, \d+ calls outside were left out\n")
        self.assertNotIn("entry point 0", said)
        asked = subprocess.run([COMMAND, "query", self.trace, "select count(*) from calls"], env=ENVIRONMENT, capture_output=True,
                               text=True, timeout=LONG)
        if "has no SQLite" not in asked.stderr:
            self.assertRegex(asked.stderr, r"^syncwatch: the tables lack \d+ calls outside of the recorded windows\n$")
        part = self.path("part.json")
        for operand in self.trace, part:
            said = subprocess.run([COMMAND, "merge", "--json", part, operand], env=ENVIRONMENT, capture_output=True, text=True,
                                  timeout=LONG).stdout
            self.assertRegex(said, r"\nsyncwatch: windows of 1 process were recorded: \d+ calls were outside and left out\n")
        report = self.path("r.json")
        subprocess.run([COMMAND, "report", "--quiet", "--json", report, self.trace], env=ENVIRONMENT, check=True, timeout=LONG,
                       stdout=subprocess.DEVNULL)
        for run in self.trace, report:
            said = subprocess.run([COMMAND, "diff", run, run], env=ENVIRONMENT, capture_output=True, text=True, timeout=LONG).stdout
            self.assertEqual(len(re.findall(r"was recorded in windows: \d+ calls were outside and left out", " ".join(said.split()))), 2, said)

    def test_signals(self):
        """Real-time signals to `run`: none of them reaches the program, however many come."""
        run = self.start("until=" + self.path("gate"), options=["--paused"])
        self.until(run, "paused")
        for _ in range(2000):
            for number in signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMIN + 2:
                self.send(run, number)
        # Those with lower numbers come first, whenever they were sent.
        self.until(run, "recording", before=lambda: self.send(run, signal.SIGRTMIN))
        status, error = self.finish(run)
        self.assertEqual(status, 0, error)

    def test_who_is_asked(self):
        run = self.start("until=" + self.path("gate"))
        self.until(run, "recording, trace")
        for words, status in ((run.pid, "bogus"), 2), ((run.pid,), 2), (("x", "start"), 2), ((os.getpid(), "start"), 3), \
                ((run.pid, "dump"), 3):
            asked = self.ctl(*words)
            self.assertEqual((asked.returncode, asked.stderr.count("\n")), (status, 1), (words, asked.stderr))
        self.assertEqual(self.finish(run)[0], 0)


class Timers(Windows):
    def test_delay_and_duration(self):
        run = self.start("until=" + self.path("gate"), options=["--delay", "0.2", "--duration", "0.1"])
        self.until(run, "paused, 1 window so far")
        status, error = self.finish(run)
        self.assertEqual(status, 0, error)
        self.assertEqual(self.cuts(), [BEGINS, 0, BEGINS, AT_END])

    def test_a_delay_that_does_not_end(self):
        error = self.ends(UNPROVEN, "--delay", "1e6", AWKWARD, "race")
        self.assertIn("no window was opened", error)
        self.assertNotIn("no hazards", error)


class Ends(Windows):
    def test_killed_in_a_window_and_in_a_pause(self):
        for order in "start", None:
            if os.path.exists(self.trace):
                os.unlink(self.trace)
            run = self.start("until=" + self.path("gate"), options=["--paused"])
            said = self.until(run, "paused, 0 windows")
            if order:
                self.ctl(run.pid, order)
                said = self.until(run, "recording")
            os.kill(int(re.search(r"process (\d+):", said).group(1)), signal.SIGKILL)
            _, error = run.communicate(timeout=LONG)
            self.assertEqual(run.returncode, 128 + signal.SIGKILL, error)
            self.assertRegex(error, r"which did not end\s+normally")
            self.assertEqual("no window was opened" in error, not order, error)
            self.assertEqual("how many calls were left out is not known" in error, not order, error)

    def test_fork_and_exec_in_a_window(self):
        """Children, forked or executed, go on with what was ordered."""
        run = self.start("fork", "until=" + self.path("gate"), f"system='{AWKWARD}' race", options=["--paused"])
        self.until(run, "paused, 0 windows")
        self.ctl(run.pid, "start")
        self.until(run, "recording, 1 window")
        status, error = self.finish(run)
        self.assertEqual(status, ERRORS, error)
        others = [name for name in self.traces() if name != "t.swt"]
        self.assertEqual((len(others), self.cuts(self.path(others[0]))), (1, []), error)


PROGRAM = '''
import ctypes
import sys

cuda = ctypes.CDLL("libcudart.so.13")
data, first, second = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()


def sets(ordered):
    cuda.cudaMemsetAsync(data, 1, ctypes.c_size_t(64), first)
    if ordered:
        cuda.cudaStreamSynchronize(first)
    cuda.cudaMemsetAsync(data, 2, ctypes.c_size_t(64), second)
    cuda.cudaDeviceSynchronize()


class Engine:
    def step(self, ordered):
        sets(ordered)


cuda.cudaMalloc(ctypes.byref(data), ctypes.c_size_t(64))
cuda.cudaStreamCreateWithFlags(ctypes.byref(first), 1)
cuda.cudaStreamCreateWithFlags(ctypes.byref(second), 1)
for n in range(20):
    sets(False)
    if n % 5 == 2:
        Engine().step("ordered" in sys.argv)
'''


class Python(Windows):
    def judge(self, function, *arguments):
        program = self.path("engine.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        report = self.path("r.json")
        result = self.call("--json", report, "-o", self.trace, "--force", "--capture", "python:" + function, sys.executable,
                           program, *arguments)
        with open(report, encoding="utf-8") as file:
            return result.returncode, json.load(file)["coverage"], result.stderr

    def test_calls_in_a_function_and_no_others(self):
        for function in "engine.Engine.step", "Engine.step", "step":
            status, coverage, error = self.judge(function)
            self.assertEqual((status, coverage["windows"], coverage["sets"]), (ERRORS, 4, 8), error)
        status, coverage, error = self.judge("engine.Engine.step", "ordered")
        self.assertEqual((status, coverage["windows"], coverage["sets"]), (0, 4, 8), error)

    def test_a_function_that_is_not_called(self):
        status, coverage, error = self.judge("engine.Other.step")
        self.assertEqual((status, coverage["windows"], coverage["sets"]), (UNPROVEN, 0, 0), error)


class Refused(Windows):
    def test_by_run(self):
        for options in ["--capture", "step"], ["--capture", "nvtx:"], ["--capture", "nvtx:" + 300 * "x"], ["--steps", "3"], \
                ["--capture", "profiler", "--steps", "1"], ["--capture", "nvtx:a", "--steps", "0"], \
                ["--capture", "nvtx:a", "--steps", "1:"], ["--delay", "-1"], ["--capture", "python:f", "--depth", "0"]:
            result = self.call(*options, AWKWARD, "fixed")
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), (options, result.stderr))
            self.assertEqual(self.traces(), [])

    def preloaded(self, options, *steps):
        environment = dict(ENVIRONMENT, SYNCWATCH_OPTIONS="quiet:report=0:trace=" + self.trace + ":" + options,
                           LD_PRELOAD=os.path.join(BUILD, "libsyncwatch.so"),
                           LD_LIBRARY_PATH=os.path.join(BUILD, "sim"))
        result = subprocess.run([AWKWARD, *steps], cwd=self.dir, env=environment, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=LONG)
        self.assertEqual(result.returncode, 0, result.stderr)
        return "".join(line for line in result.stderr.splitlines(True) if "simulated CUDA" not in line)

    def test_by_the_recorder_alone(self):
        """Without `run` there are no ranges and no orders: one line, and all is recorded."""
        for option in "capture=nvtx\\:step", "capture=python\\:f", "steps=3":
            if os.path.exists(self.trace):
                os.unlink(self.trace)
            said = self.preloaded(option, "fixed")
            self.assertRegex(said, r"^syncwatch: SYNCWATCH_OPTIONS: .* needs 'syncwatch run'; all is recorded\n$")
            self.assertEqual(self.cuts(), [])

    def test_taken_by_the_recorder_alone(self):
        for option in "paused", "delay=1000", "capture=profiler":
            if os.path.exists(self.trace):
                os.unlink(self.trace)
            self.assertEqual(self.preloaded(option, "race"), "")
            self.assertEqual(self.cuts(), [BEGINS, AT_END])
        os.unlink(self.trace)
        self.assertIn("'1x' is no value", self.preloaded("delay=1x", "fixed"))
        self.assertEqual(self.cuts(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
