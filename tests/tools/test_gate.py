#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that forbid calls, from the command line to each output: options, exceptions, exit status.

usage: test_gate.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import sys
import unittest
import xml.etree.ElementTree

import command_case
from command_case import BUILD, OK, USAGE

PROGRAM = os.path.join(BUILD, "kernels", "forbidden")
ERRORS, UNPROVEN = 9, 6
RULE = "wait@nvtx:step:1"


class Gate(command_case.Case):
    def record(self, *arguments, status=OK, options=()):
        result = self.call("run", "--sim", "--force", "-o", "t.swt", *options, PROGRAM, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def report(self, status, *options):
        result = self.call("report", "t.swt", "--error-exitcode", str(ERRORS), *options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_a_wait_in_a_step_and_its_fixed_twin(self):
        for arguments, status in ((("wait",), ERRORS), (("--fixed", "wait"), OK)):
            text = self.record(*arguments, status=status, options=("--error-exitcode", str(ERRORS), "--forbid", RULE))
            self.assertEqual("SW601 forbidden-wait" in text, status == ERRORS, text)
            self.assertRegex(text, r"rules: +--forbid wait@nvtx:step:1: \d+ calls in 2 entries \(1 skipped\)")

    def test_the_trace_can_be_judged_by_other_rules(self):
        self.record("alloc")
        self.report(ERRORS, "--forbid", "alloc@nvtx:step")
        self.report(OK, "--forbid", "free@nvtx:step")
        self.report(ERRORS, "--max-calls", "alloc=0@nvtx:step")
        self.report(OK, "--max-calls", "alloc=1@nvtx:step")
        self.assertNotIn("rules:", self.report(OK))

    def test_a_rule_that_checked_nothing_is_no_pass(self):
        self.record("--fixed", "wait")
        text = self.report(UNPROVEN, "--forbid", "wait@nvtx:stop")
        self.assertIn("'--forbid wait@nvtx:stop' checked nothing: no call was in its scope", text)
        self.assertNotIn("no hazards", text)
        self.assertIn("after the entries that it skips", self.report(UNPROVEN, "--forbid", "wait@nvtx:step:3"))
        self.report(OK, "--forbid", "wait@nvtx:step:2")
        # One process of several is enough.
        self.assertEqual(self.call("report", "t.swt", self.trace("fixed"), "--error-exitcode", str(ERRORS), "--forbid",
                                   RULE).returncode, OK)

    def test_exceptions(self):
        self.record("wait")
        self.report(ERRORS, "--forbid", RULE, "--write-allow", "new.allow")
        lines = [line for line in self.read("new.allow").splitlines() if line.startswith("SW")]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"^SW601 operation=cudaStreamSynchronize at=.*  #$")
        self.refused(USAGE, "and there is none", "report", "t.swt", "--allow", "new.allow")
        self.assertIn("say why the call is allowed",
                      self.report(UNPROVEN, "--forbid", RULE, "--allow", "new.allow"))
        self.report(OK, "--forbid", RULE, "--baseline", "new.allow")
        with open(self.path("ok.allow"), "w", encoding="utf-8") as file:
            file.write(lines[0] + " the last step may\nSW603 operation=cudaMalloc  # never happens\n")
        text = self.report(OK, "--forbid", RULE, "--allow", "ok.allow")
        self.assertIn("unused:", text)
        self.assertIn("ok.allow:2", text)
        with open(self.path("wide.allow"), "w", encoding="utf-8") as file:
            file.write("SW101 kernel=spin  # not ours\n")
        self.assertIn("only calls that a rule forbids can be allowed",
                      self.report(UNPROVEN, "--forbid", RULE, "--allow", "wide.allow"))

    def test_outputs(self):
        self.record("wait")
        self.report(ERRORS, "--forbid", RULE, "--forbid", "alloc@nvtx:step:1", "--json", "r.json", "--junit", "r.xml",
                    "--sarif", "r.sarif", "--html", "r.html", "--gitlab", "r.gitlab")
        report = json.loads(self.read("r.json"))
        self.assertEqual([(rule["rule"], rule["found"]) for rule in report["rules"]],
                         [(RULE, 1), ("alloc@nvtx:step:1", 0)])
        found = [finding for finding in report["findings"] if finding["id"] == "SW601"]
        self.assertEqual([finding["rule"] for finding in found], [RULE])
        suite = xml.etree.ElementTree.parse(self.path("r.xml")).getroot()
        self.assertEqual([case.get("name") for case in suite.iter("testcase") if case.get("classname") ==
                          "syncwatch.rule"], ["--forbid alloc@nvtx:step:1"])
        self.assertEqual(len([case for case in suite.iter("testcase") if case.find("failure") is not None]), 1)
        for name in ("r.sarif", "r.html", "r.gitlab"):
            self.assertIn("forbidden-wait", self.read(name), name)

    def test_rules_of_a_project(self):
        self.record("wait")
        with open(self.path(".syncwatch"), "w", encoding="utf-8") as file:
            file.write("forbid = wait@nvtx:step:1\nforbid = alloc@nvtx:step:1\n")
        text = self.report(ERRORS, "--forbid", "pin@nvtx:step")
        self.assertEqual(len(re.findall(r"--forbid \w+@nvtx:step[:1]*: ", text)), 3)

    def test_bad_rules_are_one_line(self):
        trace = self.trace("fixed")
        for option, rule, part in (("--forbid", "waits@program", "unknown kind 'waits'"),
                                   ("--forbid", "wait@nvtx", "unknown scope 'nvtx'"),
                                   ("--forbid", "wait@python:__main__.step", "named by its file (train.step) or alone (step)"),
                                   ("--forbid", "wait", "needs a scope"),
                                   ("--max-wait", "5@program", "needs a time with its unit"),
                                   ("--max-calls", "alloc@program", "needs a kind and a number")):
            self.refused(USAGE, part, "report", trace, option, rule)
            self.refused(USAGE, part, "run", "--sim", option, rule, PROGRAM, "wait")
        self.refused(USAGE, "more than 64 times", "report", trace, *["--forbid", "any@program"] * 65)


unittest.main(argv=sys.argv[:1], verbosity=1)
