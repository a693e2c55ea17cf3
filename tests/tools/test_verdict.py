#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One verdict and one exit contract for run, report, merge, diff and confirm: what each ends with, and what it says.

usage: test_verdict.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import command_case
from command_case import BUILD, COMMAND, CUDA_PROGRAM, ENVIRONMENT, INPUT, MAKE_TRACE, OK, OUTPUT, SOURCE

AWKWARD = os.path.join(BUILD, "tests", "tools", "awkward")
IPC = os.path.join(BUILD, "kernels", "ipc")
CONFIRM_PROGRAM = os.path.join(BUILD, "tests", "tools", "confirm_program")
ERRORS, UNPROVEN, NOTHING = 9, 6, 7
GATE = ("--error-exitcode", str(ERRORS))
# Every option that names a file.
OUTPUTS = ("--json", "--html", "--chrome", "--perfetto", "--dot", "--sarif", "--junit", "--gitlab", "--write-suppressions")


class Case(command_case.Case):
    def ends(self, status, *arguments, **environment):
        """What the command prints on both streams."""
        result = self.call(*arguments, **environment)
        self.assertEqual(result.returncode, status, (arguments, result.stdout, result.stderr))
        return result.stdout + result.stderr

    def run_sim(self, status, *arguments, **environment):
        return self.ends(status, "run", "--sim", *arguments, **environment)

    def both(self, plain, gated, command, *arguments):
        """The statuses without and with --error-exitcode; what is printed without it."""
        self.ends(gated, command, *GATE, *arguments)
        return self.ends(plain, command, *arguments)

    def cut(self, path, keep):
        with open(path, "rb") as file, open(self.path("cut.swt"), "wb") as cut:
            cut.write(file.read(keep))
        return self.path("cut.swt")

    def json(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)


