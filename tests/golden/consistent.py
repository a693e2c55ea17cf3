#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the numbers and the sentences of a report agree with each other?

usage: consistent.py [SYNCWATCH TRACE...]     default: all traces of this folder, by the syncwatch that was built

No wait saves more than it took, nothing is recoverable where nothing is advised, the ends of intervals are in order, percentiles
are not longer than the longest call, no two findings share a fingerprint, every finding of a report that has frames has a place.
"""
import glob
import json
import os
import subprocess
import sys

# Changes that let work overlap may save more than the calls took.
OVERLAP = {"SW304", "SW308"}
# Latencies that are read to microseconds.
SLACK_MS = 0.001


def check_cost(finding, complain):
    cost = finding["cost"]
    gain = cost.get("recoverable_ms")
    if cost["calls"] and cost["p99_ms"] > cost["worst_ms"] + SLACK_MS:
        complain("the 99th percentile is longer than the longest call")
    if cost["worst_ms"] > cost["total_ms"] + SLACK_MS:
        complain("one call is longer than all")
    if not finding["advice"] and (gain or cost["win_high_ms"]):
        complain("something is recoverable, and nothing is advised")
    if not gain:
        return
    if not 0 <= gain["low"] <= gain["high_if_needed"] + SLACK_MS or gain["high_if_needed"] > gain["high"] + SLACK_MS:
        complain(f"an interval out of order: {gain}")
    if finding["id"] not in OVERLAP and gain["high"] > cost["total_ms"] + SLACK_MS:
        complain("more is recoverable than it cost")


def check(report, name):
    failed = []
    seen = {}
    for finding in report["findings"]:
        print_id = finding["fingerprint"]
        where = f"{name}: {finding['id']} {print_id}"
        if print_id in seen:
            failed.append(f"{where}: shares its fingerprint with {seen[print_id]}")
        seen[print_id] = finding["id"]
        if finding["cost"]:
            check_cost(finding, lambda text, where=where: failed.append(f"{where}: {text}"))
    together = (report["summary"].get("replay") or {}).get("recoverable", [])
    failed += [f"{name}: {one['id']} together: an interval out of order" for one in together if one["low_ms"] > one["high_ms"] + SLACK_MS]
    return failed


def main():
    here = os.path.join(os.environ.get("top_srcdir", "."), "tests", "golden", "traces")
    syncwatch = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("top_builddir", "."), "syncwatch")
    traces = sys.argv[2:] or sorted(glob.glob(os.path.join(here, "*.swt")))
    failed, costs = [], 0
    for trace in traces:
        done = subprocess.run([syncwatch, "report", "--all", "--format", "json", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        report = json.loads(done.stdout)
        failed += check(report, os.path.basename(trace))
        costs += sum(1 for finding in report["findings"] if finding["cost"])
    for line in failed:
        print(f"FAIL: {line}")
    bad = bool(failed) or costs == 0
    print(f"{1 - bad} passed, {int(bad)} failed, 0 skipped: {len(traces)} reports, {costs} costs")
    return bad


sys.exit(main())
