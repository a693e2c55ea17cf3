#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every process of a run is found and judged, or named: `run --error-exitcode` ends with 0 for no other reason.

usage: test_run.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import pwd
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import unittest

from run_case import AWKWARD, BUILD, COMMAND, ENVIRONMENT, ERRORS, LONG, NOTHING, OBJECTS, SOURCE, UNPROVEN, Case

STATIC = os.path.join(BUILD, "tests", "tools", "awkward_static")
LATE_END = os.path.join(BUILD, "tests", "tools", "late_end.so")
LONG_JOB = os.path.join(BUILD, "tests", "tools", "long_job")
CLOCK = os.path.join(BUILD, "tests", "tools", "clock_step.so")
PID_OFFSET = 28  # in struct sw_file_header


class Processes(Case):
    def test_each_counts_whatever_the_order(self):
        self.shell(ERRORS, "GOOD; BAD")
        self.shell(ERRORS, "BAD; GOOD")
        self.shell(ERRORS, "true; BAD & wait; GOOD")
        report = self.shell(0, "GOOD; GOOD")
        self.assertIn("in all 2 processes that used CUDA: 0 errors", report)
        self.shell(NOTHING, "true")

    def test_the_programs_own_failure_is_passed_on(self):
        self.shell(3, "GOOD; exit 3")
        self.shell(ERRORS, "BAD; exit 3")
        result = self.call("sh", "-c", "exit 3")
        self.assertEqual(result.returncode, 3)

    def test_what_processes_share_is_one_finding(self):
        options = ("--json", self.path("r.json"))
        report = self.ends(ERRORS, *options, "sh", "-c", f"'{AWKWARD}' race; '{AWKWARD}' race; '{AWKWARD}' fixed")
        self.assertEqual(report.count("error: SW103"), 1, report)
        self.assertIn(": 2 of 3 processes", report)
        with open(self.path("r.json"), encoding="utf-8") as file:
            merged = json.load(file)
        self.assertEqual(merged["summary"]["errors"], 1)
        self.assertEqual([len(f["processes"]) for f in merged["findings"] if f["severity"] == "error"], [2])
        self.assertEqual([p["summary"]["errors"] for p in merged["processes"]], [1, 1, 0])
        self.assertEqual(merged["run"], {"processes": 3, "complete": True, "gaps": [], "without_recorder": []})
        self.check_schema(self.path("r.json"))

    def test_one_process_keeps_the_shape_of_a_report(self):
        self.ends(ERRORS, "--json", self.path("run.json"), "-o", "t.swt", AWKWARD, "race")
        subprocess.run([COMMAND, "report", "--json", self.path("report.json"), self.path("t.swt")], check=True,
                       stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        with open(self.path("run.json")) as run, open(self.path("report.json")) as report:
            run, report = json.load(run), json.load(report)
        whole = run["processes"][0]
        self.assertEqual(whole.keys(), report.keys())
        self.assertEqual(run["findings"][0].pop("processes"), [run["program"]["pid"]])
        for name in ("schema", "program", "devices", "findings", "in_flight"):
            self.assertEqual(run[name], report[name])

    def test_without_cuda_an_old_report_is_not_taken_for_a_new_one(self):
        self.ends(ERRORS, "--json", self.path("r.json"), AWKWARD, "race")
        for program, complete in (("true",), True), (("env", "-i", "true"), False):
            self.ends(NOTHING if complete else UNPROVEN, "--json", self.path("r.json"), *program)
            with open(self.path("r.json"), encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual((report["summary"]["errors"], report["findings"], report["processes"]), (0, [], []))
            self.assertEqual((report["run"]["processes"], report["run"]["complete"]), (0, complete))
            self.check_schema(self.path("r.json"))

    def check_schema(self, path):
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, path], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_children_of_python_which_close_everything(self):
        for first, second, status in (("race", "fixed", ERRORS), ("fixed", "race", ERRORS), ("fixed", "fixed", 0)):
            program = f"import subprocess\nfor mode in '{first}', '{second}': subprocess.run(['{AWKWARD}', mode])"
            self.ends(status, sys.executable, "-c", program)

    def test_closed_descriptors(self):
        for close in ("closeall", "closeall0"):
            self.ends(ERRORS, AWKWARD, close, "race")
            self.ends(ERRORS, AWKWARD, "fork", close, "race")
            self.ends(0, AWKWARD, "fork", close, "fixed")

    def test_forks(self):
        self.ends(ERRORS, AWKWARD, "fork", "fork", "race")
        self.ends(0, AWKWARD, "fork", "fork", "fixed")

    def test_execs(self):
        self.ends(ERRORS, "env", AWKWARD, "race")
        self.ends(ERRORS, AWKWARD, "race", f"exec={AWKWARD}")
        self.ends(0, AWKWARD, "fixed", f"spawn={AWKWARD}", f"system={AWKWARD} fixed", f"popen={AWKWARD} fixed")
        self.ends(ERRORS, AWKWARD, "fixed", f"system={AWKWARD} race")

    def test_many_processes(self):
        report = self.shell(ERRORS, "for i in $(seq 30); do GOOD & done; BAD; wait")
        self.assertIn("in all 31 processes that used CUDA: 1 error,", report)

    def test_a_process_that_outlives_the_program_is_waited_for(self):
        self.ends(ERRORS, AWKWARD, "detach", "sleep=300", "race")
        self.ends(0, AWKWARD, "detach", "sleep=300", "fixed")

    def test_but_not_for_ever(self):
        ready, done = self.path("ready"), self.path("done")
        report = self.ends(UNPROVEN, "--wait", "50", "sh", "-c",
                           f"'{AWKWARD}' fixed touch={ready} wait={done} >/dev/null 2>&1 & while [ ! -e {ready} ]; do sleep 0.01; done")
        self.assertIn("uses CUDA and still runs", report)
        report = self.ends(UNPROVEN, "--wait", "50", "sh", "-c", f"'{AWKWARD}' wait={done} >/dev/null 2>&1 &")
        self.assertIn("still runs, and may use CUDA later", report)
        open(done, "w").close()


def children(pid):
    """Processes that this one started and has not waited for."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += file.read().split()
    return found


def cpu_time(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[11:13]


class CompleteTraces(Case):
    def start(self, *options, wrapper=()):
        os.mkfifo(self.path("fifo"))
        words = [COMMAND, "run", "--sim", "--error-exitcode", str(ERRORS), "-o", "t.swt", *options]
        words += [*wrapper, LONG_JOB, "4000", "2000"]
        environment = dict(ENVIRONMENT, LD_PRELOAD=LATE_END, LATE_END=self.path("fifo"))
        run = subprocess.Popen(words, cwd=self.dir, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run, open(self.path("fifo"), "wb")  # once the recorder has ended

    def judged(self, run):
        report = run.communicate(timeout=LONG)[1]
        self.assertEqual(run.returncode, ERRORS, report)
        with open(self.path("r.json"), encoding="utf-8") as file:
            return json.load(file)

    def check_report(self, found):
        done = subprocess.run([COMMAND, "report", "--json", self.path("report.json"), self.path("t.swt")], env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(done.returncode, 0)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(found["processes"][0]["findings"], report["findings"])
        self.assertEqual(found["run"], {"processes": 1, "complete": True, "gaps": [], "without_recorder": []})

    def judge(self, run):
        """The process that judges; the others are the program and the witness of signals."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor")
        until = time.monotonic() + 60
        while len(children(run.pid)) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(len(children(run.pid)), 3)
        return max(map(int, children(run.pid)))

    def test_judging_begins_while_the_process_is_taken_apart(self):
        run, end = self.start("--json", "r.json")
        with end:
            self.judge(run)
        self.check_report(self.judged(run))

    def test_also_of_a_program_that_a_script_runs(self):
        run, end = self.start("--json", "r.json", wrapper=("sh", "-c", '"$@"; exit $?', "sh"))
        with end:
            self.judge(run)
        self.check_report(self.judged(run))

    def test_a_trace_that_changed_since_is_judged_again(self):
        run, end = self.start("--json", "r.json")
        with end:
            judge, used = self.judge(run), None
            while used != (used := cpu_time(judge)):  # so it has read the trace, most likely
                time.sleep(0.2)
            with open(self.path("t.swt"), "r+b") as trace:
                trace.seek(PID_OFFSET)
                trace.write(b"\0\0\0\0")  # memory has it, too
                trace.seek(4096 + 262144 + 1000)
                trace.write(b"damaged" * 10)  # and has this no more
        report = run.communicate(timeout=LONG)[1]
        self.assertIn("its trace is damaged", report)

    def test_one_that_judges_and_is_killed_is_not_missed(self):
        run, end = self.start("--json", "r.json")
        with end:
            os.kill(self.judge(run), signal.SIGKILL)
        self.check_report(self.judged(run))

    def test_one_of_two_programs_of_a_script_is_given_up(self):
        environment = {"LD_PRELOAD": LATE_END, "LATE_END": self.path("none")}  # and does not wait
        report = self.ends(ERRORS, "sh", "-c", f"'{LONG_JOB}' 4000 2000; '{AWKWARD}' race", environment=environment)
        self.assertIn("in all 2 processes that used CUDA: 2 errors", report)

    def test_not_where_the_report_is_limited(self):
        run, end = self.start("--json", "r.json", "--max-time", "1000")
        with end:
            self.assertEqual(len(children(run.pid)), 2)
        self.check_report(self.judged(run))


