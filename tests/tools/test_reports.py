#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report, diff and the files that they write; .syncwatch of a project.

usage: test_reports.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import unittest

from command_case import BUILD, COMMAND, CUDA_PROGRAM, ENVIRONMENT, INPUT, OK, OUTPUT, SOURCE, USAGE, Case


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

    def test_a_link_of_somebody_else_is_not_followed(self):
        if os.geteuid() != 0:
            self.skipTest("not root: no link of another user can be made")
        trace = self.trace("race")
        os.rename(self.write("SW101\n"), self.path("ours"))
        os.symlink("ours", self.path(".syncwatch"))
        self.assertIn("no hazards", self.below(".", "report", trace).stdout, "a link of our own")
        os.chown(self.path(".syncwatch"), 12345, 12345, follow_symlinks=False)
        result = self.below(".", "report", trace)
        self.assertIn("a symbolic link on the way belongs to another user", result.stderr)
        self.assertIn("1 error,", result.stdout)


class Asked(Case):
    """--finding, --quiet, --text."""

    def test_each_form_of_finding_means_the_same(self):
        trace = self.trace("race")
        report = json.loads(self.call("report", "--format", "json", trace).stdout)
        group = report["groups"][0]
        forms = [group["id"], group["id"].lower(), report["findings"][0]["kind"], group["leader"], group["leader"][:6]]
        place = group["place"]
        if place and place["file"]:
            forms += [f'{os.path.basename(place["file"])}:{place["line"]}', f'{place["file"]}:{place["line"]}']
        for form in forms:
            result = self.call("report", "--finding", form, trace)
            self.assertEqual((result.returncode, result.stderr), (OK, ""), form)
            self.assertIn(f'error: {group["id"]}', result.stdout, form)
            self.assertIn("1 error,", result.stdout, "the headline is that of the run")
            for option in ("--chrome", "--dot"):
                self.assertEqual(self.call("export", option, self.path("out"), "--finding", form, trace).returncode, OK, form)

    def test_none_that_is_meant(self):
        trace = self.trace("race")
        for form in ("SW999", "nothing", "zzzz", "0123456789abcdef", "main.cu:999999", ":7", "main.cu:", "abc"):
            self.refused(INPUT, f"no finding '{form}'", "report", "--finding", form, trace)
            self.refused(INPUT, f"no finding '{form}'", "export", "--chrome", self.path("c.json"), "--finding", form, trace)
            self.assertFalse(os.path.exists(self.path("c.json")))
        self.assertNotIn("SW101", self.call("report", "--finding", "SW999", trace).stdout)
        self.refused(USAGE, "about one trace", "report", "--finding", "SW101", trace, self.trace("fixed"))

    def test_quiet_and_text(self):
        trace = self.trace("race")
        whole = self.call("report", trace).stdout
        result = self.call("report", "--quiet", "--text", self.path("r.txt"), "--json", self.path("r.json"), trace)
        self.assertTrue(result.stdout.startswith("syncwatch: 1 error,"), result.stdout)
        self.assertNotIn("SW101", result.stdout)
        with open(self.path("r.txt"), encoding="utf-8") as text:
            self.assertEqual(text.read(), whole)
        self.assertTrue(os.path.exists(self.path("r.json")))
        self.call("report", "--color", "always", "--text", self.path("c.txt"), trace, self.trace("fixed"))
        with open(self.path("c.txt"), encoding="utf-8") as text:
            written = text.read()
        self.assertNotIn("\033", written)
        self.assertIn("SW101", written)
        self.assertIn("in all 2 processes", written)
        self.assertEqual(self.call("report", "--quiet", trace, self.trace("fixed")).stdout.count("SW101"), 0)
        self.refused(USAGE, "would both write", "report", "--text", self.path("a"), "--json", self.path("a"), trace)

    def test_quiet_and_text_of_all_that_judge(self):
        race, fixed = self.trace("race"), self.trace("fixed")
        # Two windows of one process: it is one process, with the findings of both.
        for arguments, found in ((("merge", race, fixed), "in 1 process: 1 error"), (("merge", fixed, race), "in 1 process: 1 error"), (("diff", fixed, race), "1 new error")):
            whole = self.call(*arguments).stdout
            result = self.call(*arguments, "--quiet", "--text", self.path("r.txt"), "--color", "always") if arguments[0] == "diff" else \
                self.call(*arguments, "--quiet", "--text", self.path("r.txt"))
            self.assertEqual(self.read("r.txt"), whole, arguments)
            self.assertIn("SW101", whole)
            self.assertNotIn("SW101", result.stdout, arguments)
            self.assertIn(found, result.stdout)
            self.assertTrue(all(line.startswith(("syncwatch: ", "  ", "\033")) or " is not complete (" in line or not line.strip()
                                for line in result.stdout.splitlines()), result.stdout)
        # Also where one of them comes as a partial result: the table and the counts are the same.
        for first, second in ((race, fixed), (fixed, race)):
            with open(self.path("part.json"), "w", encoding="utf-8") as file:
                file.write(self.call("merge", "--format", "json", second).stdout)
            with open(self.path("first.json"), "w", encoding="utf-8") as file:
                file.write(self.call("merge", "--format", "json", first).stdout)
            for arguments in ((first, self.path("part.json")), (self.path("first.json"), self.path("part.json"))):
                self.assertEqual(self.call("merge", first, second).stdout, self.call("merge", *arguments).stdout)
        self.refused(USAGE, "has no text", "merge", "--share", "0/2", "--json", self.path("p.json"), "--text", self.path("t"), race)
        self.refused(USAGE, "is for the report", "confirm", "--explore", "1", "--text", self.path("t"), "--", "/bin/true")
        for command in ("query", "stat", "dump", "top", "kernels"):
            self.refused(USAGE, "", command, "--quiet", race)


