# SPDX-License-Identifier: Apache-2.0
"""Reads a JSON report, prints what must be the same on every machine.

Left out: paths, and what depends on which files are installed here (symbols, lines, and what is derived from them).
"""
import json
import sys

ACCESS = ("role", "driver_api", "device", "thread", "sequence", "access", "parameter", "range", "evidence")
FINDING = ("id", "kind", "severity", "confidence", "basis", "count", "measured_order", "not_waited", "cost")


def kept(source, names):
    return {name: source[name] for name in names if name in source}


def without_stacks(value):
    if isinstance(value, dict):
        return {k: without_stacks(v) for k, v in value.items() if k not in ("stack", "api", "name")}
    if isinstance(value, list):
        return [without_stacks(v) for v in value]
    return value


def normal_finding(finding):
    out = kept(finding, FINDING)
    out["accesses"] = [without_stacks(kept(a, ACCESS)) for a in finding.get("accesses", [])]
    return out


def main():
    report = json.load(sys.stdin)
    findings = [normal_finding(f) for f in report["findings"]]
    findings.sort(key=lambda f: (f["id"], [a.get("sequence", 0) for a in f["accesses"]]))
    out = {"schema": report["schema"], "summary": report.get("summary"), "findings": findings}
    coverage = report.get("coverage", {})
    out["records_lost"] = coverage.get("records_lost")
    out["kernels"] = coverage.get("kernels")
    json.dump(out, sys.stdout, indent=1, sort_keys=True)
    print()


main()