class Believed(Case):
    """Neither a clock nor a folder is believed."""

    def test_a_clock_that_steps_back(self):
        self.shell(ERRORS, f'LD_PRELOAD="$LD_PRELOAD:{CLOCK}" BAD')
        self.shell(0, f'LD_PRELOAD="$LD_PRELOAD:{CLOCK}" GOOD')

    def test_a_trace_that_was_removed_or_moved(self):
        self.assertIn("judged, and not kept", self.shell(ERRORS, "BAD; rm *.swt"))
        self.assertIn("judged, and not kept", self.shell(0, "GOOD; rm *.swt"))
        self.shell(ERRORS, "BAD; mkdir x; mv *.swt x")

    def test_a_planted_trace_is_none_of_the_run(self):
        self.ends(0, "-o", "t.swt", AWKWARD, "fixed")
        self.ends(ERRORS, "-o", "other.swt", AWKWARD, "race")
        # The good one under the name of the bad, and the other way round, each newer than the run.
        self.ends(ERRORS, "-o", "s.swt", "sh", "-c",
                  f"'{AWKWARD}' race; mv s.swt away; cp t.swt s.swt; cp t.swt s-2.swt")
        self.ends(0, "-o", "u.swt", "sh", "-c", f"'{AWKWARD}' fixed; mv u.swt away; cp other.swt u.swt")

    def test_a_trace_that_was_cut(self):
        # So large that no other copy of its first part is left.
        report = self.shell(UNPROVEN, f"'{AWKWARD}' sets=20000 fixed; truncate -s 8000 *.swt")
        self.assertIn("its trace", report)

    def test_messages_without_the_nonce_do_not_count(self):
        program = ("import os, socket\n"
                   "version, nonce, folder = os.environ['SYNCWATCH_RUN'].split(':')\n"
                   "for text in b'x', b'SWRUN\\r\\n\\1' + bytes(64) + b'y', b'':\n"
                   "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                   "    s.connect(folder + '/sock'); s.send(text); s.close()\n")
        self.ends(NOTHING, sys.executable, "-c", program)

    SENDER = """
import os, random, socket, struct, sys
version, nonce, folder = os.environ['SYNCWATCH_RUN'].split(':')
def send(kind, text=b'', flags=0, number=0, device=0, inode=0, passed=(), pid=None):
    head = struct.pack('<8sII16siIQQQ', b'SWRUN\\r\\n\\1', kind, flags, bytes.fromhex(nonce), pid or os.getpid(), len(text),
                       device, inode, number)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(folder + '/sock')
    socket.send_fds(s, [head + text], list(passed)) if passed else s.send(head + text)
    s.close()
TRACE = 2
"""

    def test_traces_that_are_none(self):
        os.mkfifo(self.path("fifo"))
        self.ends(0, "-o", "t.swt", AWKWARD, "fixed")
        for lines, why in (("send(TRACE, b'/nonexistent')", "is not there"),
                           ("send(TRACE, b'fifo')", "is not there|is no regular file"),
                           ("send(TRACE, b'/dev/zero')", "is no regular file"),
                           ("send(TRACE, b'x', passed=[os.open('fifo', os.O_RDWR)])", "is no regular file"),
                           ("send(TRACE, b'x', passed=[os.open('/', os.O_RDONLY)])", "is no regular file"),
                           ("send(TRACE, b'/etc/passwd')", "is not the file that the process made"),
                           ("s = os.stat('/etc/passwd')\n"
                            "send(TRACE, b'/etc/passwd', device=s.st_dev, inode=s.st_ino)", "is not the trace of that process"),
                           ("s = os.stat('t.swt')\n"
                            "send(TRACE, b'./t.swt', device=s.st_dev, inode=s.st_ino)", "is not the trace of that process")):
            report = self.ends(UNPROVEN, sys.executable, "-c", self.SENDER + lines)
            self.assertRegex(report, why)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_users_trace(self):
        self.ends(0, "-o", "t.swt", AWKWARD, "fixed")
        os.chown(self.path("t.swt"), 65534, 65534)
        with open(self.path("t.swt"), "rb") as file:
            pid = struct.unpack_from("<I", file.read(4096), PID_OFFSET)[0]
        report = self.ends(UNPROVEN, sys.executable, "-c", self.SENDER + "s = os.stat('t.swt')\n"
                           f"send(TRACE, b't.swt', device=s.st_dev, inode=s.st_ino, pid={pid})")
        self.assertIn("belongs to another user", report)

    def test_messages_of_any_content(self):
        lines = ("random.seed(1)\n"
                 "for i in range(3000):\n"
                 "    try: send(random.choice((1, 2, 3, 4, 5, 6, 7, 99, 1 << 31)), random.randbytes(random.choice((0, 1, 50, 1408))),\n"
                 "              random.getrandbits(32), random.getrandbits(64), pid=random.randint(-1 << 31, (1 << 31) - 1))\n"
                 "    except BlockingIOError: pass\n")
        self.assertIn(self.call(sys.executable, "-c", self.SENDER + lines).returncode, (NOTHING, UNPROVEN))

    def test_nothing_is_left(self):
        private = self.path("private")
        os.mkdir(private)
        environment = {"TMPDIR": private, "XDG_RUNTIME_DIR": private}
        self.ends(NOTHING, "sh", "-c", 'test -S "${SYNCWATCH_RUN##*:}/sock" && test "$(stat -c %a "${SYNCWATCH_RUN##*:}")" = 700',
                  environment=environment)
        self.ends(0, AWKWARD, "fixed", environment=environment)
        result = self.call("/nonexistent/program", environment=environment)
        self.assertEqual((result.returncode, os.listdir(private)), (127, []))


class Unnoticed(Case):
    """What the announcements cost the program."""

    def test_no_descriptor_is_left(self):
        program = "import os; print(sorted(os.listdir('/proc/self/fd')))"
        bare = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(self.call(sys.executable, "-c", program).stdout, bare.stdout)

    def test_nobody_waits_for_a_run_that_is_stopped(self):
        report = self.shell(ERRORS, "kill -STOP $PPID; for i in $(seq 20); do true | cat; done; GOOD; BAD; kill -CONT $PPID")
        self.assertIn("in all 2 processes", report)

    def test_failed_execs_are_no_gap(self):
        self.shell(0, "/nonexistent/program || true; no-such-program-here || true; GOOD")
        self.ends(NOTHING, sys.executable, "-c", "import os\n"
                  "for call in os.execv, os.execvp:\n"
                  "    try: call('/nonexistent/program', ['x'])\n"
                  "    except OSError: pass\n")

    def test_errno_and_results_of_exec(self):
        program = ("import ctypes, os\n"
                   "libc = ctypes.CDLL(None, use_errno=True)\n"
                   "words = (ctypes.c_char_p * 2)(b'x', None)\n"
                   "for path in b'/nonexistent', b'/etc/passwd', b'/':\n"
                   "    print(libc.execv(path, words), ctypes.get_errno())\n"
                   "    print(libc.execl(path, b'a', b'b', None), ctypes.get_errno())\n"
                   "print(libc.system(b'exit 3'), os.popen('echo hello').read())\n")
        bare = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertIn("hello", bare.stdout)
        self.assertEqual(self.call(sys.executable, "-c", program).stdout, bare.stdout)

    def test_words_of_execl_arrive(self):
        program = ("import ctypes, sys\n"
                   "libc = ctypes.CDLL(None)\n"
                   "libc.execlp(b'echo', b'echo', *[b'w%d' % i for i in range(200)], None)\n")
        self.assertEqual(self.call(sys.executable, "-c", program).stdout.split(), [f"w{i}" for i in range(200)])


class Unwatched(Case):
    """What keeps the recorder out is named, and is no success."""

    def test_an_environment_without_it(self):
        for text in ("env -i GOOD || true", "env -u LD_PRELOAD GOOD", "LD_PRELOAD=libm.so.6 BAD", "unset LD_PRELOAD; BAD"):
            report = self.shell(UNPROVEN, text)
            self.assertIn("the LD_PRELOAD that it was started with lacks the recorder", report)
        report = self.shell(UNPROVEN, "env -u SYNCWATCH_RUN GOOD")
        self.assertIn("without the SYNCWATCH_RUN of this run", report)
        self.shell(0, "env -u HOME GOOD")

    def test_by_whatever_call(self):
        for step in ("cleared=/bin/true", "fork cleared=/bin/true", "unsetenv=LD_PRELOAD exec=true",
                     "unsetenv=LD_PRELOAD spawn=true", "unsetenv=LD_PRELOAD system=true",
                     "unsetenv=LD_PRELOAD popen=true", "unsetenv=SYNCWATCH_RUN spawn=true"):
            self.ends(UNPROVEN, AWKWARD, *step.split())
        for step in ("exec=true", "spawn=true", "system=true", "popen=true"):
            self.ends(NOTHING, AWKWARD, step)

    def test_without_an_error_exitcode_the_program_speaks(self):
        result = subprocess.run([COMMAND, "run", "--sim", "env", "-i", "true"], cwd=self.dir, env=ENVIRONMENT,
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0)
        self.assertIn("not all of this run was watched", result.stderr)

    def test_static_programs(self):
        report = self.shell(0, f"'{STATIC}'; GOOD")
        self.assertIn("1 program ran without the recorder, which cannot load the CUDA driver", report)
        self.assertIn("statically linked", self.ends(UNPROVEN, STATIC))

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_users_program(self):
        program = self.path("setuid")
        shutil.copy("/bin/true", program)
        os.chmod(self.dir, 0o755)
        os.chown(program, pwd.getpwnam("nobody").pw_uid, 0)
        os.chmod(program, 0o4755)
        self.assertIn("set-user-id", self.shell(UNPROVEN, "./setuid"))

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_user_and_root(self):
        os.chmod(self.dir, 0o777)
        os.mkdir(self.path("jail"))
        probe = subprocess.run([AWKWARD, "drop", "load"], env=dict(ENVIRONMENT, LD_LIBRARY_PATH=os.path.join(BUILD, "sim")))
        if probe.returncode == 0:  # else other users may not read the build folder
            self.ends(ERRORS, AWKWARD, "drop", "race")
            self.ends(0, AWKWARD, "drop", "fixed")
        self.ends(UNPROVEN, AWKWARD, "load", f"chroot={self.path('jail')}", "fixed")

    def test_a_process_that_can_make_no_trace(self):
        self.assertIn("uses CUDA and ran unrecorded", self.ends(UNPROVEN, "-o", "t.swt", "sh", "-c",
                                                                f"SYNCWATCH_OPTIONS=trace=/nonexistent/t '{AWKWARD}' fixed"))

    def test_a_process_that_can_tell_nothing(self):
        self.assertIn("could not say where their traces are", self.ends(UNPROVEN, AWKWARD, "load", "nofile", "fixed"))

    @unittest.skipIf(os.uname().machine != "x86_64", "numbers of system calls")
    def test_system_calls_that_are_refused(self):
        socket, connect, sendmsg, getsockopt = 41, 42, 46, 55
        for number in (socket, connect, sendmsg, getsockopt):
            report = self.ends(UNPROVEN, AWKWARD, "load", f"deny={number}", "fixed")
            self.assertIn("could not say where their traces are", report)
            report = self.ends(UNPROVEN, AWKWARD, f"deny={number}", "fork", "exec=true")
            self.assertIn("did not come through", report)
        self.ends(0, AWKWARD, "load", "deny=9999", "fixed")

    def test_losses(self):
        report = self.ends(UNPROVEN, AWKWARD, "fixed", environment={"SYNCWATCH_OPTIONS": "max-size=4K"})
        self.assertIn("process ", report)

    def test_stacks_without_libunwind(self):
        """Whole by the unwind tables; where there are none either they are cut, and counted."""
        os.mkdir(self.path("none"))
        for name in ("libunwind.so.8", "libunwind.so"):
            open(os.path.join(self.path("none"), name), "w").close()
        without = {"LD_LIBRARY_PATH": self.path("none")}
        self.assertIn("libunwind could not be loaded", self.ends(0, AWKWARD, "fixed", environment=without))
        report = self.ends(UNPROVEN, AWKWARD, "untabled", environment=without)
        self.assertRegex(report, "call stacks end too early,\\s+as\\s+libunwind was not loaded")
        self.ends(0, AWKWARD, "untabled")


class Installation(Case):
    def install(self, name):
        folder = self.path(name)
        os.makedirs(os.path.join(folder, "sim"))
        shutil.copy(COMMAND, folder)
        for file in OBJECTS:
            shutil.copy(os.path.join(BUILD, file), folder)
        for file in os.listdir(os.path.join(BUILD, "sim")):
            if file.startswith("lib"):
                shutil.copy(os.path.join(BUILD, "sim", file), os.path.join(folder, "sim"))
        return os.path.join(folder, "syncwatch")

    def test_names_that_the_loader_takes_apart(self):
        for name in ("plain", "in stalled", "a:b", "c;d", "$LIB", "tab\there"):
            command = self.install(name)
            self.ends(ERRORS, AWKWARD, "race", command=command)
            self.ends(0, AWKWARD, "fixed", command=command)

    def test_a_recorder_that_does_not_load(self):
        command = self.install("broken")
        with open(os.path.join(self.dir, "broken", "libsyncwatch.so"), "wb") as file:
            file.write(b"no object")
        self.assertIn("libsyncwatch.so could not be loaded", self.ends(UNPROVEN, AWKWARD, "fixed", command=command))
        with open(os.path.join(self.dir, "broken", "libsyncwatch-run.so"), "wb") as file:
            file.write(b"no object")
        self.assertIn("the recorder did not load into it", self.ends(UNPROVEN, AWKWARD, "fixed", command=command))


class Signals(Case):
    def count(self, send):
        """How many SIGTERM the program got.  SIGWINCH is passed on after it, to mark the end."""
        with subprocess.Popen([COMMAND, "run", "--sim", AWKWARD, "term"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, start_new_session=True, cwd=self.dir,
                              env=ENVIRONMENT) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            send(process)
            process.send_signal(signal.SIGWINCH)
            count = process.stdout.read()
            self.assertEqual(process.wait(), 0)
            return int(count)

    def test_one_signal_to_the_group_arrives_once(self):
        self.assertEqual(self.count(lambda process: os.killpg(process.pid, signal.SIGTERM)), 1)

    def test_one_signal_to_the_command_arrives_once(self):
        self.assertEqual(self.count(lambda process: process.send_signal(signal.SIGTERM)), 1)

    def test_none_arrives_by_itself(self):
        self.assertEqual(self.count(lambda process: None), 0)


class Files(Case):
    """A trace names the files that its program had mapped; what lies there by now may be anything."""

    def test_files_that_are_none(self):
        program = self.path("program")
        shutil.copy(AWKWARD, program)
        self.ends(ERRORS, "-o", "t.swt", program, "race")
        trace = self.path("t.swt")

        def report():
            result = subprocess.run([COMMAND, "report", "--no-cache", trace], capture_output=True, text=True,
                                    env=ENVIRONMENT, timeout=LONG)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("SW103", result.stdout)
            return result.stdout

        self.assertIn("awkward.c", report())

        def huge():
            with open(program, "wb") as file:
                file.truncate(1 << 42)

        def damaged():
            with open(AWKWARD, "rb") as file:
                content = bytearray(file.read())
            for at in range(len(content) // 2, len(content)):
                content[at] ^= 0x55
            with open(program, "wb") as file:
                file.write(content)

        for replace in (lambda: os.mkfifo(program), lambda: os.symlink("/dev/zero", program), huge, damaged,
                        lambda: os.mkdir(program)):
            if os.path.lexists(program):
                os.unlink(program)
            try:
                replace()
            except OSError as error:  # a file system that has no such files
                print("skipped:", error)
                continue
            self.assertNotIn("awkward.c", report())


class Terminal(Case):
    def test_names_do_not_speak_to_the_terminal(self):
        folder = self.path("e\033]0;owned\007\033[31m")
        os.mkdir(folder)
        result = self.call(AWKWARD, "race", cwd=folder)
        self.assertEqual(result.returncode, ERRORS, result.stderr)
        self.assertNotIn("\033", result.stderr)
        self.assertNotIn("\007", result.stderr)
        trace, = (os.path.join(folder, name) for name in os.listdir(folder))
        for arguments in (("report", trace), ("stat", trace), ("dump", trace), ("report", trace + "x"),
                          ("kernels", trace), ("export", "--dot", "/nonexistent/\033", trace), ("\033",)):
            result = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT)
            self.assertNotIn("\033", result.stdout + result.stderr, arguments[0])

    def test_what_the_recorder_says(self):
        folder = self.path("e\033[31m\u009b\u00e9")
        os.mkdir(folder)
        environment = dict(ENVIRONMENT, LD_PRELOAD=os.path.join(BUILD, "libsyncwatch.so"),
                           LD_LIBRARY_PATH=os.path.join(BUILD, "sim"))
        result = subprocess.run([AWKWARD, "fixed"], cwd=folder, env=environment, capture_output=True, text=True,
                                timeout=LONG)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("e?[31m??\u00e9/syncwatch-awkward-", result.stderr)
        for control in "\033", "\u009b":
            self.assertNotIn(control, result.stderr)

    def test_reports_are_private(self):
        self.ends(ERRORS, "--json", self.path("r.json"), "--chrome", self.path("c.json"), "--dot", self.path("g.dot"),
                  AWKWARD, "race")
        for name in ("r.json", "c.json", "g.dot", *self.traces()):
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600, name)


unittest.main(argv=sys.argv[:1], verbosity=1)
