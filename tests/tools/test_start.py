#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How run starts a program and ends with it; the simulated CUDA.

usage: test_start.py BUILD_DIR SOURCE_DIR
"""
import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import unittest

from command_case import BUILD, COMMAND, CUDA_PROGRAM, ENVIRONMENT, INPUT, OBJECTS, OK, OUTPUT, Case


class Run(Case):
    """The program's side of `run`. What is recorded is the business of other tests."""

    def test_exit_status_is_the_programs(self):
        for status in (0, 1, 7, 255):
            self.assertEqual(self.call("run", "--", "sh", "-c", f"exit {status}").returncode, status)
        self.assertEqual(self.call("run", "sh", "-c", "kill -TERM $$").returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.call("run", "--error-exitcode", "99", "sh", "-c", "exit 3").returncode, 3)

    def test_programs_that_do_not_start(self):
        self.refused(127, "/nonexistent/program", "run", "/nonexistent/program")
        self.refused(127, "no-such-program-here", "run", "no-such-program-here")
        with open(self.path("data"), "w") as file:
            file.write("data")
        self.refused(126, self.path("data"), "run", self.path("data"))

    def test_streams_pass_through(self):
        result = subprocess.run([COMMAND, "run", "cat"], input="hello", capture_output=True, text=True, cwd=self.dir)
        self.assertEqual((result.returncode, result.stdout), (0, "hello"))
        result = self.call("run", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(result.stdout, "out\n")
        self.assertIn("err\n", result.stderr)

    def test_options_end_where_the_program_begins(self):
        result = self.call("run", "echo", "--json", "x", "--", "y")
        self.assertEqual((result.returncode, result.stdout), (0, "--json x -- y\n"))

    def test_environment(self):
        result = self.run_with({"SYNCWATCH_OPTIONS": "depth=9", "LD_PRELOAD": "libm.so.6"}, "-o", "a:b.swt", "sh", "-c",
                               'echo "$LD_PRELOAD"; echo "$SYNCWATCH_OPTIONS"')
        preload, options = result.stdout.splitlines()
        ours = [os.path.join(BUILD, name) for name in OBJECTS]
        self.assertEqual(preload, ":".join((*ours, "libm.so.6")))
        self.assertTrue(options.startswith("depth=9:"), options)
        self.assertTrue(options.endswith("/a\\:b.swt"), options)

    def run_with(self, environment, *arguments):
        return subprocess.run([COMMAND, "run", *arguments], cwd=self.dir, env=dict(ENVIRONMENT, **environment),
                              capture_output=True, text=True, timeout=1200)

    def test_signals_reach_the_program(self):
        script = 'trap "echo got; exit 5" TERM; echo ready; while :; do sleep 0.05; done'
        with subprocess.Popen([COMMAND, "run", "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, cwd=self.dir) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.stdout.read(), "got\n")
            self.assertEqual(process.wait(), 5)

    def test_interrupt_of_the_terminal_is_not_sent_twice(self):
        leader, follower = pty.openpty()
        program = "import signal,sys,time\nn=0\ndef h(*a):\n  global n\n  n+=1\nsignal.signal(2,h)\n" \
                  "print('ready',flush=True)\nwhile n==0: time.sleep(.01)\nsys.stdin.readline()\nsys.exit(n)"

        def own_terminal():
            os.setsid()
            fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

        with subprocess.Popen([COMMAND, "run", sys.executable, "-c", program], stdin=follower, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, preexec_fn=own_terminal, cwd=self.dir) as process:
            os.close(follower)
            self.assertEqual(process.stdout.readline(), b"ready\n")
            os.write(leader, b"\x03")
            os.write(leader, b"\n")
            self.assertEqual(process.wait(timeout=1200), 1)
        os.close(leader)

    def test_outputs_are_checked_before_the_program_runs(self):
        for arguments in (("--json", "/nonexistent/r.json"), ("-o", "/nonexistent/t.swt")):
            self.refused(OUTPUT, "/nonexistent", "run", *arguments, "sh", "-c", "echo started")
        self.refused(INPUT, "/nonexistent/s", "run", "--suppress", "/nonexistent/s", "sh", "-c", "echo started")
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_program_without_cuda_leaves_nothing(self):
        result = self.call("run", "true")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no CUDA call was seen", result.stderr)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_moved_installation_finds_its_library(self):
        os.makedirs(self.path("p/bin"))
        os.makedirs(self.path("p/lib/syncwatch"))
        shutil.copy(COMMAND, self.path("p/bin"))
        for name in OBJECTS:
            shutil.copy(os.path.join(BUILD, name), self.path("p/lib/syncwatch"))
        result = self.call("run", "sh", "-c", 'echo "$LD_PRELOAD"', command=self.path("p/bin/syncwatch"))
        paths = [os.path.realpath(self.path(os.path.join("p/lib/syncwatch", name))) for name in OBJECTS]
        self.assertEqual(result.stdout, ":".join(paths) + "\n")

    def test_an_installation_without_the_library_says_so(self):
        shutil.copy(COMMAND, self.path("syncwatch"))
        result = self.call("run", "true", command=self.path("syncwatch"))
        if result.returncode == OK:
            self.skipTest("syncwatch is installed on this machine")
        self.assertEqual(result.returncode, INPUT)
        self.assertIn("libsyncwatch.so", result.stderr)


class Simulation(Case):
    """Whole runs, on the simulated CUDA."""

    def run_program(self, mode, *options):
        result = self.call("run", "--sim", *options, "--", CUDA_PROGRAM, mode)
        if "sim/libcuda.so.1 is neither" in result.stderr:
            self.skipTest("the simulation is not built")
        return result

    def traces(self):
        return sorted(name for name in os.listdir(self.dir) if name.endswith(".swt"))

    def test_race_and_fixed_twin(self):
        result = self.run_program("race", "--json", self.path("r.json"))
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertIn("SW103 race-write-after-write", result.stderr)
        self.assertIn("cuMemsetD8Async on stream 2", result.stderr)
        self.assertIn("cuEventRecord", result.stderr, "advice in the API that the program uses")
        self.assertIn("simulated CUDA", result.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertTrue(report["program"]["simulated"] and report["program"]["ended_in_order"])
        self.assertEqual(report["program"]["arguments"][-1], "race")
        frames = [frame["function"] for frame in report["findings"][0]["accesses"][0]["stack"]]
        self.assertEqual(frames, ["work", "main"])
        result = self.run_program("fixed")
        self.assertIn("syncwatch: no hazards", result.stderr)

    def test_names_that_a_shell_would_mind(self):
        odd = self.path("my prog's")
        shutil.copy(CUDA_PROGRAM, odd)
        result = self.call("run", "--sim", odd, "race")
        if "sim/libcuda.so.1 is neither" in result.stderr:
            self.skipTest("the simulation is not built")
        self.assertRegex(self.traces()[0], r"^syncwatch-my_prog_s-\d+\.swt$")
        self.assertIn("SW103", result.stderr)

    def test_error_exitcode(self):
        self.assertEqual(self.run_program("race", "--error-exitcode", "42").returncode, 42)
        self.assertEqual(self.run_program("fixed", "--error-exitcode", "42").returncode, 0)
        with open(self.path("s"), "w") as file:
            file.write("SW103\n")
        self.assertEqual(self.run_program("race", "--error-exitcode", "42", "--suppress", self.path("s")).returncode, 0)

    def test_traces_are_named_and_never_overwritten(self):
        self.run_program("fixed")
        name, = self.traces()
        self.assertRegex(name, r"^syncwatch-cuda_program-\d+\.swt$")
        os.unlink(self.path(name))
        self.run_program("fixed", "-o", "t.swt")
        before = os.stat(self.path("t.swt"))
        self.run_program("race", "-o", "t.swt")  # is refused: test_verdict.py
        self.assertEqual(self.traces(), ["t.swt"])
        self.assertEqual(os.stat(self.path("t.swt")).st_mtime_ns, before.st_mtime_ns)
        # The file appears after the check: the recorder takes the next name.
        second = self.call("run", "--sim", "-o", "u.swt", "sh", "-c", f": > u.swt; exec '{CUDA_PROGRAM}' race")
        self.assertEqual(self.traces(), ["t.swt", "u-2.swt", "u.swt"])
        self.assertIn("SW103", second.stderr, "the new trace is the one that is judged")
        self.assertIn("u-2.swt", second.stderr)

    def test_a_crash_is_judged_up_to_its_end(self):
        result = self.run_program("abort")
        self.assertEqual(result.returncode, 128 + signal.SIGABRT)
        self.assertIn("ended by signal 6", result.stderr)
        self.assertIn("SW103", result.stderr)
        self.assertIn("did not end normally", result.stderr)

    def test_traces_of_children_are_judged(self):
        result = self.run_program("fork", "-o", "t.swt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.traces()), 2)
        self.assertIn("in all 2 processes that used CUDA", result.stderr)

    def test_of_a_program_that_execs_both_are_judged(self):
        result = self.run_program("exec", "-o", "t.swt")
        self.assertEqual(len(self.traces()), 2)
        self.assertIn("SW103", result.stderr)

    def test_a_static_runtime_is_refused_before_the_program_runs(self):
        source = self.path("p.c")
        with open(source, "w") as file:
            file.write('#include <stdio.h>\n__attribute__((section(".nv_fatbin"), used)) const char image[64];\n'
                       'int probe(void);\nint main(void) { puts("ran"); return 0; }\n')
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-o", self.path("static"), source], check=True)
        self.refused(INPUT, "nvcc -cudart shared", "run", "--sim", self.path("static"))
        subprocess.run([*compiler, "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13", "-o", self.path("libcudart.so.13"),
                        "-x", "c", os.devnull], check=True)
        subprocess.run([*compiler, "-o", self.path("shared"), source, "-Wl,--no-as-needed",
                        self.path("libcudart.so.13")], check=True)
        result = self.call("run", "--sim", self.path("shared"))
        self.assertNotIn("nvcc", result.stderr)


unittest.main(argv=sys.argv[:1], verbosity=1)
