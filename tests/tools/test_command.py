#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command as its users meet it: every bad input gets one clear line and its documented exit status.

usage: test_command.py BUILD_DIR SOURCE_DIR
"""
import csv
import fcntl
import gzip
import json
import os
import re
import pty
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

BUILD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
COMMAND = os.path.join(BUILD, "syncwatch")
CUDA_PROGRAM = os.path.join(BUILD, "tests", "tools", "cuda_program")
MAKE_TRACE = os.path.join(BUILD, "tests", "tools", "make_trace")
OK, USAGE, INPUT, OUTPUT, LIMIT = 0, 2, 3, 4, 5
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "SYNCWATCH_OPTIONS")}
ENVIRONMENT["XDG_CACHE_HOME"] = ENVIRONMENT["XDG_DATA_HOME"] = "/dev/null"  # nothing is kept, or found


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="syncwatch-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def call(self, *arguments, command=COMMAND):
        return subprocess.run([command, *arguments], cwd=self.dir, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=1200, stdin=subprocess.DEVNULL)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def trace(self, kind):
        path = self.path(kind + ".swt")
        subprocess.run([MAKE_TRACE, kind, path], check=True)
        return path

    def refused(self, status, part, *arguments):
        """Exit status, nothing on stdout, one line on stderr that holds `part`."""
        result = self.call(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("syncwatch"), result.stderr)
        self.assertIn(part, result.stderr)


class Usage(Case):
    def test_unknown_words(self):
        self.refused(USAGE, "unknown command 'frobnicate'", "frobnicate")
        self.refused(USAGE, "unknown option '--frobnicate'", "--frobnicate")
        for command in ("run", "report", "explain"):
            self.refused(USAGE, "unknown option '--frob'", command, "--frob", "x")
            self.refused(USAGE, "unknown option '-z'", command, "-z")

    def test_strict_host_needs_a_trace_that_tells_of_it(self):
        trace = self.trace("race")
        plain, strict = self.call("report", trace), self.call("report", "--strict-host", trace)
        self.assertIn("does not record how host threads synchronise, so they are treated as one", strict.stderr)
        self.assertEqual((plain.returncode, plain.stdout), (strict.returncode, strict.stdout))

    def test_an_optional_value(self):
        self.refused(USAGE, "'--gpu-timeline' takes '=nodes' or nothing", "run", "--gpu-timeline=all", "true")

    def test_options_of_other_commands_are_unknown(self):
        self.refused(USAGE, "unknown option '--error-exitcode'", "report", "--error-exitcode", "1", "x.swt")
        self.refused(USAGE, "unknown option '--sim'", "report", "--sim", "x.swt")

    def test_arguments_of_options(self):
        self.refused(USAGE, "needs an argument", "run", "--json")
        self.refused(USAGE, "needs an argument that is not empty", "run", "--json=", "true")
        self.refused(USAGE, "takes no argument", "report", "--all=yes", "x.swt")
        for value in ("0", "256", "-1", "x", "1x", "99999999999999999999"):
            self.refused(USAGE, "exit status from 1 to 255", "run", "--error-exitcode", value, "true")
        self.refused(USAGE, "unknown format 'html'", "report", "--format", "html", "x.swt")

    def test_missing_operands(self):
        self.refused(USAGE, "which program?", "run")
        self.refused(USAGE, "which program?", "run", "--")
        self.refused(USAGE, "which trace?", "report")

    def test_no_arguments_show_the_overview(self):
        result = self.call()
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("syncwatch run", result.stderr)

    def test_help_and_version(self):
        for arguments in (("--help",), ("run", "--help"), ("report", "-h"), ("explain", "--help")):
            result = self.call(*arguments)
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            self.assertIn("Usage:", result.stdout)
        for arguments in (("--version",), ("-V",), ("run", "--version")):
            self.assertRegex(self.call(*arguments).stdout, r"^syncwatch \d+\.\d+\.\d+\n$")

    def test_full_standard_output_is_noticed(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([COMMAND, "explain"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, OUTPUT)
        self.assertIn("No space left", result.stderr)


class Limits(Case):
    def test_values(self):
        for value in ("0", "-1", "x", "1Q", "1KB", "99999999999999999999"):
            self.refused(USAGE, "bytes above 0", "report", "--max-memory", value, "x.swt")
        for value in ("0", "-1", "x", "1e99", "nan"):
            self.refused(USAGE, "seconds above 0", "report", "--max-time", value, "x.swt")

    def test_enough_is_enough(self):
        trace = self.trace("race")
        plain = self.call("report", trace)
        limited = self.call("report", "--max-memory", "2G", "--max-time", "500", trace)
        self.assertEqual((limited.returncode, limited.stderr), (OK, ""))
        self.assertEqual(plain.stdout.count("ERROR"), limited.stdout.count("ERROR"))

    def test_memory(self):
        with open(COMMAND, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("a sanitizer's own allocator ends the command when it gets no memory")
        trace = self.trace("race")
        result = self.call("report", "--json", self.path("r.json"), "--max-memory", "16K", trace)
        self.assertEqual((result.returncode, result.stdout), (LIMIT, ""))
        self.assertEqual(os.listdir(self.dir), ["race.swt"])

    def test_time(self):
        trace = self.trace("race")
        os.mkfifo(self.path("pipe"))  # nobody reads it: the report would wait for ever
        result = self.call("report", "--max-time", "0.2", "--json", self.path("pipe"), trace)
        self.assertEqual((result.returncode, result.stdout), (LIMIT, ""))
        self.assertIn("--max-time is reached", result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["pipe", "race.swt"])

    def test_the_program_of_a_run_has_no_limits(self):
        result = self.call("run", "--max-time", "0.05", "--max-memory", "1K", "sh", "-c", "sleep 0.3; ulimit -d")
        self.assertEqual(result.stdout, "unlimited\n", result.stderr)


class Explain(Case):
    def test_table_and_each_of_its_rows(self):
        table = self.call("explain")
        self.assertEqual(table.returncode, OK)
        rows = [line.split() for line in table.stdout.splitlines() if line.startswith("SW")]
        self.assertGreaterEqual(len(rows), 26)
        for row in rows:
            result = self.call("explain", row[0])
            self.assertEqual(result.returncode, OK)
            self.assertIn(row[1], result.stdout)
            body = result.stdout.split("\n", 1)[1].strip()
            self.assertGreater(len(body), 80, f"{row[0]} has no explanation")

    def test_ids_are_taken_as_people_type_them(self):
        wanted = self.call("explain", "SW101").stdout
        for name in ("sw101", "101"):
            self.assertEqual(self.call("explain", name).stdout, wanted)

    def test_unknown_ids(self):
        for name in ("SW999", "SW1", "SW1010", "race", "", "abc", "0123456789abcdef0"):
            self.refused(USAGE, "no finding has the id", "explain", name)
        self.refused(USAGE, "one id at a time", "explain", "SW101", "SW102")

    def test_kinds_and_words(self):
        wanted = self.call("explain", "SW101").stdout
        self.assertEqual(self.call("explain", "race-read-after-write").stdout, wanted)
        terms = self.call("explain", "terms")
        self.assertEqual(terms.returncode, OK)
        for word in ("waited", "blocked", "recoverable", "critical path", "missing edge"):
            one = self.call("explain", word).stdout
            self.assertTrue(one.startswith(word + " "), one)
            self.assertIn(one, terms.stdout)
        # The style guide defines the three in the same words.
        with open(os.path.join(SOURCE, "doc", "style.md"), encoding="utf-8") as file:
            style = " ".join(file.read().split())
        for word in ("waited", "blocked"):
            meaning = " ".join(self.call("explain", word).stdout.split()[1:])
            self.assertIn(meaning.split(",")[0].split(" while")[0].split(":")[0], style)

    def test_a_fingerprint_of_the_last_report(self):
        environment = dict(ENVIRONMENT, XDG_CACHE_HOME=self.path("cache"))

        def call(*arguments):
            return subprocess.run([COMMAND, *arguments], cwd=self.dir, env=environment, capture_output=True, text=True)
        result = call("explain", "0123456789abcdef")
        self.assertEqual((result.returncode, result.stdout), (INPUT, ""))
        self.assertIn("no report was kept", result.stderr)
        report = json.loads(call("report", "--format", "json", self.trace("race")).stdout)
        fingerprint = report["findings"][0]["fingerprint"].removeprefix("0x")
        whole = call("explain", fingerprint)
        self.assertEqual((whole.returncode, whole.stderr), (OK, ""))
        self.assertIn(report["findings"][0]["message"], whole.stdout)
        self.assertIn("trace: " + self.path("race.swt"), whole.stdout)
        self.assertIn(self.call("explain", "SW101").stdout, whole.stdout)
        self.assertEqual(call("explain", fingerprint[:6].upper()).stdout, whole.stdout)
        other = "f" if fingerprint[0] != "f" else "e"
        self.assertEqual(call("explain", other + fingerprint[1:]).returncode, INPUT)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("cache/syncwatch/last-report")).st_mode), 0o600)
        call("report", self.trace("fixed"))
        self.assertEqual(call("explain", fingerprint).returncode, INPUT, "of an earlier report")
        call("report", "--no-cache", self.trace("race"))
        self.assertEqual(call("explain", fingerprint).returncode, INPUT, "not kept")
        with open(self.path("cache/syncwatch/last-report"), "wb") as file:
            file.write(b"\0\xff" * 50 + b"\n" + b"0123456789abcdef\n0123456789abcdee\tx\n0123456789abcded\t999\ttext\n")
        for broken in ("0123456789abcdef", "0123456789abcdee", "0123456789abcded"):
            self.assertEqual(call("explain", broken).returncode, INPUT)


class Help(Case):
    def test_of_a_command(self):
        for command in ("run", "report", "explain", "help"):
            self.assertEqual(self.call("help", command).stdout, self.call(command, "--help").stdout)
        self.assertEqual(self.call("help").stdout, self.call("--help").stdout)
        self.refused(USAGE, "unknown command 'frob'", "help", "frob")
        self.refused(USAGE, "one command at a time", "help", "run", "report")
        self.refused(USAGE, "unknown shell 'tcsh'", "help", "--completion", "tcsh")

    def test_a_man_page_for_each_command(self):
        overview = self.call("--help").stdout
        commands = [line.split()[1] for line in overview.splitlines() if line.startswith("  syncwatch ")]
        for command in commands:
            with open(os.path.join(BUILD, "doc", f"syncwatch-{command}.1"), encoding="utf-8") as file:
                page = file.read().replace("\\-", "-")
            text = self.call(command, "--help").stdout.split("Exit status:")[0]
            for word in text.split():
                if word.startswith("--") and word[2:]:
                    self.assertIn(word.rstrip(",").split("[")[0], page, f"{command} {word}")
            self.assertIn(f"\\fBsyncwatch {command}\\fR", page)
            for other in ("--kinds", "--completion", "--compare"):
                self.assertEqual(other in text, other in page.split(".SH SEE ALSO")[0].split(".SH OPTIONS")[1], command)

    def completions(self, *words):
        """What bash offers for the last word."""
        with open(self.path("c"), "w") as file:
            file.write(self.call("help", "--completion", "bash").stdout)
        script = ('compopt() { :; }; . ./c; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _syncwatch; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, "bash", "syncwatch", *words], cwd=self.dir, capture_output=True,
                                text=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash_completes(self):
        if not shutil.which("bash"):
            self.skipTest("no bash")
        self.assertEqual(self.completions("re"), ["report"])
        self.assertEqual(self.completions("report", "--js"), ["--json"])
        self.assertEqual(self.completions("report", "--si"), [], "of run only")
        self.assertEqual(self.completions("run", "--si"), ["--sim"])
        self.assertEqual(self.completions("report", "--format", ""), ["text", "json"])
        self.assertEqual(self.completions("report", "--color", "n"), ["never"])
        ids = [line.split()[0] for line in self.call("explain").stdout.splitlines() if line.startswith("SW10")]
        self.assertEqual(self.completions("explain", "SW10"), ids)
        self.assertEqual(self.completions("explain", "sync-c"), ["sync-copy"])
        self.assertEqual(self.completions("help", "calib"), ["calibrate"])
        self.assertEqual(self.completions("report", "--limit", ""), [])
        self.trace("race")
        self.assertEqual(self.completions("report", "rac"), ["race.swt"])
        self.assertEqual(self.completions("report", "--suppress", "rac"), ["race.swt"])

    def test_completions_for_other_shells(self):
        for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            with open(self.path(shell), "w") as file:
                file.write(self.call("help", "--completion", shell).stdout)
            if not shutil.which(shell):
                print(f"SKIP: no {shell}: its completions are not read")
                continue
            read = subprocess.run([*check, self.path(shell)], capture_output=True, text=True, env=dict(os.environ, HOME=self.dir))
            self.assertEqual((read.returncode, read.stderr), (0, ""))
        if shutil.which("fish"):
            script = f"source {self.path('fish')}; complete -C 'syncwatch report --form'; complete -C 'syncwatch explain race-r'"
            said = subprocess.run(["fish", "-c", script], capture_output=True, text=True, env=dict(os.environ, HOME=self.dir))
            self.assertEqual([line.split("\t")[0] for line in said.stdout.splitlines()],
                             ["--format", "race-read-after-write"], said.stderr)


class Project(Case):
    """The file .syncwatch."""

    def write(self, text, folder="."):
        os.makedirs(self.path(folder), exist_ok=True)
        with open(self.path(os.path.join(folder, ".syncwatch")), "w") as file:
            file.write(text)
        return os.path.realpath(self.path(os.path.join(folder, ".syncwatch")))

    def below(self, folder, *arguments):
        os.makedirs(self.path(folder), exist_ok=True)
        return subprocess.run([COMMAND, *arguments], cwd=self.path(folder), env=ENVIRONMENT, capture_output=True, text=True)

    def test_options_and_suppressions_of_a_folder_above(self):
        trace = self.trace("race")
        self.write("# ours\n\nSW101  # known\n all\nstat\nlimit = 3 # three\nrun.error-exitcode=9\n")
        result = self.below("a/b", "report", trace)
        self.assertEqual(result.returncode, OK)
        self.assertEqual(result.stderr, f"syncwatch report: options and suppressions of {os.path.realpath(self.dir)}/.syncwatch\n")
        self.assertIn("[suppressed]", result.stdout, "all")
        self.assertIn("host waits:", result.stdout, "stat")
        plain = self.below("a/b", "report", "--no-config", trace)
        self.assertEqual(plain.stderr, "")
        self.assertIn("1 error,", plain.stdout)
        nearest = self.write("", "a")
        self.assertIn(nearest, self.below("a/b", "report", trace).stderr)

    def test_the_command_line_comes_first(self):
        trace = self.trace("race")
        self.write("color = always\n")
        self.assertIn("\033", self.below(".", "report", trace).stdout)
        self.assertNotIn("\033", self.below(".", "report", "--color", "never", trace).stdout)

    def test_paths_are_relative_to_the_file(self):
        trace = self.trace("race")
        self.write("suppress = ci/s\n")
        os.makedirs(self.path("ci"))
        with open(self.path("ci/s"), "w") as file:
            file.write("SW101\n")
        self.assertIn("no hazards", self.below("a", "report", trace).stdout)

    def test_what_is_wrong_is_named(self):
        trace = self.trace("race")
        for text, part in (("frob = 1\n", "unknown option 'frob'"), ("\nlimit = x\n", ":2: 'limit' needs a number"),
                           ("all = yes\n", "'all' takes no value"), ("limit\n", "'limit' needs a value: N"),
                           ("json = /tmp/x\n", "only the command line may"), ("run.output = x\n", "only the command line may"),
                           ("limit =\n", "not empty"), ("SW101 colour=red\n", "none of kernel="), ("x.limit = 3\n", "unknown")):
            self.write(text)
            result = self.below(".", "run" if text.startswith("run.") else "report", trace)
            self.assertNotEqual(result.returncode, OK, text)
            self.assertIn(part, result.stderr)
            self.assertIn(".syncwatch:", result.stderr)
        self.write("run.frob = 1\nkinds = COPY\n")
        self.assertEqual(self.below(".", "report", trace).returncode, OK, "of other commands")
        self.write("frob = 1\n")
        self.assertEqual(self.below(".", "explain").returncode, OK, "does not read it")

    def test_a_file_of_somebody_else_is_not_used(self):
        if os.geteuid() != 0:
            self.skipTest("not root: no file of another user can be made")
        trace = self.trace("race")
        path = self.write("SW101\n")
        os.chown(path, 12345, 12345)
        result = self.below(".", "report", trace)
        self.assertIn("belongs to another user", result.stderr)
        self.assertIn("1 error,", result.stdout)


class Several(Case):
    def test_traces_and_patterns(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        result = self.call("report", race, fixed)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        for part in ("SW101", "in all 2 processes", race, fixed):
            self.assertIn(part, result.stdout)
        self.assertEqual(self.call("report", "*.swt").stdout.count("trace:"), 2)
        shutil.copy(race, self.path("r[1].swt"))
        self.assertIn("r[1].swt", self.call("report", "r[1].swt").stdout, "a name, not a pattern")
        self.refused(INPUT, "no*.swt", "report", "no*.swt")

    def test_json(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        printed = self.call("report", "--format", "json", "--json", self.path("r.json"), race, fixed, race)
        self.assertEqual((printed.returncode, printed.stderr), (OK, ""))
        self.assertEqual(self.read("r.json"), printed.stdout)
        report = json.loads(printed.stdout)
        self.assertEqual((report["summary"]["errors"], len(report["processes"])), (1, 3), "once, in all")
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_bad_input(self):
        race = self.trace("race")
        self.refused(USAGE, "of one trace, not of 2", "report", "--chrome", self.path("t"), race, race)
        result = self.call("report", race, "/nonexistent.swt")
        self.assertEqual(result.returncode, INPUT)
        self.assertIn("/nonexistent.swt", result.stderr)
        self.assertIn("SW101", result.stdout, "the other one is reported")


class Report(Case):
    def test_race_and_fixed_twin(self):
        result = self.call("report", self.trace("race"))
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("error: SW101 race-read-after-write", result.stdout)
        self.assertIn("cudaMemsetAsync on stream 1", result.stdout)
        self.assertNotIn("\033", result.stdout)
        result = self.call("report", self.trace("fixed"))
        self.assertEqual(result.returncode, OK)
        self.assertIn("syncwatch: no hazards", result.stdout)
        self.assertIn("looked at:", result.stdout)

    def test_json_on_stdout_and_in_a_file_are_the_same(self):
        trace = self.trace("race")
        printed = self.call("report", "--format", "json", "--json", self.path("r.json"), trace)
        self.assertEqual(printed.returncode, OK)
        with open(self.path("r.json"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text, printed.stdout)
        report = json.loads(text)
        self.assertEqual(report["schema"], "syncwatch-report/1")
        self.assertEqual([f["id"] for f in report["findings"] if f["severity"] == "error"], ["SW101"])
        self.assertEqual(report["summary"]["errors"], 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("r.json")).st_mode) & 0o600, 0o600)
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_a_run_that_did_not_end_says_what_was_in_flight(self):
        result = self.call("report", self.trace("crashed"))
        self.assertEqual(result.returncode, OK)
        self.assertIn("did not end normally", result.stdout)
        self.assertIn("was inside", result.stdout)

    def on_a_terminal(self, *arguments, **environment):
        leader, follower = pty.openpty()
        with subprocess.Popen([COMMAND, *arguments], stdout=follower, stderr=subprocess.DEVNULL,
                              env=dict(ENVIRONMENT, PAGER="cat", **environment), cwd=self.dir) as process:
            os.close(follower)
            text = b""
            try:
                while part := os.read(leader, 4096):
                    text += part
            except OSError:  # how Linux ends a terminal whose other side is closed
                pass
            self.assertEqual(process.wait(), OK)
        os.close(leader)
        return text

    def test_colours_on_terminals_alone(self):
        trace = self.trace("race")
        self.assertIn(b"\033[1;31merror:", self.on_a_terminal("report", trace, TERM="xterm", NO_COLOR=""))
        self.assertNotIn(b"\033", self.on_a_terminal("report", trace, TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(b"\033", self.on_a_terminal("report", trace, TERM="dumb", NO_COLOR=""))

    def test_unusable_traces(self):
        self.refused(INPUT, "/nonexistent.swt: ", "report", "/nonexistent.swt")
        self.refused(INPUT, self.dir, "report", self.dir)
        for name, content in (("empty", b""), ("foreign", b"\x7fELF" + bytes(8192)), ("short", b"SYNCWTRC\x01\0")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.refused(INPUT, name, "report", self.path(name))

    def test_newer_versions_are_refused_by_number(self):
        trace = self.trace("race")
        with open(trace, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<H", 99))
        self.refused(INPUT, "99", "report", trace)

    def test_truncated_traces_yield_what_is_whole(self):
        trace = self.trace("race")
        size = os.path.getsize(trace)
        for keep in range(0, size, max(1, size // 37)):
            with open(trace, "rb") as file, open(self.path("cut.swt"), "wb") as cut:
                cut.write(file.read(keep))
            result = self.call("report", self.path("cut.swt"))
            self.assertIn(result.returncode, (OK, INPUT), result.stderr)
            if result.returncode == INPUT:
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_outputs_that_cannot_be_written(self):
        trace = self.trace("race")
        self.refused(OUTPUT, "/nonexistent/r.json", "report", "--json", "/nonexistent/r.json", trace)
        self.refused(OUTPUT, self.dir, "report", "--json", self.dir, trace)
        before = sorted(os.listdir(self.dir))
        result = self.call("report", "--json", "/dev/full", trace)
        self.assertEqual(result.returncode, OUTPUT)
        self.assertIn("No space left", result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before, "a temporary file was left")

    def test_suppressions(self):
        trace = self.trace("race")
        with open(self.path("s"), "w") as file:
            file.write("SW101\nSW305 kernel=never\n")
        result = self.call("report", "--suppress", self.path("s"), trace)
        self.assertEqual(result.returncode, OK)
        self.assertIn("no hazards", result.stdout)
        self.assertIn("SW305 kernel=never", result.stdout)
        with open(self.path("s"), "w") as file:
            file.write("SW101\nnonsense\n")
        self.refused(INPUT, self.path("s") + ":2:", "report", "--suppress", self.path("s"), trace)
        self.refused(INPUT, "/nonexistent/s", "report", "--suppress", "/nonexistent/s", trace)


class Builds(Case):
    """Reports for builds: tests/report/test_ci.c has their contents."""
    FILES = (("--sarif", "r.sarif"), ("--junit", "r.junit.xml"), ("--gitlab", "r.gitlab.json"))

    def options(self):
        return [part for option, name in self.FILES for part in (option, self.path(name))]

    def check(self, *names):
        checker = os.path.join(SOURCE, "tests", "report", "check_formats.py")
        checked = subprocess.run([sys.executable, checker, *(self.path(name) for name in names)], capture_output=True,
                                 text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_of_a_trace(self):
        for kind, errors in (("race", 1), ("fixed", 0)):
            result = self.call("report", *self.options(), "--github", self.trace(kind))
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            self.check(*(name for _, name in self.FILES))
            report, commands = result.stdout[:result.stdout.rindex(".swt\n") + 5], result.stdout[result.stdout.rindex(".swt\n") + 5:]
            self.assertIn("syncwatch:", report)
            with open(self.path("r.github.txt"), "w") as file:
                file.write(commands)
            self.check("r.github.txt")
            self.assertEqual(commands.count("::error "), errors)
            with open(self.path("r.junit.xml"), encoding="utf-8") as file:
                self.assertEqual(file.read().count("<failure"), errors)

    def test_of_a_run(self):
        result = self.call("run", "--sim", *self.options(), "--github", "--", CUDA_PROGRAM, "fork")
        if "sim/libcuda.so.1 is neither" in result.stderr:
            self.skipTest("the simulation is not built")
        self.check(*(name for _, name in self.FILES))
        with open(self.path("r.sarif"), encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        self.assertEqual(len(run["invocations"]), 2, "one for each process")
        result = self.call("run", "--sim", *self.options(), "--github", "--", CUDA_PROGRAM, "race")
        self.check(*(name for _, name in self.FILES))
        with open(self.path("r.sarif"), encoding="utf-8") as file:
            run, = json.load(file)["runs"]
        self.assertEqual(["SW103"], [r["ruleId"] for r in run["results"] if r["level"] == "error"])
        self.assertRegex(result.stderr, r"\n::error file=[^,:]*tests/tools/cuda_program.c,line=\d+,title=SW103")

    def test_what_is_written_suppresses_what_was_shown(self):
        trace = os.path.join(SOURCE, "tests", "golden", "traces", "gpu-torch-side_stream.swt")
        self.assertEqual(self.call("report", "--write-suppressions", self.path("s"), trace).returncode, OK)
        result = self.call("report", "--suppress", self.path("s"), trace)
        self.assertIn("no hazards", result.stdout)
        self.assertIn("suppressed: ", result.stdout)
        self.assertNotIn("unused", result.stdout)

    def test_files_that_cannot_be_written(self):
        trace = self.trace("race")
        before = sorted(os.listdir(self.dir))
        for option in ("--sarif", "--junit", "--gitlab", "--html", "--write-suppressions"):
            self.refused(OUTPUT, "/nonexistent/r", "report", option, "/nonexistent/r", trace)
            self.refused(OUTPUT, "/nonexistent/r", "run", option, "/nonexistent/r", "sh", "-c", "echo started")
            result = self.call("report", option, "/dev/full", trace)
            self.assertEqual(result.returncode, OUTPUT)
            self.assertIn("No space left", result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before, "a temporary file was left")


class Diff(Case):
    def diff(self, *arguments):
        result = self.call("diff", "--format", "json", *arguments)
        self.assertEqual(result.stderr, "")
        return result.returncode, json.loads(result.stdout)["summary"]

    def report(self, kind, *options):
        path = self.path(kind + ".json")
        self.assertEqual(self.call("report", "--json", path, *options, self.trace(kind)).returncode, OK)
        if "made without jansson" in self.call("diff", path, path).stderr:
            self.skipTest("built without jansson")
        return path

    def test_the_same_run_twice(self):
        trace = self.trace("race")
        status, summary = self.diff("--error-exitcode", "9", trace, trace)
        self.assertEqual((status, summary["new"] + summary["gone"] + summary["worse"] + summary["better"]), (OK, 0))
        self.assertGreater(summary["same"], 0)

    def test_broken_and_fixed(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        status, summary = self.diff("--error-exitcode", "9", race, fixed)
        self.assertEqual((status, summary["gone"], summary["new"]), (OK, 1, 0))
        status, summary = self.diff("--error-exitcode", "9", fixed, race)
        self.assertEqual((status, summary["gone"], summary["new"], summary["new_errors"]), (9, 0, 1, 1))
        self.assertEqual(self.diff(fixed, race)[0], OK, "without the option")
        text = self.call("diff", fixed, race)
        self.assertIn("new error: SW101 race-read-after-write", text.stdout)

    def test_suppressed_findings_are_not_compared(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        with open(self.path("s"), "w") as file:
            file.write("SW101\n")
        status, summary = self.diff("--error-exitcode", "9", "--suppress", self.path("s"), fixed, race)
        self.assertEqual((status, summary["new"]), (OK, 0))

    def test_reports_and_traces_of_one_run_are_alike(self):
        report, trace = self.report("race", "--all"), self.trace("race")
        for pair in ((report, trace), (trace, report), (report, report)):
            status, summary = self.diff("--error-exitcode", "9", *pair)
            self.assertEqual((status, summary["new"] + summary["gone"] + summary["worse"] + summary["better"]), (OK, 0))
        self.assertEqual(self.diff("--error-exitcode", "9", self.report("fixed"), trace)[0], 9)

    def test_json_in_a_file_keeps_its_schema(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        printed = self.call("diff", "--format", "json", "--json", self.path("d.json"), race, fixed)
        with open(self.path("d.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed.stdout)
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "diff.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("d.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_bad_input(self):
        race, report = self.trace("race"), self.report("race")
        for operands in ((), (race,), (race, race, race)):
            self.refused(USAGE, "two traces or reports", "diff", *operands)
        self.refused(USAGE, "unknown format 'html'", "diff", "--format", "html", race, race)
        self.refused(INPUT, "/nonexistent.swt: ", "diff", race, "/nonexistent.swt")
        self.refused(OUTPUT, "/nonexistent/d.json", "diff", "--json", "/nonexistent/d.json", race, race)
        for text, part in (("", "odd"), ("text", "odd"), ("{", "odd:1:"), ('{"schema": "other/1"}', "no report of syncwatch"),
                           ('{"schema": "syncwatch-report/2"}', "syncwatch-report/2")):
            with open(self.path("odd"), "w") as file:
                file.write(text)
            self.refused(INPUT, part, "diff", race, self.path("odd"))
            self.refused(INPUT, part, "diff", self.path("odd"), report)


class Calibrate(Case):
    """On the simulated CUDA, which behaves as the H200 whose behaviour is built in."""

    def setUp(self):
        super().setUp()
        self.environment = dict(ENVIRONMENT, XDG_DATA_HOME=self.dir)

    def call(self, *arguments, **environment):
        return subprocess.run([COMMAND, "calibrate", *arguments], cwd=self.dir, env=dict(self.environment, **environment),
                              capture_output=True, text=True, timeout=1200, stdin=subprocess.DEVNULL)

    def part(self, text, title):
        return text.split("Different from " + title, 1)[1].split("\n\n", 1)[0].split("\n", 1)[1]

    def table(self, name, **verdicts):
        """A small table; verdicts: what the columns of cudaFree say for each of the three streams."""
        path = self.path(name)
        blocks = verdicts.get("blocks", "111")
        with open(path, "w") as file:
            gpu = verdicts.get("gpu", "NVIDIA H200")
            file.write(f"syncwatch-behaviour\t1\ngpu\t{gpu}\ndriver\t13000\t580.159.04\nsimulated\t0\ncall\tidle_us")
            file.write("".join(f"\t{s}_blocks\t{s}_next\t{s}_own\t{s}_us" for s in ("nb", "blk", "leg")) + "\n")
            file.write("cudaFree 256B\t1.000" + "".join(f"\t{b}\t-\t-\t1.000" for b in blocks) + "\n")
        return path

    def test_the_simulation_behaves_as_built_in(self):
        result = self.call("--sim")
        if "sim/libcuda.so.1 is neither" in result.stderr:
            self.skipTest("the simulation is not built")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual(self.part(result.stdout, "CUDA's documents"), "  nothing")
        self.assertEqual(self.part(result.stdout, "what was measured"), "  nothing")
        self.assertIn("in 0 cells the repetitions disagree, 0 could not be measured", result.stdout)
        stored, = os.listdir(self.path("syncwatch"))
        self.assertRegex(stored, r"^behaviour-1-Simulated_CUDA.*-13000\.tsv$")
        with open(os.path.join(self.dir, "syncwatch", stored)) as file:
            rows = [line.split("\t") for line in file.read().splitlines()[5:]]
        self.assertGreater(len(rows), 140)
        self.assertEqual({len(row) for row in rows}, {14})
        shown = self.call("--show", "--compare", os.path.join("syncwatch", stored))
        self.assertEqual(shown.returncode, OK, shown.stderr)
        self.assertEqual(self.part(shown.stdout, os.path.join("syncwatch", stored)), "  nothing")
        self.assertIn("cudaFree 256B\t", shown.stdout)

    def test_differences_are_told(self):
        result = self.call("--show", self.table("t", blocks="010"), "--compare", self.table("other", blocks="110"))
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual(self.part(result.stdout, "CUDA's documents"), "  nothing", "they leave it open")
        built_in = self.part(result.stdout, "what was measured").splitlines()
        self.assertEqual(["kernel on a non-blocking stream: no wait" in built_in[0], "legacy" in built_in[1], len(built_in)],
                         [True, True, 2])
        other = self.part(result.stdout, self.path("other")).splitlines()
        self.assertEqual(["non-blocking" in other[0], len(other)], [True, 1])

    def test_reports_use_a_table(self):
        trace = self.path("t.swt")
        subprocess.run([MAKE_TRACE, "race", trace], check=True)
        table = self.table("t", gpu="Test GPU", blocks="000")

        def report(*options):
            return subprocess.run([COMMAND, "report", *options, trace], cwd=self.dir, env=self.environment,
                                  capture_output=True, text=True, timeout=1200)
        result = report("--behaviour", table, "--json", self.path("r.json"))
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("was measured on this machine: " + table, result.stdout)
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["coverage"]["behaviour"]["tables"], [table])
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        self.assertNotIn("behaviour", report().stdout)
        self.assertNotIn("behaviour", report("--behaviour", "none").stdout)
        result = report("--behaviour", self.table("other"))
        self.assertEqual(result.returncode, OK)
        self.assertIn("table not used: " + self.path("other"), " ".join(result.stdout.split()))

    def test_reports_find_the_table_that_is_stored(self):
        trace = self.path("t.swt")
        subprocess.run([MAKE_TRACE, "race", trace], check=True)
        os.mkdir(self.path("syncwatch"))

        def report(*options):
            result = subprocess.run([COMMAND, "report", *options, trace], cwd=self.dir, env=self.environment,
                                    capture_output=True, text=True, timeout=1200)
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            return result.stdout
        self.table(os.path.join("syncwatch", "behaviour-1-Another_GPU-13000.tsv"), gpu="Another GPU", blocks="000")
        self.assertNotIn("behaviour", report(), "of another GPU")
        stored = self.table(os.path.join("syncwatch", "behaviour-1-Test_GPU-13000.tsv"), gpu="Test GPU", blocks="000")
        self.assertIn("was measured on this machine: " + stored, " ".join(report().split()))
        self.assertNotIn("behaviour", report("--behaviour", "none"))

    def test_a_driver_that_crashes(self):
        crashing = os.path.join(BUILD, "tests", "tools", "crashing")
        if not os.path.exists(os.path.join(crashing, "libcuda.so.1")):  # only 'make check' builds it by itself
            outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
            subprocess.run(["make", "-s", "-C", BUILD, "tests/tools/crashing/libcuda.so.1"], env=outside, check=True,
                           timeout=1200, stdout=subprocess.DEVNULL)
        # A sanitizer would make an exit status of the signal.
        result = self.call(LD_LIBRARY_PATH=crashing, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0")
        self.assertEqual((result.returncode, result.stdout), (INPUT, ""))
        self.assertRegex(result.stderr, r"^syncwatch calibrate: memory: ended by signal 11: .*\n$")
        self.assertEqual(os.listdir(self.dir), [])

    def test_bad_input(self):
        cases = (
            (USAGE, "'x' is too much", "x"),
            (USAGE, "'y' is too much", "--show", "x", "y"),
            (INPUT, "run 'syncwatch calibrate' first", "--show"),
            (INPUT, "/nonexistent", "--show", "/nonexistent"),
            (INPUT, "/nonexistent", "--compare", "/nonexistent"),
            (INPUT, "no table of syncwatch calibrate", "--show", os.path.join(SOURCE, "README.md")),
            (OUTPUT, "/nonexistent/t", "--sim", "--output", "/nonexistent/t"),
        )
        for status, part, *arguments in cases:
            result = self.call(*arguments)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (status, "", 1), result.stderr)
            self.assertIn(part, result.stderr)


class Export(Case):
    def test_timeline_and_graph(self):
        trace = self.trace("race")
        result = self.call("export", "--chrome", self.path("t.json"), "--dot", self.path("g.dot"), trace)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (OK, "", ""))
        with open(self.path("t.json"), encoding="utf-8") as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        self.assertIn("cudaMemsetAsync", names)
        with open(self.path("g.dot"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("digraph"))

    def test_report_draws_the_same(self):
        trace = self.trace("race")
        self.call("export", "--chrome", self.path("a.json"), trace)
        self.assertEqual(self.call("report", "--chrome", self.path("b.json"), trace).returncode, OK)
        with open(self.path("a.json")) as a, open(self.path("b.json")) as b:
            self.assertEqual(a.read(), b.read())

    def test_compressed_by_name(self):
        result = self.call("export", "--chrome", self.path("t.json.gz"), self.trace("race"))
        if "cannot compress" in result.stderr:
            self.skipTest("built without zlib")
        with gzip.open(self.path("t.json.gz"), "rt", encoding="utf-8") as file:
            self.assertIn("traceEvents", json.load(file))

    def test_windows(self):
        trace = self.trace("race")
        sizes = []
        for options in ((), ("--to", "0.012"), ("--from", "1000"), ("--around", "0.001")):
            self.assertEqual(self.call("export", "--chrome", self.path("t.json"), *options, trace).returncode, OK)
            sizes.append(os.path.getsize(self.path("t.json")))
        self.assertLess(sizes[1], sizes[0])
        self.assertLess(sizes[2], sizes[1])
        self.assertGreater(sizes[3], sizes[2])

    def test_around_a_finding(self):
        trace = self.trace("race")
        for which in ("SW101", "1"):
            self.assertEqual(self.call("export", "--dot", self.path("g.dot"), "--finding", which, trace).returncode, OK)
        os.unlink(self.path("g.dot"))
        for which in ("SW999", "99", "x"):
            self.refused(INPUT, f"no finding '{which}'", "export", "--dot", self.path("g.dot"), "--finding", which, trace)
        self.assertNotIn("g.dot", os.listdir(self.dir))

    def test_bad_usage(self):
        trace = self.trace("race")
        self.refused(USAGE, "--perfetto FILE, --dot FILE or --sqlite FILE", "export", trace)
        self.refused(USAGE, "which trace?", "export", "--dot", "g.dot")
        self.refused(USAGE, "later than --from", "export", "--chrome", "t.json", "--from", "5", "--to", "4", trace)
        for value in ("0", "-1", "x", "1e99", "nan"):
            self.refused(USAGE, "milliseconds above 0", "export", "--chrome", "t.json", "--to", value, trace)
        self.refused(OUTPUT, "/nonexistent/g.dot", "export", "--dot", "/nonexistent/g.dot", trace)
        self.refused(INPUT, "/nonexistent.swt", "export", "--dot", self.path("g.dot"), "/nonexistent.swt")
        self.assertEqual(os.listdir(self.dir), ["race.swt"])


class DumpAndStat(Case):
    def test_records(self):
        trace = self.trace("race")
        result = self.call("dump", trace)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        kinds = {line.split()[0] for line in result.stdout.splitlines()}
        self.assertLessEqual({"TRACE", "PROCESS", "SET", "COPY", "SYNC"}, kinds)
        some = self.call("dump", "--kinds", "SET,COPY", trace).stdout
        self.assertIn("\nSET ", some)
        self.assertNotIn("\nSYNC ", some)

    def test_coverage(self):
        result = self.call("stat", self.trace("race"))
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("cuMemsetD8Async", result.stdout)

    def test_times_by_call_stream_and_kernel(self):
        trace = os.path.join(SOURCE, "tests", "golden", "traces", "gpu-torch-side_stream.swt")
        printed = self.call("stat", "--format", "json", "--json", self.path("s.json"), "--csv", self.path("s.csv"), trace)
        self.assertEqual((printed.returncode, printed.stderr), (OK, ""))
        with open(self.path("s.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed.stdout)
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "stat.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("s.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        stat = json.loads(printed.stdout)
        report = json.loads(self.call("report", "--all", "--format", "json", trace).stdout)
        self.assertEqual(sum(row["count"] for row in stat["calls"]), report["coverage"]["driver_calls"])
        self.assertEqual(sum(row["count"] for row in stat["kernels"]), report["coverage"]["launches"])
        by_name = {row["name"]: row for row in stat["calls"]}
        malloc = by_name["cudaMalloc (cuMemAlloc_v2)"]
        self.assertEqual((malloc["count"], malloc["waits"]), (7, 4))
        self.assertGreater(malloc["total_ms"], malloc["waits_ms"])
        for row in stat["calls"]:
            if row["timed"]:
                self.assertLessEqual(row["p50_ms"], row["p99_ms"], row)
                self.assertLessEqual(row["p99_ms"], row["longest_ms"], row)
                self.assertLessEqual(row["longest_ms"], row["total_ms"], row)
        self.assertEqual({row["name"] for row in stat["streams"]}, {"the legacy default stream", "stream 1"})
        self.assertIn("--gpu-timeline records it", self.call("stat", trace).stdout)
        with open(self.path("s.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(len(stat[table]) for table in ("calls", "streams", "kernels")))
        self.assertEqual([row["count"] for row in rows if row["name"] == "cudaMalloc (cuMemAlloc_v2)"], ["7"])
        self.assertEqual(self.call("stat", "--format", "csv", trace).stdout.splitlines(),
                         self.read("s.csv").splitlines())

    def test_forms_of_stat(self):
        trace = self.trace("race")
        self.refused(USAGE, "unknown format 'xml'", "stat", "--format", "xml", trace)
        self.refused(OUTPUT, "/nonexistent/s", "stat", "--csv", "/nonexistent/s", trace)
        self.refused(OUTPUT, "/nonexistent/s", "stat", "--json", "/nonexistent/s", trace)

    def test_bad_input(self):
        trace = self.trace("race")
        self.refused(USAGE, "NONSENSE", "dump", "--kinds", "NONSENSE", trace)
        for command in ("dump", "stat"):
            self.refused(USAGE, "which trace?", command)
            self.refused(USAGE, "one trace at a time", command, trace, trace)
            self.refused(INPUT, "/nonexistent.swt", command, "/nonexistent.swt")


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
        ours = [os.path.join(BUILD, name) for name in ("libsyncwatch.so", "libsyncwatch-run.so")]
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
        names = ("libsyncwatch.so", "libsyncwatch-run.so")
        for name in names:
            shutil.copy(os.path.join(BUILD, name), self.path("p/lib/syncwatch"))
        result = self.call("run", "sh", "-c", 'echo "$LD_PRELOAD"', command=self.path("p/bin/syncwatch"))
        paths = [os.path.realpath(self.path(os.path.join("p/lib/syncwatch", name))) for name in names]
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
        second = self.run_program("race", "-o", "t.swt")
        self.assertEqual(self.traces(), ["t-2.swt", "t.swt"])
        self.assertEqual(os.stat(self.path("t.swt")).st_mtime_ns, before.st_mtime_ns)
        self.assertIn("SW103", second.stderr, "the new trace is the one that is judged")
        self.assertIn("t-2.swt", second.stderr)

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


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4fillPfi(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], 0;
done:
	ret;
}
.visible .entry idle() { ret; }
"""


