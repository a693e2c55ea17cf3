#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""syncwatch confirm --waits on the simulated CUDA: advice is followed where it is safe, and refused where it is not.

usage: test_savings.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import subprocess
import sys
import unittest

from run_case import BUILD, COMMAND, ENVIRONMENT, LONG, SOURCE, Case

PROGRAM = os.path.join(BUILD, "tests", "tools", "savings_program")
ROUNDS = 6


class Savings(Case):
    def confirm(self, *arguments):
        return subprocess.run([COMMAND, "confirm", "--sim", "--pairs", "5", *arguments], cwd=self.dir, env=ENVIRONMENT,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LONG)

    def savings(self, mode, *options, status=(0,)):
        """What JSON says of each wait that was tried, by id, and the text."""
        result = self.confirm("--waits", "--all", "--json", self.path("r.json"), "--log", self.path("log"), *options, PROGRAM,
                              *mode.split())
        self.assertIn(result.returncode, status, result.stderr)
        found = {}
        if result.returncode:
            self.assertIn("has no wait", result.stderr)
            return found, result.stderr
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.report = json.load(file)
        for finding in self.report["findings"]:
            if "saving" in finding:
                found.setdefault(finding["id"], []).append(finding["saving"])
        return found, result.stderr

    def one(self, mode, finding, *options):
        # Some waits are findings only where they were seen to take time: of a loaded machine that is asked again.
        for _ in range(4):
            found, text = self.savings(mode, "--finding", finding, *options, status=(0, 3))
            if found:
                break
        self.assertEqual(list(found), [finding], text)
        return found[finding], text

    def measured(self, mode, finding, change, calls, *options):
        """Each such finding was measured, and the results stayed the same."""
        found, text = self.one(mode, finding, *options)
        for saving in found:
            self.assertEqual((saving["verdict"], saving["reason"], saving["change"]), ("measured", None, change), text)
            self.assertEqual((saving["calls"], saving["pairs"], saving["printed"]), (calls, 5, True), text)
            self.assertLessEqual(saving["low_ns"], saving["saved_ns"])
            self.assertLessEqual(saving["saved_ns"], saving["high_ns"])
        return found[0], text

    def refused(self, mode, finding, reason, *options):
        found, text = self.one(mode, finding, *options)
        for saving in found:
            self.assertEqual((saving["verdict"], saving["reason"]), ("refused", reason), text)
            self.assertNotIn("saved_ns", saving)
        with open(self.path("log"), encoding="utf-8") as log:
            self.assertNotRegex(log.read(), r"changed \d+ [1-9]", "it was never applied")