class Traces(Case):
    """report, merge and diff: a pair of a trace that is judged and one that is not."""

    def each(self, plain, gated, trace, merged=None):
        """merged: what merge ends with without --error-exitcode."""
        whole = self.trace("fixed")
        text = self.both(plain, gated, "report", trace)
        self.both(merged if merged is not None else plain, gated, "merge", trace)
        self.both(plain, gated, "diff", whole, trace)
        return text

    def test_a_race_and_its_fixed_twin(self):
        self.both(OK, ERRORS, "report", self.trace("race"))
        self.both(OK, ERRORS, "merge", self.trace("race"))
        self.both(OK, ERRORS, "diff", self.trace("fixed"), self.trace("race"))
        self.assertIn("syncwatch: no hazards", self.each(OK, OK, self.trace("fixed")))

    def test_several_traces(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        self.both(OK, ERRORS, "report", fixed, race)
        self.both(OK, OK, "report", fixed, fixed)
        self.both(INPUT, UNPROVEN, "report", fixed, self.cut(fixed, 5000))
        self.both(INPUT, ERRORS, "report", race, self.cut(fixed, 5000))
        self.both(INPUT, UNPROVEN, "report", fixed, "/nonexistent.swt")

    def test_the_program_that_was_killed_is_judged_and_it_says_so(self):
        text = self.each(OK, OK, self.trace("crashed"))
        self.assertIn("did not end normally", text)

    def test_cut(self):
        fixed = self.trace("fixed")
        size = os.path.getsize(fixed)
        whole = self.call("report", fixed).stdout.replace("fixed.swt", "cut.swt")
        for keep in (4096, 4097, 4128, 4200, 5000):
            text = self.each(INPUT, UNPROVEN, self.cut(fixed, keep), merged=UNPROVEN)
            self.assertNotIn("no hazards", text)
            self.assertIn("not all was judged", text)
            self.assertIn("damaged", text)
        for keep in (size, size - 1):  # the end of its last chunk is empty
            self.assertEqual(self.call("report", self.cut(fixed, keep)).stdout, whole)

    def test_commands_that_print_or_draw(self):
        fixed = self.trace("fixed")
        commands = [("stat",), ("dump",), ("export", "--chrome", self.path("c")), ("export", "--perfetto", self.path("p")),
                    ("export", "--dot", self.path("d"))]
        if "without SQLite" not in self.call("query", fixed, "SELECT 1").stderr:
            commands += [("query", "SELECT count(*) FROM calls"), ("export", "--sqlite", self.path("s"))]
        for command in commands:
            self.ends(OK, command[0], *((fixed, *command[1:]) if command[0] == "query" else (*command[1:], fixed)))
            cut = self.cut(fixed, 5000)
            text = self.ends(INPUT, command[0], *((cut, *command[1:]) if command[0] == "query" else (*command[1:], cut)))
            self.assertEqual(text.count("the trace is damaged, what is whole of it was used"), 1, command)
        for path in ("c", "p", "d"):
            self.assertGreater(os.path.getsize(self.path(path)), 0)

    def test_what_is_found_in_a_part_counts(self):
        race = self.trace("race")
        with open(race, "r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(b"\1" * 40)  # begins like a second chunk, and is none
        text = self.each(INPUT, ERRORS, race, merged=UNPROVEN)
        self.assertIn("1 error, 0 warnings, and not all was judged, in", text)

    def test_empty_foreign_missing(self):
        for name, content in (("empty", b""), ("foreign", b"\x7fELF" + bytes(8192)), ("text", b"no trace\n"),
                              ("short", b"SYNCWTRC\x01\0")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.assertNotIn("no hazards", self.each(INPUT, UNPROVEN, self.path(name)))
        self.each(INPUT, UNPROVEN, "/nonexistent.swt")

    def test_lost_records(self):
        make = os.path.join(BUILD, "tests", "merge", "make_rank")
        subprocess.run([make, self.path("lost.swt"), "rank=0", "size=1", "race=0", "final=0", "ipc=set@5,loss@6"], check=True)
        text = self.each(OK, UNPROVEN, self.path("lost.swt"), merged=UNPROVEN)
        self.assertIn("of its records were lost", text)
        self.assertNotIn("no hazards", text)

    def test_no_call_of_cuda(self):
        self.each(OK, NOTHING, self.trace("silent"))
        self.ends(OK, "diff", *GATE, self.trace("silent"), self.trace("fixed"))

    def test_an_error_that_an_unknown_call_lowered(self):
        text = self.each(OK, UNPROVEN, self.trace("unknown"), merged=UNPROVEN)
        self.assertIn("1 hazard would be an error, but a call that syncwatch does not know may order the two sides", text)
        self.assertIn("SW101", self.call("report", "--all", self.trace("unknown")).stdout)
        self.assertNotIn("hazard would be", self.each(OK, OK, self.trace("unknown-fixed")))
        with open(self.path("s"), "w") as file:
            file.write("SW101 function=*\nSW101\n")
        self.ends(OK, "report", *GATE, "--suppress", self.path("s"), self.trace("unknown"))

    def test_memory_that_other_processes_have(self):
        shared = self.trace("shared")
        text = self.both(OK, UNPROVEN, "report", shared)
        self.assertIn("syncwatch merge", text)
        self.assertNotIn("no hazards", text)
        self.both(OK, UNPROVEN, "diff", self.trace("fixed"), shared)
        self.both(OK, OK, "merge", shared)  # of all traces that there are

    def test_reports_in_json_are_judged_alike(self):
        report = {}
        for kind in "fixed", "race", "unknown", "silent", "crashed":
            report[kind] = self.path(kind + ".json")
            self.ends(OK, "report", "--json", report[kind], self.trace(kind))
        if "made without jansson" in self.call("diff", report["fixed"], report["fixed"]).stderr:
            self.skipTest("built without jansson")
        report["cut"] = self.path("cut.json")
        self.ends(INPUT, "report", "--json", report["cut"], self.cut(self.trace("fixed"), 5000))
        for kind, status in (("fixed", OK), ("race", ERRORS), ("unknown", UNPROVEN), ("silent", NOTHING), ("crashed", OK),
                             ("cut", UNPROVEN)):
            self.both(OK, status, "diff", report["fixed"], report[kind])
        self.both(OK, UNPROVEN, "diff", report["cut"], report["fixed"])
        # Of a version that said nothing of gaps.
        old = self.json("cut.json")
        del old["summary"]["complete"], old["summary"]["gaps"]
        with open(self.path("old.json"), "w", encoding="utf-8") as file:
            json.dump(old, file)
        self.both(OK, UNPROVEN, "diff", report["fixed"], self.path("old.json"))

    def test_a_suppression_file_that_cannot_be_read(self):
        for command in ("report", "merge"):
            self.both(INPUT, UNPROVEN, command, "--suppress", "/nonexistent/s", self.trace("fixed"))

    def files(self, status, *arguments):
        """(JUnit's errors and failures, levels of SARIF's notifications and results, GitLab's checks, GitHub's commands)"""
        names = [self.path("x." + name) for name in ("junit", "sarif", "gitlab")]
        text = self.ends(status, arguments[0], *GATE, "--junit", names[0], "--sarif", names[1], "--gitlab", names[2], "--github",
                         *arguments[1:])
        checker = os.path.join(SOURCE, "tests", "report", "check_formats.py")
        for name, path in zip(("r.junit.xml", "r.sarif", "r.gitlab.json"), names):
            os.replace(path, self.path(name))
        checked = subprocess.run([sys.executable, checker, *(self.path(name) for name in ("r.junit.xml", "r.sarif", "r.gitlab.json"))],
                                 capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        run, = self.json("r.sarif")["runs"]
        notes = [note["level"] for invocation in run["invocations"] for note in invocation["toolExecutionNotifications"]]
        junit = self.read("r.junit.xml")
        return ((junit.count("<error "), junit.count("<failure ")), (notes.count("warning"), [r["ruleId"] for r in run["results"]]),
                [issue["check_name"] for issue in self.json("r.gitlab.json")],
                [line.split("::")[1].split("title=")[1] for line in text.splitlines() if line.startswith("::")])

    def test_files_for_builds_have_the_gaps(self):
        fixed = self.trace("fixed")
        self.assertEqual(self.files(OK, "report", fixed), ((0, 0), (0, []), [], []))
        self.assertEqual(self.files(OK, "report", fixed, fixed), ((0, 0), (0, []), [], []))
        gap = ["incomplete"]
        for traces in ((self.trace("unknown"),), (self.trace("unknown"), fixed)):
            junit, sarif, gitlab, github = self.files(UNPROVEN, "report", *traces)
            self.assertEqual((junit, sarif), ((1, 0), (1, ["SW903"])))
            self.assertEqual((set(gitlab), set(github)), ({"SW903 unclassified-call", "incomplete"}, {"SW903 unclassified-call", "syncwatch incomplete"}))
        silent = self.files(NOTHING, "report", self.trace("silent"))
        self.assertEqual((silent[0], silent[2]), ((1, 0), ["SW901 nothing-intercepted", "incomplete"]))
        missing = self.files(UNPROVEN, "report", fixed, "/nonexistent.swt")
        self.assertEqual(missing, ((1, 0), (1, []), gap, ["syncwatch incomplete"]))
        self.assertEqual(self.files(UNPROVEN, "merge", fixed, "/nonexistent.swt")[0], (1, 0))

    def test_machines_are_told_too(self):
        """JUnit and SARIF of a part of a run are no clean ones."""
        def files(*traces):
            self.call("report", "--junit", self.path("j"), "--sarif", self.path("s"), "--html", self.path("h"), *traces)
            return self.read("j"), self.json("s")["runs"][0]["invocations"][0]["toolExecutionNotifications"], self.read("h")
        junit, notes, page = files(self.trace("fixed"))
        self.assertIn('name="no errors"/>', junit)
        self.assertIn('errors="0"', junit)
        self.assertFalse([note for note in notes if note["level"] != "note"])
        self.assertIn("syncwatch: no hazards in", page)
        junit, notes, page = files(self.cut(self.trace("fixed"), 5000))
        self.assertIn('errors="1"', junit)
        self.assertIn('<error type="incomplete"', junit)
        self.assertNotIn("no errors", junit)
        self.assertTrue([note for note in notes if "not all was judged" in note["message"]["text"]])
        self.assertNotIn("syncwatch: no hazards in", page)
        self.assertIn("syncwatch: not all was judged", page)


class Runs(Case):
    def test_a_race_and_its_fixed_twin(self):
        self.run_sim(ERRORS, *GATE, AWKWARD, "race")
        self.run_sim(OK, *GATE, AWKWARD, "fixed")
        self.run_sim(OK, AWKWARD, "race")

    def test_a_trace_that_is_full_is_not_blamed_on_the_program(self):
        options = {"SYNCWATCH_OPTIONS": "max-size=300K"}
        text = self.run_sim(UNPROVEN, *GATE, "-o", "t.swt", AWKWARD, "sets=20000", "fixed", **options)
        self.assertNotIn("did not end normally", text)
        self.assertIn("The trace reached its size limit (max-size)", text)
        self.assertIn("of its records were lost: the trace had reached its size limit", text)
        self.assertNotIn("no hazards", text)
        self.run_sim(OK, AWKWARD, "sets=20000", "fixed", **options)
        self.both(OK, UNPROVEN, "report", "t.swt")
        # One that was killed is a program that did not end.
        text = self.run_sim(128 + 9, *GATE, AWKWARD, "sets=20000", "fixed", "kill", **options)
        self.assertIn("did not end normally", text)
        self.assertIn("The trace reached its size limit (max-size)", text)

    def test_a_trace_that_was_overwritten(self):
        self.run_sim(OK, "-o", "t.swt", AWKWARD, "sets=5000", "fixed")
        self.both(OK, OK, "report", "t.swt")
        with open(self.path("t.swt"), "r+b") as file:
            file.seek(100000)
            file.write(b"overwritten")
        for command, plain in ("report", INPUT), ("merge", UNPROVEN):
            text = self.both(plain, UNPROVEN, command, "t.swt")
            self.assertNotIn("no hazards", text)
        self.both(INPUT, UNPROVEN, "diff", self.trace("fixed"), "t.swt")

    def test_a_child_that_was_killed_is_judged(self):
        text = self.run_sim(OK, *GATE, "sh", "-c", f"'{AWKWARD}' fixed kill; true")
        self.assertIn("did not end normally", text)
        self.run_sim(ERRORS, *GATE, "sh", "-c", f"'{AWKWARD}' race kill; true")

    def test_a_gap_of_the_run_is_in_the_headline(self):
        text = self.run_sim(UNPROVEN, *GATE, "sh", "-c", f"'{AWKWARD}' fixed; env -i true")
        self.assertNotIn("no hazards", text)
        self.assertIn("not all was judged: 0 errors, 0 warnings in awkward", text)
        self.assertIn("no hazards", self.run_sim(OK, *GATE, "sh", "-c", f"'{AWKWARD}' fixed; env true"))

    def test_run_and_report_say_the_same(self):
        """One report, whoever prints it."""
        for program in (AWKWARD, "race"), (AWKWARD, "fixed"), (CUDA_PROGRAM, "race"), (AWKWARD, "sets=2000", "fixed"):
            for options in (), ("--all",), ("--strict-host",):
                self.run_sim(OK, "--json", self.path("run.json"), "--force", "-o", "t.swt", *options, "--", *program)
                self.ends(OK, "report", "--json", self.path("report.json"), *options, self.path("t.swt"))
                run, report = self.json("run.json"), self.json("report.json")
                for finding in run["findings"]:
                    self.assertEqual(finding.pop("processes"), [report["program"]["pid"]])
                del run["coverage"]["analysis"]["cpu_ms"], report["coverage"]["analysis"]["cpu_ms"]
                self.assertTrue({"replay", "host_waits", "complete"} <= run["summary"].keys(), run["summary"].keys())
                for name in report:
                    self.assertEqual(run.pop(name), report[name], (program, name))
                self.assertEqual(set(run), {"processes", "run"})
                whole, = run["processes"]
                del whole["coverage"]["analysis"]["cpu_ms"]
                self.assertEqual(whole, report)

    def test_sums_of_several_processes(self):
        self.run_sim(OK, "--json", self.path("r.json"), "-o", "t.swt", "sh", "-c", f"'{AWKWARD}' fixed; '{AWKWARD}' fixed")
        run = self.json("r.json")
        parts = [process["summary"] for process in run["processes"]]
        self.assertEqual(len(parts), 2)
        sums = {}
        for wait in [wait for part in parts for wait in part["host_waits"]]:
            sums[wait["kind"]] = sums.get(wait["kind"], 0) + wait["calls"]
        self.assertEqual({wait["kind"]: wait["calls"] for wait in run["summary"]["host_waits"]}, sums)
        self.assertIsNone(run["summary"]["replay"])
        self.ends(OK, "report", "--json", self.path("several.json"), "t.swt", "t-2.swt")
        self.assertEqual(self.json("several.json")["summary"], run["summary"])


class Outputs(Case):
    """A file that cannot be written: 6 under --error-exitcode, 4 else; `run` passes on the program's status."""

    def test_of_a_report(self):
        fixed, race = self.trace("fixed"), self.trace("race")
        for option in OUTPUTS:
            text = self.both(OUTPUT, UNPROVEN, "report", option, "/dev/full", fixed)
            self.assertIn("No space left", text, option)
            self.ends(ERRORS, "report", *GATE, option, "/dev/full", race)
            self.both(OUTPUT, UNPROVEN, "report", option, "/nonexistent/x", fixed)
            self.both(OK, OK, "report", option, self.path("x"), fixed)

    def test_of_a_run(self):
        for option in OUTPUTS:
            text = self.run_sim(UNPROVEN, *GATE, option, "/dev/full", AWKWARD, "fixed")
            self.assertIn("No space left", text, option)
            self.run_sim(OK, option, "/dev/full", AWKWARD, "fixed")
            self.run_sim(ERRORS, *GATE, option, "/dev/full", AWKWARD, "race")
            self.run_sim(OUTPUT, option, "/nonexistent/x", AWKWARD, "fixed")
            self.run_sim(UNPROVEN, *GATE, option, "/nonexistent/x", AWKWARD, "fixed")
            self.run_sim(OK, *GATE, option, self.path("x"), AWKWARD, "fixed")

    def test_of_a_merge_and_a_comparison(self):
        fixed = self.trace("fixed")
        for option in ("--json", "--sarif", "--junit", "--gitlab", "--write-suppressions", "--chrome"):
            self.both(OUTPUT, UNPROVEN, "merge", option, "/dev/full", fixed)
        self.both(OUTPUT, UNPROVEN, "diff", "--json", "/dev/full", fixed, fixed)

    def test_one_that_fails_does_not_stop_the_others(self):
        others = [self.path(name) for name in ("p", "d", "j", "s")]
        self.both(OUTPUT, UNPROVEN, "report", "--chrome", "/dev/full", "--perfetto", others[0], "--dot", others[1], "--json",
                  others[2], "--sarif", others[3], self.trace("fixed"))
        for path in others:
            self.assertGreater(os.path.getsize(path), 0, path)

    def test_standard_output(self):
        for options, status in ((), OUTPUT), (GATE, UNPROVEN):
            with open("/dev/full", "w") as full:
                for arguments in (("report", self.trace("fixed")), ("merge", self.trace("fixed")),
                                  ("diff", self.trace("fixed"), self.trace("fixed"))):
                    done = subprocess.run([COMMAND, *arguments, *options], stdout=full, stderr=subprocess.PIPE, text=True,
                                          env=ENVIRONMENT)
                    self.assertEqual(done.returncode, status, (arguments, done.stderr))


class Confirm(Case):
    def confirm(self, status, *arguments):
        return self.ends(status, "confirm", "--sim", "--no-fix", *arguments)

    def test_a_race_and_its_fixed_twin(self):
        self.confirm(ERRORS, *GATE, CONFIRM_PROGRAM, "race")
        self.confirm(OK, CONFIRM_PROGRAM, "race")
        self.assertIn("no hazards", self.confirm(OK, *GATE, CONFIRM_PROGRAM, "fixed"))

    def test_what_was_not_seen(self):
        self.assertIn("made no CUDA call", self.confirm(NOTHING, *GATE, "true"))
        self.confirm(INPUT, "true")
        self.confirm(3, *GATE, "sh", "-c", "exit 3")
        self.confirm(UNPROVEN, *GATE, "env", "-i", "true")
        text = self.confirm(UNPROVEN, *GATE, "sh", "-c", f"'{AWKWARD}' fixed; env -i true")
        self.assertNotIn("no hazards", text)

    def test_outputs_and_traces(self):
        self.confirm(UNPROVEN, *GATE, "--json", "/dev/full", AWKWARD, "fixed")
        self.confirm(OUTPUT, "--json", "/dev/full", AWKWARD, "fixed")
        self.confirm(UNPROVEN, *GATE, "--trace", "/nonexistent.swt", AWKWARD, "fixed")
        self.confirm(INPUT, "--trace", "/nonexistent.swt", AWKWARD, "fixed")
        self.confirm(INPUT, "--trace", self.cut(self.trace("fixed"), 5000), AWKWARD, "fixed")
        self.confirm(UNPROVEN, *GATE, "--trace", self.cut(self.trace("fixed"), 5000), AWKWARD, "fixed")


class Names(Case):
    """A trace that was there before the run is never taken for that of the run."""

    def test_refused_or_replaced(self):
        self.run_sim(OK, *GATE, "-o", "t.swt", AWKWARD, "fixed")
        before = os.stat(self.path("t.swt"))
        for options, status in ((), OUTPUT), (GATE, UNPROVEN):
            text = self.run_sim(status, *options, "-o", "t.swt", "sh", "-c", f"echo started; '{AWKWARD}' race")
            self.assertIn("t.swt' is there already: --force replaces it", text)
            self.assertNotIn("started", text)
        self.assertEqual(os.stat(self.path("t.swt")).st_mtime_ns, before.st_mtime_ns)
        self.ends(OUTPUT, "confirm", "--sim", "-o", "t.swt", AWKWARD, "fixed")
        self.run_sim(ERRORS, *GATE, "--force", "-o", "t.swt", AWKWARD, "race")
        self.ends(ERRORS, "report", *GATE, "t.swt")
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".swt")], ["t.swt"])

    def test_further_processes_of_a_run(self):
        self.run_sim(OK, *GATE, "-o", "t.swt", "sh", "-c", f"'{AWKWARD}' fixed; '{AWKWARD}' fixed")
        self.assertEqual(sorted(name for name in os.listdir(self.dir)), ["t-2.swt", "t.swt"])

    def test_names_of_processes(self):
        for _ in range(2):
            self.run_sim(OK, *GATE, "-o", "%p.swt", AWKWARD, "fixed")
            self.run_sim(OK, *GATE, AWKWARD, "fixed")
        self.run_sim(OK, *GATE, "-o", "%q{NAME}.swt", AWKWARD, "fixed", NAME="a")
        self.run_sim(UNPROVEN, *GATE, "-o", "%q{NAME}.swt", AWKWARD, "fixed", NAME="a")
        self.run_sim(OK, *GATE, "-o", "%q{NAME}.swt", AWKWARD, "fixed", NAME="b")

    def test_what_is_no_file_is_not_replaced(self):
        os.mkfifo(self.path("fifo"))
        os.mkdir(self.path("folder"))
        for name in "fifo", "folder", "/dev/null":
            self.assertIn("no regular file", self.run_sim(OUTPUT, "--force", "-o", name, AWKWARD, "fixed"))
        with open(self.path("kept"), "w") as file:
            file.write("kept")
        os.symlink("kept", self.path("link"))
        self.assertIn("no regular file", self.run_sim(OUTPUT, "--force", "-o", "link", AWKWARD, "fixed"))
        self.assertEqual(self.read("kept"), "kept")

    def test_packed(self):
        if "cannot compress" in self.call("pack", self.trace("fixed")).stderr:
            self.skipTest("built without zstd")
        self.run_sim(OK, *GATE, "--pack", "-o", "p.swt", AWKWARD, "fixed")
        self.run_sim(UNPROVEN, *GATE, "--pack", "-o", "p.swt", AWKWARD, "fixed")
        self.run_sim(ERRORS, *GATE, "--pack", "--force", "-o", "p.swt", AWKWARD, "race")
        self.ends(ERRORS, "report", *GATE, "p.swt.zst")


@unittest.skipUnless(os.path.exists(IPC), "kernels/ipc is not built (it needs nvcc)")
class Between(Case):
    """Processes of one run that share memory: what merge finds between them is in the verdict of the run."""

    def ipc(self, status, *arguments):
        return self.run_sim(status, *GATE, "--json", self.path("r.json"), "-o", "%p.swt", IPC, *arguments)

    def test_each_race_and_its_fixed_twin(self):
        for variant, number in (("unordered", "SW505"), ("wait-first", "SW505"), ("refill", "SW505"), ("ring", "SW505"),
                                ("free", "SW504")):
            text = self.ipc(OK, "--fixed", variant)
            self.assertNotIn(number, text)
            self.assertIn("no hazards", text)
            self.assertTrue(self.json("r.json")["summary"]["complete"])
            text = self.call("run", "--sim", *GATE, "--json", self.path("r.json"), "-o", "%p.swt", IPC, variant)
            self.assertIn(number, text.stderr)
            run = self.json("r.json")
            between, = [finding for finding in run["between_ranks"] if finding["id"] == number]
            self.assertEqual(len(between["processes"]), 2)
            self.assertTrue(set(between["processes"]) <= {process["program"]["pid"] for process in run["processes"]})
            self.assertEqual(text.returncode, ERRORS if between["severity"] == "error" else OK, text.stderr)
            self.assertGreater(run["summary"]["errors"] + run["summary"]["warnings"], 0)
            self.assertNotIn("no hazards", text.stderr)
            # merge says the same of the same traces.
            traces = [process["program"]["trace"] for process in run["processes"]]
            merged = json.loads(self.call("merge", "--format", "json", *traces).stdout)
            self.assertEqual([(f["id"], f["fingerprint"], f["text"]) for f in merged["between_ranks"]],
                             [(f["id"], f["fingerprint"], f["text"]) for f in run["between_ranks"]])
            self.both(OK, text.returncode, "report", *traces)

    def test_files_for_builds(self):
        for options, failures in ((), 1), (("--fixed",), 0):
            names = [self.path("r." + name) for name in ("junit.xml", "sarif", "gitlab.json")]
            self.call("run", "--sim", "--junit", names[0], "--sarif", names[1], "--gitlab", names[2], "-o", "%p.swt", IPC, *options,
                      "unordered")
            checked = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "report", "check_formats.py"), *names],
                                     capture_output=True, text=True)
            self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
            self.assertEqual(self.read("r.junit.xml").count("<failure "), failures)
            self.assertEqual([r["ruleId"] for r in self.json("r.sarif")["runs"][0]["results"]], ["SW505"] * failures)
            self.assertEqual([issue["check_name"] for issue in self.json("r.gitlab.json")], ["SW505 shared-memory-race"] * failures)

    def test_a_partner_that_is_not_there(self):
        self.ipc(OK, "--fixed", "unordered")
        traces = [process["program"]["trace"] for process in self.json("r.json")["processes"]]
        for trace in traces:
            text = self.both(OK, UNPROVEN, "report", trace)
            self.assertNotIn("no hazards", text)
            self.assertIn("'syncwatch merge' of all their traces", text)
            # With one that has nothing to do with it.
            text = self.both(OK, UNPROVEN, "report", trace, self.trace("fixed"))
            self.assertRegex(text, "exported.*'syncwatch merge' of all traces compares them")
        self.assertIn("no hazards", self.both(OK, OK, "report", *traces))


unittest.main(argv=sys.argv[:1], verbosity=1)
