#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run-table must fail when it has to: a stand-in for the command reports what each case says."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RUN_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run-table")

# Writes the report that $REPORT holds, or $LATER after the first run of the same arguments, exits with $STATUS.
COMMAND = """#!/bin/sh
while [ "$1" != --json ]; do shift; done
report=$2
while [ "$1" != -- ]; do shift; done
ran=$0.ran
[ -z "$LATER" ] || ! grep -qxF -e "$*" "$ran" 2>/dev/null || REPORT=$LATER
echo "$*" >>"$ran"
[ -z "$DISTURBED" ] || echo "some avg10=90.00 avg60=0.00 avg300=0.00 total=$(date +%s%N)" >"$SW_PRESSURE"
printf '%s' "$REPORT" >"$report"
exit "$STATUS"
"""
PROGRAM = """#!/bin/sh
[ "$1" = --list ] && echo "one way"
exit 0
"""


def finding(number, severity="error", confidence="certain", evidence=("exact", "exact"), **more):
    return {"id": number, "severity": severity, "confidence": confidence,
            "accesses": [{"evidence": e} for e in evidence], **more}


class RunTable(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="run-table-test-")
        self.addCleanup(scratch.cleanup)
        self.build = scratch.name
        self.pressure = os.path.join(self.build, "pressure")
        with open(self.pressure, "w", encoding="ascii") as out:
            out.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n")
        os.mkdir(os.path.join(self.build, "kernels"))
        for name, text in (("syncwatch", COMMAND), ("kernels/program", PROGRAM), ("kernels/programs", "program\n")):
            with open(os.path.join(self.build, name), "w", encoding="utf-8") as out:
                out.write(text)
            os.chmod(out.name, 0o755)

    def run_table(self, must, findings, may="-", rows=("one way", "--fixed one way"), status=0, report=None,
                  where="both", on="sim", options=(), program="program", later="", disturbed=""):
        """Exit status and last line; the fixed twin's row accepts what the other does, so that rows fail alike."""
        table = os.path.join(self.build, "rows.tsv")
        with open(table, "w", encoding="utf-8") as out:
            for arguments in rows:
                out.write("\t".join((program, arguments, where, "-", must, may)) + "\n")
        report = report or json.dumps({"findings": findings})
        done = subprocess.run([sys.executable, RUN_TABLE, *options, "--rows", table, self.build, on], text=True, check=False,
                              capture_output=True, env={**os.environ, "REPORT": report, "STATUS": str(status), "LATER": later,
                                                    "DISTURBED": disturbed, "SW_PRESSURE": self.pressure})
        self.said = done.stdout.splitlines()
        return done.returncode, self.said[-1]

    def runs(self):
        """Of both rows."""
        with open(os.path.join(self.build, "syncwatch.ran"), encoding="utf-8") as ran:
            count = len(ran.readlines())
        os.remove(ran.name)
        return count

    PASSED = (0, "2 passed, 0 failed, 0 skipped")
    FAILED = (1, "0 passed, 2 failed, 0 skipped")
    LEFT_OUT = (0, "0 passed, 0 failed, 2 skipped")

    def test_expected(self):
        self.assertEqual(self.run_table("SW101:error:certain:exact/exact", [finding("SW101")]), self.PASSED)
        self.assertEqual(self.run_table("SW102|SW101", [finding("SW101")]), self.PASSED)
        self.assertEqual(self.run_table("-", []), self.PASSED)

    def test_missing(self):
        self.assertEqual(self.run_table("SW101", []), self.FAILED)
        self.assertEqual(self.run_table("SW101 SW202", [finding("SW101")]), self.FAILED)

    def test_other_severity_confidence_evidence(self):
        for other in (finding("SW101", severity="warning"), finding("SW101", confidence="likely"),
                      finding("SW101", evidence=("exact", "signature"))):
            self.assertEqual(self.run_table("SW101:error:certain:exact/exact", [other]), self.FAILED)

    def test_unexpected(self):
        self.assertEqual(self.run_table("-", [finding("SW401", "warning")]), self.FAILED)
        self.assertEqual(self.run_table("-", [finding("SW401", "warning")], may="SW401"), self.PASSED)
        self.assertEqual(self.run_table("-", [finding("SW401", "note")]), self.PASSED)
        self.assertEqual(self.run_table("-", [finding("SW401", "warning", suppressed=True)]), self.PASSED)

    def test_missed_waits_are_run_again(self):
        wait, hazard = json.dumps({"findings": [finding("SW307", "warning")]}), json.dumps({"findings": [finding("SW101")]})
        self.assertEqual(self.run_table("SW307:warning", [], later=wait), self.PASSED)
        self.assertEqual(self.runs(), 4)
        self.assertIn("ok   program one way, run 2 times", self.said)
        self.assertEqual(self.run_table("-", [finding("SW401", "warning")], later='{"findings": []}'), self.PASSED)
        self.assertEqual(self.runs(), 4)
        self.assertEqual(self.run_table("-", [finding("SW401", "warning")]), self.FAILED)
        self.assertEqual(self.runs(), 6)
        self.assertEqual(self.run_table("SW307:warning", []), self.FAILED)
        self.assertEqual(self.runs(), 6)
        self.assertIn("FAIL program one way, run 3 times: not found: SW307:warning", self.said)
        self.assertEqual(self.run_table("SW101", [], later=hazard), self.FAILED)
        self.assertEqual(self.runs(), 2)
        self.assertEqual(self.run_table("SW307:warning", [finding("SW101")], later=wait), self.FAILED)
        self.assertEqual(self.runs(), 2)
        self.assertEqual(self.run_table("SW307", [], status=1, later=wait), self.FAILED)
        self.assertEqual(self.runs(), 2)

    def test_a_machine_that_other_work_keeps_busy(self):
        wait = [finding("SW401", "warning")]
        for must, found in (("-", wait), ("SW307:warning", [])):
            self.assertEqual(self.run_table(must, found, disturbed="yes"), self.LEFT_OUT)
            self.assertEqual(self.run_table(must, found, disturbed="yes", on="gpu"), self.FAILED)
            self.assertEqual(self.run_table(must, found), self.FAILED)
        # Hazards do not depend on who has the processor.
        self.assertEqual(self.run_table("-", wait + [finding("SW101")], disturbed="yes"), self.FAILED)
        self.assertEqual(self.run_table("SW101", wait, disturbed="yes"), self.FAILED)

    def test_program_or_report_fails(self):
        self.assertEqual(self.run_table("-", [], status=1), self.FAILED)
        self.assertEqual(self.run_table("-", [], report="{}"), self.FAILED)
        self.assertEqual(self.run_table("-", [], report="not json"), self.FAILED)

    def test_two_devices(self):
        self.assertEqual(self.run_table("-", [], where="two"), self.PASSED)
        self.assertEqual(self.run_table("-", [], where="two", status=77, on="gpu"), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.run_table("-", [], where="two", status=77), self.FAILED)
        self.assertEqual(self.run_table("-", [], status=77, on="gpu"), self.FAILED)
        self.assertEqual(self.run_table("SW101", [], options=("--two",)), (0, "0 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.run_table("SW101", [], where="two", options=("--two",)), self.FAILED)

    def test_rows_and_programs(self):
        self.assertEqual(self.run_table("-", [], rows=("one way",)), (1, "1 passed, 1 failed, 0 skipped"))
        three = ("one way", "--fixed one way", "another way")
        self.assertEqual(self.run_table("-", [], rows=three), (1, "3 passed, 1 failed, 0 skipped"))

    def test_scripts(self):
        for name in ("script.py", "case.py"):
            with open(os.path.join(self.build, name), "w", encoding="utf-8"):
                pass
        rows = {"program": "script.py", "where": "gpu", "on": "gpu"}
        self.assertEqual(self.run_table("SW101", [finding("SW101")], **rows), self.PASSED)
        self.assertEqual(self.run_table("SW101", [], **rows), self.FAILED)
        self.assertEqual(self.run_table("-", [], status=77, **rows), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.run_table("-", [], rows=("one way",), **rows), (1, "1 passed, 1 failed, 0 skipped"))
        os.rename(os.path.join(self.build, "script.py"), os.path.join(self.build, "other.py"))
        self.assertEqual(self.run_table("-", [], **rows), (1, "2 passed, 2 failed, 0 skipped"))

    def test_nothing_built(self):
        os.remove(os.path.join(self.build, "kernels/programs"))
        self.assertEqual(self.run_table("-", []), (77, "0 passed, 0 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
