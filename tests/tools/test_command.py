#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command as its users meet it: every bad input gets one clear line and its documented exit status; help and manual.

usage: test_command.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest

from command_case import BUILD, COMMAND, ENVIRONMENT, INPUT, LIMIT, OK, OUTPUT, SOURCE, USAGE, Case


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
        self.refused(USAGE, "'--gpu-timeline' takes '=nodes', '=shared' or nothing", "run", "--gpu-timeline=all", "true")

    def test_options_of_other_commands_are_unknown(self):
        self.refused(USAGE, "unknown option '--error-exitcode'", "export", "--error-exitcode", "1", "x.swt")
        self.refused(USAGE, "unknown option '--sim'", "report", "--sim", "x.swt")

    def test_options_that_are_nearly_right(self):
        for command, given, meant in (("report", "--jsom", "did you mean '--json'?"), ("run", "--foce", "did you mean '--force'?"),
                                      ("report", "--suppres=x", "did you mean '--suppress'?"),
                                      ("report", "--guard-host", "it is one of 'syncwatch run'")):
            self.refused(USAGE, meant, command, given, "x.swt")
        for given in ("--x", "--frobnicate", "--jxyz"):
            self.assertNotIn("did you mean", self.call("report", given, "x.swt").stderr)
        self.refused(USAGE, "--color is auto|always|never, not 'alway'", "report", "--color", "alway", "x.swt")

    def test_outputs_that_would_replace_each_other(self):
        trace = self.trace("race")
        self.refused(USAGE, "--json and --html would both write 'a'", "report", "--json", "a", "--html", "a", trace)
        self.refused(USAGE, "which is read", "report", "--json", trace, trace)
        os.symlink(trace, self.path("link"))
        self.refused(USAGE, "which is read", "report", "--json", self.path("link"), trace)
        self.refused(USAGE, "would both write '-'", "report", "--json", "-", "--sarif", "-", trace)
        # Files of devices take all that they are given.
        self.assertEqual(self.call("report", "--json", "/dev/null", "--html", "/dev/null", trace).returncode, OK)

    def test_standard_output_as_a_file(self):
        trace = self.trace("race")
        plain = self.call("report", "--format", "json", trace).stdout
        self.assertEqual(json.loads(self.call("report", "--json", "-", trace).stdout)["findings"],
                         json.loads(plain)["findings"])
        self.assertEqual(os.listdir(self.dir), ["race.swt"])

    def test_the_newest_trace_here(self):
        self.refused(USAGE, "there is no syncwatch-*.swt in this folder", "report")
        for name, kind, age in (("syncwatch-a-1.swt", "race", 0), ("syncwatch-b-2.swt", "fixed", 100), ("c.swt", "race", 0)):
            os.rename(self.trace(kind), self.path(name))
            os.utime(self.path(name), (1e9 - age, 1e9 - age))
        result = self.call("report")
        self.assertEqual(result.stderr, "syncwatch report: the newest trace here: syncwatch-a-1.swt\n")
        self.assertEqual(result.stdout, self.call("report", "syncwatch-a-1.swt").stdout)

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

    def test_programs_that_cannot_be_run(self):
        for name, mode, content, status, part in (
                ("no_x.py", 0o644, "print(1)\n", 126, "it is not executable: try 'python3 ./no_x.py', or chmod +x"),
                ("no_x", 0o644, "#!/bin/sh\n", 126, "try '/bin/sh ./no_x'"),
                ("no_interpreter", 0o755, "#!/opt/no/python\n", 127, "its interpreter '/opt/no/python' is missing")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(content)
            os.chmod(self.path(name), mode)
            self.refused(status, part, "run", "./" + name)
        with open("/bin/true", "rb") as file, open(self.path("foreign"), "wb") as copy:
            content = bytearray(file.read())
            content[18:20] = b"\x15\x00"  # PPC64
            copy.write(content)
        os.chmod(self.path("foreign"), 0o755)
        self.refused(126, "it is a program for ppc64, which this machine is not", "run", "./foreign")
        os.mkdir(self.path("folder"))
        self.refused(126, "it is a folder", "run", "./folder")
        self.refused(127, "no program of this name is in PATH", "run", "there-is-no-such-program")
        # A script without a first line is the shell's.
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("exit 5\n")
        os.chmod(self.path("script"), 0o755)
        self.assertEqual(self.call("run", "./script").returncode, 5)

    def test_each_trace_is_named_by_its_program(self):
        program = os.path.join(BUILD, "tests", "tools", "cuda_program")
        os.symlink(program, self.path("my prog"))
        self.call("run", "--sim", "sh", "-c", f"'{program}' fixed; './my prog' fixed; '{program}' fixed")
        names = sorted(name for name in os.listdir(self.dir) if name.endswith(".swt"))
        self.assertRegex(" ".join(names), r"^syncwatch-cuda_program-\d+.swt syncwatch-cuda_program-\d+.swt syncwatch-my_prog-\d+.swt$")
        self.call("run", "--sim", "-o", "x-%e.swt", "sh", "-c", f"'{program}' fixed")
        self.assertIn("x-cuda_program.swt", os.listdir(self.dir))

    def test_stacks_and_size_of_the_trace(self):
        program = (os.path.join(BUILD, "tests", "tools", "cuda_program"),)
        for option, environment in ((("--depth", "2"), "depth=2"), (("--depth", "0"), "stacks=0"),
                                    (("--max-size", "1M"), "max-size=1048576")):
            result = self.call("run", "--sim", *option, "sh", "-c", "echo $SYNCWATCH_OPTIONS; exec " + program[0])
            self.assertIn(":" + environment + ":", result.stdout)

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


class Installation(Case):
    def copied(self, *arguments):
        return self.call("report", *arguments, self.trace("race"), command=self.path("syncwatch")).stderr

    def test_a_command_without_the_known_findings_says_so(self):
        with open(COMMAND, "rb") as file:
            folders = re.findall(rb"(/[\w/.+-]*/share/syncwatch)\0", file.read())
        if any(os.path.exists(os.path.join(folder, b"known.supp")) for folder in folders):
            self.skipTest("they are installed on this machine")
        shutil.copy(COMMAND, self.path("syncwatch"))
        missing = "known.supp is not installed with this command"
        self.assertEqual(self.copied().count(missing), 1)
        self.assertEqual(self.copied("--no-known"), "")
        os.makedirs(self.path("share/syncwatch"))
        shutil.copy(os.path.join(SOURCE, "share/syncwatch/known.supp"), self.path("share/syncwatch"))
        self.assertEqual(self.copied(), "")


class Limits(Case):
    def test_values(self):
        for value in ("0", "-1", "x", "1Q", "1KB", "99999999999999999999"):
            self.refused(USAGE, "bytes above 0", "report", "--max-memory", value, "x.swt")
        for value in ("0", "-1", "x", "1e99", "nan", "s", "0s", "60 s", "60sec", "1e99us"):
            self.refused(USAGE, "seconds above 0", "report", "--max-time", value, "x.swt")

    def test_enough_is_enough(self):
        trace = self.trace("race")
        plain = self.call("report", trace)
        limited = self.call("report", "--max-memory", "2G", "--max-time", "10m", trace)
        self.assertEqual((limited.returncode, limited.stderr), (OK, ""))
        self.assertEqual(plain.stdout.count("ERROR"), limited.stdout.count("ERROR"))

    def test_memory(self):
        with open(COMMAND, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("a sanitizer's own allocator ends the command when it gets no memory")
        trace = self.trace("race")
        result = self.call("report", "--json", self.path("r.json"), "--max-memory", "16K", trace)
        self.assertEqual((result.returncode, result.stdout), (LIMIT, ""))
        self.assertIn("--max-memory or ulimit -d allows no more", result.stderr)
        self.assertEqual(os.listdir(self.dir), ["race.swt"])

    def test_time(self):
        trace = self.trace("race")
        os.mkfifo(self.path("pipe"))  # no process reads it: the report would wait without end
        result = self.call("report", "--max-time", "200ms", "--json", self.path("pipe"), trace)
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
        if os.geteuid() == 0:
            kept = self.path("cache/syncwatch/last-report")
            os.rename(kept, self.path("ours"))
            os.symlink(self.path("ours"), kept)
            self.assertEqual(call("explain", fingerprint).returncode, OK, "by a link of our own")
            os.chown(kept, 12345, 12345, follow_symlinks=False)
            self.assertEqual(call("explain", fingerprint).returncode, INPUT, "by a link of another user")
            os.remove(kept)
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
        # What is said of one command is not printed for others.
        self.assertIn("run: for the report alone", self.call("help", "run").stdout)
        self.assertNotRegex(self.call("help", "report").stdout, r"(run|diff|stat): ")
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
        wanted = {tuple(re.sub(r"\\fB(run|confirm|merge)\\fR: ", "", part) for part in line.split(";", 1))
                  for line in table.splitlines() if ";" in line}
        found = set()
        for command in ("run", "confirm", "report", "merge", "diff"):
            text = subprocess.run([COMMAND, command, "--help"], capture_output=True, text=True).stdout
            for line in text.split("Exit status:\n")[1].splitlines():
                found.add((line[2:12].strip(), line[13:]))
        self.assertEqual(found, wanted)
        with open(os.path.join(SOURCE, "doc", "usage.md"), encoding="utf-8") as file:
            table = file.read().split("| status | when |\n|---|---|\n", 1)[1].split("\n\n")[0]
        self.assertEqual({tuple(line.strip("| ").split(" | ")) for line in table.splitlines()}, found)


unittest.main(argv=sys.argv[:1], verbosity=1)