class Followed(Savings):
    def test_a_wait_that_is_too_wide(self):
        saving, text = self.measured("wide", "SW401", "narrow", ROUNDS)
        self.assertEqual(saving["copies"], ROUNDS)
        self.assertRegex(text, r"saving: +measured: \S+ \S+ \(")
        self.assertIn("1 wait, 13 runs, 1 measured", text)

    def test_edges_that_the_program_has_itself(self):
        for mode, change in (("events", r"site narrow \d+ \w+ 0\n  (?!need)"), ("edge", r"site narrow \d+ \w+ 0\n  need \d \d\n")):
            self.measured(mode, "SW401", "narrow", ROUNDS)
            with open(self.path("log"), encoding="utf-8") as log:
                self.assertRegex(log.read(), change, mode)
        self.measured("direct", "SW401", "skip", ROUNDS)

    def test_a_wait_for_nothing(self):
        self.measured("again", "SW402", "skip", ROUNDS)

    def test_memory_of_each_round(self):
        saving, _ = self.measured("free", "SW306", "keep", 2 * ROUNDS - 1)  # the first one is allocated
        self.assertGreater(saving["passed"], 0)

    def test_an_address_that_has_another_size_later(self):
        found, text = self.one("sizes", "SW306")
        self.assertIn("measured", [saving["verdict"] for saving in found], text)
        self.assertTrue(all(saving["verdict"] in ("measured", "refused", "not-reached") for saving in found), text)

    def test_pageable_copies(self):
        saving, _ = self.measured("pageable", "SW302", "stage", ROUNDS)
        self.assertEqual(saving["passed"], 0)

    def test_memory_that_is_allocated_while_work_is_pending(self):
        # Two blocks a round, of which those of the first round are allocated.
        self.measured("cache", "SW305", "keep", 4 * ROUNDS - 2)
        self.refused("kept", "SW305", "partner")

    def test_pageable_memory_that_is_copied_again_and_again(self):
        found, text = self.one("steady", "SW302")
        self.assertEqual([(s["verdict"], s["change"], s["calls"]) for s in found], [("measured", "pin", ROUNDS)], text)
        with open(self.path("log"), encoding="utf-8") as log:
            self.assertRegex(log.read(), rf"pinned 1 {ROUNDS} 0 0 0")
        # A graph reads the memory when it is launched, whoever has pinned it.
        found, text = self.one("captured", "SW302")
        self.assertIn(("measured", "pin", ROUNDS), [(s["verdict"], s["change"], s["calls"]) for s in found], text)

    def test_pinned_memory_that_the_host_writes(self):
        # Other bytes for each copy: those are staged, and the memory is not pinned any more.
        found, text = self.one("refilled", "SW302")
        self.assertEqual([s["verdict"] for s in found], ["measured"], text)
        with open(self.path("log"), encoding="utf-8") as log:
            self.assertRegex(log.read(), r"pinned 1 1 [01] 0 1")
        # Written as soon as the call has returned: seen in the run that is checked.
        found, text = self.one("touched", "SW302")
        self.assertEqual([(s["verdict"], s["change"], s["runs"]) for s in found], [("measured", "stage", 12)], text)

    def test_what_is_compared(self):
        saving, text = self.measured("free", "SW306", "keep", 2 * ROUNDS - 1)
        # Runs of the simulation differ by the load of the machine: by little, and the whole run is compared, or the stretch is.
        enough = max(abs(saving["whole_ns"]) // 40, saving["whole_base_ns"] // 200)
        whole = max(saving["whole_high_ns"] - saving["whole_ns"], saving["whole_ns"] - saving["whole_low_ns"]) <= enough
        self.assertEqual((saving["parts"], saving["left_out"]), (0 if whole else 2 * ROUNDS, 0), text)
        with open(self.path("log"), encoding="utf-8") as log:
            self.assertRegex(log.read(), r"as it is: run [\d.]+ ms, before it [\d.]+ ms; 12 calls in")
        if not whole:
            self.assertRegex(" ".join(text.split()), r"in which these calls lie, from 5 pairs .* whole run \S+ \S+ \(")

    def test_synchronous_uploads(self):
        found, text = self.one("upload", "SW301")
        self.assertEqual(sorted((s["verdict"], s["reason"], s["change"], s["calls"]) for s in found),
                         [("measured", None, "stage", ROUNDS), ("refused", "unguarded", None, 0)], text)

    def test_work_on_the_legacy_stream(self):
        self.measured("legacy", "SW304", "own-stream", ROUNDS)

    def test_memory_that_is_pinned_each_time(self):
        self.measured("pin", "SW307", "unpin", ROUNDS)

    def test_a_limit(self):
        self.measured("limit", "SW309", "limit", ROUNDS)

    def test_copies_that_the_host_reads_late(self):
        self.measured("late", "SW301", "async", ROUNDS, "--guard-host")


class Together(Savings):
    def together(self, mode):
        found, text = self.savings(mode, "--all-waits")
        total = self.report["savings"]
        saved = [s["low_ns"] for each in found.values() for s in each if s["verdict"] == "measured"]
        self.assertEqual(len(total["order"]), sum(s > 0 for s in saved), text)
        alone = [step["alone_ns"] for step in total["order"]]
        self.assertEqual(alone, sorted(alone, reverse=True))
        return total, text

    def test_changes_that_do_not_touch_each_other(self):
        total, text = self.together("both")
        taken = [step for step in total["order"] if not step["left_out"]]
        self.assertTrue({"SW401", "SW402", "SW302"}.issuperset(step["id"] for step in taken), text)
        if len(taken) > 1:
            self.assertEqual((total["together"]["verdict"], total["together"]["change"]), ("measured", None), text)
            self.assertIn("together:", text)
        self.assertRegex(text, r"savings: +SW\d+ ")

    def test_all_at_once_and_none_alone(self):
        found, text = self.savings("both", "--together")
        total = self.report["savings"]
        self.assertEqual((total["together"]["verdict"], total["together"]["change"]), ("measured", None), text)
        self.assertEqual([step["alone_ns"] for step in total["order"]], [0] * len(total["order"]), text)
        self.assertFalse([s for each in found.values() for s in each if s["verdict"] == "measured"], text)
        self.assertRegex(text, r"fix first: +1\. SW\d+ .*: at most [\d.]+ .?s predicted")

    def test_changes_that_stand_on_each_other(self):
        total, text = self.together("mixed")
        taken = {step["id"] for step in total["order"] if not step["left_out"]}
        self.assertNotEqual(taken & {"SW401", "SW301"}, {"SW401", "SW301"}, text)


class Refused(Savings):
    def test_what_the_host_needs(self):
        self.refused("early", "SW301", "host-uses", "--guard-host")
        self.refused("written", "SW301", "host-uses", "--guard-host")
        self.refused("late", "SW301", "unguarded")
        self.refused("value", "SW301", "value")

    def test_order_that_is_needed(self):
        found, text = self.savings("needed")
        for saving in found.get("SW304", []):
            self.assertEqual(saving["verdict"], "refused", text)

    def test_pinned_memory_under_the_guard(self):
        self.refused("pin", "SW307", "guarded", "--guard-host")


class Results(Savings):
    def verdict(self, mode, *options):
        found, _ = self.one(mode, "SW401", *options)
        return found[0]["verdict"], found[0]["reason"]

    def test_a_program_that_does_something_else(self):
        self.assertEqual(self.verdict("differs"), ("results-differ", "output"))
        self.assertEqual(self.verdict("status"), ("results-differ", "status"))
        self.assertEqual(self.verdict("once"), ("not-reached", None))

    def test_a_program_that_does_not_end(self):
        self.assertEqual(self.verdict("stuck", "--run-time", "1"), ("inconclusive", "no-end"))

    def test_too_few_runs(self):
        self.assertEqual(self.verdict("wide", "--runs", "6"), ("inconclusive", "runs"))

    def test_bad_input(self):
        for part, arguments in (("--pairs wants", ("--waits", "--pairs", "2", "true")), ("has no wait", ("--waits", "--finding", "SW309"))):
            result = self.confirm(*arguments, *([PROGRAM, "wide"] if "--finding" in arguments else []))
            self.assertIn(result.returncode, (2, 3), result.stderr)
            self.assertIn(part, result.stderr)

    def test_files(self):
        self.measured("wide", "SW401", "narrow", ROUNDS, "--sarif", self.path("r.sarif"))
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        with open(self.path("r.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        self.assertIn("measured", [r["properties"].get("saving") for r in results])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