class Kernels(Case):
    def ptx(self, text=PTX, name="k.ptx"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_what_a_kernel_touches(self):
        result = self.call("kernels", self.ptx())
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("fill(float*, int)\n", result.stdout)
        self.assertRegex(result.stdout, r"evidence +PTX sm_90\n")
        self.assertRegex(result.stdout, r"parameter 0 +8 bytes, write\n")
        self.assertRegex(result.stdout, r"parameter 1 +4 bytes, not used as a pointer\n")
        self.assertRegex(result.stdout, r"write +4 bytes at 4 \* \(ntid\.x \* ctaid\.x \+ tid\.x\) \+ param 0 where ")
        self.assertRegex(result.stdout, r"idle\n(?:  .*\n)*  touches +nothing in global memory\n")

    def test_one_kernel_by_either_name_with_its_places(self):
        line = PTX[:PTX.index("st.global")].count("\n") + 1
        for name in ("_Z4fill", "fill(float", "ill"):
            result = self.call("kernels", self.ptx(), name)
            self.assertEqual(result.returncode, OK)
            self.assertNotIn("idle", result.stdout)
            self.assertRegex(result.stdout, rf"line {line}, st\.global[.a-z0-9]*: write 4 bytes at ")

    def test_json_agrees_with_its_schema(self):
        result = self.call("kernels", "--format", "json", "--json", self.path("k.json"), self.ptx())
        self.assertEqual(result.returncode, OK, result.stderr)
        with open(self.path("k.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), result.stdout)
        kernels = json.loads(result.stdout)["kernels"]
        self.assertEqual([k["mangled"] for k in kernels], ["_Z4fillPfi", "idle"])
        through, = kernels[0]["through"]
        self.assertEqual((through["kind"], through["reads"], through["writes"]), ("parameter", False, True))
        self.assertEqual(kernels[1]["accesses"], [])
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "kernels.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("k.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_of_a_trace_without_code(self):
        result = self.call("kernels", self.trace("kernels"))
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertRegex(result.stdout, r"launched +\d+ times? on sm_")
        self.assertIn("no code image", result.stdout)

    def test_the_cache_is_used_and_can_be_left_out(self):
        cache = self.path("cache")
        environment = dict(ENVIRONMENT, XDG_CACHE_HOME=cache)
        for option, kept in (("--no-cache", False), ("--format=text", True)):
            done = [subprocess.run([COMMAND, "kernels", option, self.ptx()], env=environment, capture_output=True,
                                   text=True, check=True).stdout for _ in range(2)]
            self.assertEqual(done[0], done[1])
            self.assertEqual(os.path.isdir(cache), kept)
        files = os.listdir(os.path.join(cache, "syncwatch"))
        self.assertEqual(len(files), 1)

    def test_what_cannot_be_used(self):
        self.refused(USAGE, "which trace or file?", "kernels")
        self.refused(USAGE, "one file and one name", "kernels", "a", "b", "c")
        self.refused(USAGE, "unknown format 'xml'", "kernels", "--format", "xml", "a")
        for arch in ("x", "sm_", "0", "-1", "9999", "90b"):
            self.refused(USAGE, "is not an architecture", "kernels", "--arch", arch, "a")
        self.refused(INPUT, "cannot open '/nonexistent'", "kernels", "/nonexistent")
        self.refused(INPUT, "not a plain file", "kernels", self.dir)
        self.refused(INPUT, "'idle.ptx' has no kernel whose name contains 'x y'".replace("idle.ptx", self.ptx()),
                     "kernels", self.ptx(), "x y")
        self.refused(INPUT, "is empty", "kernels", self.ptx("", "empty"))
        self.refused(INPUT, "is neither a trace nor PTX", "kernels", self.ptx("hello", "text"))
        self.refused(INPUT, "holds no CUDA code", "kernels", "/bin/true")
        with open(self.path("bad"), "wb") as file:
            file.write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, 4096) + bytes(100))
        self.refused(INPUT, "image at offset 0: fatbin: offset 16", "kernels", self.path("bad"))


class Table(unittest.TestCase):
    def test_manual_names_every_command_and_option(self):
        with open(os.path.join(SOURCE, "doc", "syncwatch.1"), encoding="utf-8") as file:
            manual = file.read().replace("\\-", "-")
        overview = subprocess.run([COMMAND, "--help"], capture_output=True, text=True).stdout
        commands = [line.split()[1] for line in overview.splitlines() if line.startswith("  syncwatch ")]
        self.assertGreaterEqual(len(commands), 3)
        for command in commands:
            self.assertIn(f"syncwatch {command}", manual)
            text = subprocess.run([COMMAND, command, "--help"], capture_output=True, text=True).stdout
            for word in text.split():
                if word.startswith("--") and word[2:] and text.index(word) < text.index("Exit status:"):
                    self.assertIn(word.rstrip(","), manual, f"{command} {word}")

    def test_manual_has_the_exit_statuses_of_the_help(self):
        with open(os.path.join(SOURCE, "doc", "syncwatch.1"), encoding="utf-8") as file:
            table = file.read().replace("\\-", "-").split("tab(;);", 1)[1].split(".TE")[0]
        wanted = {tuple(re.sub(r"\\fB(run|merge)\\fR: ", "", part) for part in line.split(";", 1))
                  for line in table.splitlines() if ";" in line}
        found = set()
        for command in ("run", "report", "merge", "diff"):
            text = subprocess.run([COMMAND, command, "--help"], capture_output=True, text=True).stdout
            for line in text.split("Exit status:\n")[1].splitlines():
                found.add((line[2:12].strip(), line[13:]))
        self.assertEqual(found, wanted)


unittest.main(argv=sys.argv[:1], verbosity=1)
