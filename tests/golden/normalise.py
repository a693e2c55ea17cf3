# SPDX-License-Identifier: Apache-2.0
"""Reads a JSON report, prints what must be the same on every machine and whatever the words of a report are.

Left out: messages, names given by the report, paths, and what depends on which files are installed here (symbols and
lines, hence the runtime function that a driver call was made for).  Addresses become offsets into their allocation.
"""
import json
import re
import sys

FINDING = ("id", "kind", "severity", "confidence", "basis", "count", "measured_order", "not_waited", "suppressed", "hidden",
           "cost")
ACCESS = ("role", "driver_api", "device", "thread", "sequence", "time_ms", "access", "parameter", "evidence")
COVERAGE = ("driver_calls", "runtime_calls", "launches", "kernels_by_evidence", "indirect_kernels", "graph_launches", "copies",
            "bytes_copied", "sets", "syncs", "unclassified_calls", "records_lost", "findings_dropped_at_losses",
            "edges_for_safety", "unknown_streams", "judged_until_call", "damage")


def kept(source, names):
    return {name: source[name] for name in names if name in source}


def bare_kernel(name):
    """consume, from _ZN12_GLOBAL__N_17consumeEPKf as from void (anonymous namespace)::consume(float const*)."""
    if name is None or not name.startswith("_Z"):
        plain = re.split(r"[<(]", (name or "").replace("(anonymous namespace)::", ""), maxsplit=1)[0]
        return re.split(r"::|\s", plain.strip())[-1] or None
    rest, last = name[2:].lstrip("NK"), name
    while length := re.match(r"L?(\d+)", rest):
        start, end = length.end(), length.end() + int(length[1])
        last, rest = rest[start:end], rest[end:]
    return last


def normal_range(found):
    if not found:
        return None
    out = kept(found, ("bytes", "extent_known"))
    allocation = found.get("allocation")
    if allocation:
        out["offset"] = int(found["address"], 16) - int(allocation["address"], 16)
        out["allocation"] = kept(allocation, ("bytes", "device"))
    return out


def normal_access(access):
    out = kept(access, ACCESS)
    out["called"] = "runtime" if access["api"].startswith("cuda") else "driver"
    out["kernel"] = bare_kernel(access["kernel"])
    out["stream"] = access["stream"] and access["stream"]["kind"]
    out["range"] = normal_range(access["range"])
    return out


def normal_finding(finding):
    return {**kept(finding, FINDING), "accesses": [normal_access(a) for a in finding["accesses"]]}


def main():
    report = json.load(sys.stdin)
    findings = [normal_finding(f) for f in report["findings"]]
    findings.sort(key=lambda f: (f["id"], [a["sequence"] for a in f["accesses"]]))
    json.dump({
        "schema": report["schema"],
        "summary": {name: value for name, value in report["summary"].items() if name != "replay"},
        "program": kept(report["program"], ("ended_in_order", "simulated", "cuda_driver_version")),
        "devices": [kept(d, ("name", "compute_capability")) for d in report["devices"]],
        "coverage": kept(report["coverage"], COVERAGE),
        "findings": findings,
        "in_flight": [kept(call, ("thread", "sequence")) for call in report["in_flight"]],
    }, sys.stdout, indent=1, sort_keys=True)
    print()


main()
