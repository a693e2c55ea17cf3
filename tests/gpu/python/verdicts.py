# SPDX-License-Identifier: Apache-2.0
"""Judges the reports of the programs in this folder.

usage: verdicts.py FOLDER < PROGRAMS

PROGRAMS: a line each, the file and its option.  For each, FOLDER holds NAME.json, NAME.out, NAME.status.  A correct
program passes with exit status 0 and no error; a broken one (--broken; side_stream without --fixed) when a hazard is an
error or a warning.  step_share: NAME.share must end with "0 failed" as well.  What a program needs and this machine lacks is skipped.
"""
import json
import os
import sys


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def is_broken(program):
    return "--broken" in program or program == "side_stream"


def hazards_of(report):
    return [f for f in report["findings"] if f["id"] < "SW200" and not f["hidden"] and f["severity"] in ("error", "warning")]


def verdict_of(program, report, status, output, share):
    if "ModuleNotFoundError" in output and not report.get("summary", {}).get("errors"):
        return "skipped", "a module is missing"
    if status == "77":
        return "skipped", "fewer GPUs than it needs"
    if not report:
        return "failed", "no report"
    if status != "0":
        return "failed", f"exit status {status or '?'}"
    if is_broken(program):
        return ("passed", "") if hazards_of(report) else ("failed", "the race was not reported")
    if report["summary"]["errors"]:
        return "failed", "errors in a correct program"
    if program.startswith("step_share") and ", 0 failed," not in share:
        return "failed", "kernels that are not read or not understood: " + ("see share.txt" if share else "no share")
    return "passed", ""


def evidence_of(report):
    coverage = report.get("coverage", {})
    parts = coverage.get("kernels_by_source", {})
    if not any(parts.values()):
        parts = coverage.get("kernels_by_evidence", {})
    text = " ".join(f"{name} {count}" for name, count in parts.items() if count)
    more = " ".join(f"{name[:-8]} {coverage[name]}" for name in coverage
                    if name.endswith("_kernels") and coverage[name])
    return f"{coverage.get('launches', 0)} launches: {text}" + (f" ({more})" if more else "")


def main():
    folder = sys.argv[1]
    tally = {"passed": 0, "failed": 0, "skipped": 0}
    print("\n-- program, verdict, errors, warnings, notes, evidence")
    for program in filter(None, map(str.strip, sys.stdin)):
        name = os.path.join(folder, program.replace(" --", "_").replace(" ", "_"))
        text = read(name + ".json")
        report = json.loads(text) if text else {}
        verdict, why = verdict_of(program, report, read(name + ".status").strip(), read(name + ".out"), read(name + ".share"))
        tally[verdict] += 1
        s = report.get("summary", {})
        print(f"{program:24} {verdict:8}{s.get('errors', '-'):>3} {s.get('warnings', '-'):>3} {s.get('notes', '-'):>4}  {evidence_of(report)}"
              + (f"  [{why}]" if why else ""))
        for f in report.get("findings", []):
            if f["severity"] in ("error", "warning") and not f["hidden"]:
                kernels = "; ".join((a.get("kernel") or a["api"])[:70] + " " + (a.get("evidence") or "") for a in f["accesses"][:2])
                print(f"    {f['id']} {f['severity']} {f['confidence']} x{f['count']}: {f['message'][:150]} [{kernels}]")
    print(f"{tally['passed']} passed, {tally['failed']} failed, {tally['skipped']} skipped")


if __name__ == "__main__":
    main()