class Nodes(Case):
    """The line for two nodes of a graph, whatever the call that adds the later one lists; follow-advice compiles them."""

    program = os.path.join(BUILD, "kernels", "graph_nodes")
    lines = {
        "alone": ("&fill, 1, out, data, BYTES, cudaMemcpyDeviceToHost);", "cudaGraphAddMemcpyNode1D(&download, graph, "),
        "other": ("{begin, write}; cudaGraphAddMemcpyNode1D(&download, graph, after, 2, out,", "{ cudaGraphNode_t after[] = "),
        "child": ("&fill, 1, part);", "cudaGraphAddChildGraphNode(&download, graph, "),
    }

    def fix(self, variant):
        # Names of sources are relative to the folder in which they were compiled.
        result = subprocess.run([COMMAND, "run", "--sim", "--force", "--json", self.path("r.json"), "-o", self.path("t.swt"), "--",
                                 self.program, variant], cwd=BUILD, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(result.returncode, OK, result.stderr)
        groups = [group for group in json.loads(self.read("r.json"))["groups"] if group["id"] == "SW107"]
        self.assertEqual(len(groups), 1)
        return groups[0]["fix"]

    def test_one_call_or_a_reason(self):
        if not os.path.exists(self.program):
            self.skipTest("kernels/graph_nodes is not built: no nvcc")
        with open(os.path.join(SOURCE, "kernels", "graph_nodes.cu"), encoding="utf-8") as file:
            source = file.read().splitlines()
        for variant, (end, begin) in self.lines.items():
            fix = self.fix(variant)
            self.assertEqual([line["where"] for line in fix["lines"]], ["instead"], variant)
            code = fix["lines"][0]["code"]
            self.assertTrue(code.startswith(begin) and end in code, code)
            self.assertIn("GraphAdd", source[fix["lines"][0]["place"]["line"] - 1])
        fix = self.fix("list")
        self.assertEqual(fix["lines"], [])
        self.assertIn("add `fill` to `before`", fix["no_lines_because"])


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

    def test_the_terminal_gets_what_follows_the_pager(self):
        text = self.on_a_terminal("report", "--github", self.trace("race"), TERM="xterm", PAGER="sed s/^/page:/")
        self.assertIn(b"\npage:", text)
        self.assertIn(b"\n::error ", text)
        left = self.on_a_terminal("report", "--github", self.trace("race"), TERM="xterm", PAGER="true")
        self.assertTrue(left.startswith(b"::error "), left)

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
            if result.returncode == INPUT and not result.stdout:
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            elif result.returncode == INPUT:
                self.assertIn("its trace is damaged", result.stdout)
                self.assertNotIn("no hazards", result.stdout)
            else:  # the end of its last chunk is empty
                self.assertIn("SW101", result.stdout)
                self.assertNotIn("damage", result.stdout)

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

    def test_known_findings_of_libraries(self):
        trace = self.trace("race")
        command = shutil.copy(COMMAND, self.path("syncwatch"))
        os.makedirs(self.path("share/syncwatch"))
        with open(self.path("share/syncwatch/known.supp"), "w") as file:
            file.write("nonsense\n")  # a line that cannot be read shows that the file is used
        result = self.call("report", trace, command=command)
        self.assertEqual(result.returncode, INPUT, result.stderr)
        self.assertIn("known.supp:1:", result.stderr)
        if os.geteuid() == 0:
            known = self.path("share/syncwatch/known.supp")
            os.rename(known, self.path("ours"))
            os.symlink(self.path("ours"), known)
            os.chown(known, 12345, 12345, follow_symlinks=False)
            result = self.call("report", trace, command=command)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (OK, 1), result.stderr)
            self.assertIn("belongs to another user", result.stderr)
        result = self.call("report", "--no-known", trace, command=command)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("1 error,", result.stdout)

    def test_stat(self):
        trace = self.trace("race")
        self.assertIn("host waits:", self.call("report", "--stat", trace).stdout)
        self.assertNotIn("host waits:", self.call("report", trace).stdout)


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

    def test_what_is_written_hides_nothing_else(self):
        def run(mode, *options):
            result = self.call("run", "--sim", "--error-exitcode", "9", *options, "--", CUDA_PROGRAM, mode)
            if "sim/libcuda.so.1 is neither" in result.stderr:
                self.skipTest("the simulation is not built")
            return result
        written = self.path("s")
        self.assertEqual(run("race", "--write-suppressions", written).returncode, 9)
        with open(written, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"(?m)^# error SW103 .*fingerprint [0-9a-f]{16}.*\n# .*\nSW103 .* against .* allocated=")
        again = run("race", "--suppress", written)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertRegex(again.stderr, re.escape(written) + r":\d+: 1 finding, 1 error\n")
        self.assertEqual(run("race-second", "--suppress", written).returncode, 9, "another buffer")
        with open(self.path("wide"), "w") as file:
            file.write("SW103 function=work\n")
        self.assertEqual(run("race-second", "--suppress", self.path("wide")).returncode, 0, "the user's own decision")

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

    def test_a_terminal_has_a_pager(self):
        text = self.on_a_terminal("diff", self.trace("race"), self.trace("fixed"), TERM="xterm", PAGER="sed s/^/page:/")
        self.assertTrue(all(line.startswith(b"page:") for line in text.splitlines()), text)

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


unittest.main(argv=sys.argv[:1], verbosity=1)
