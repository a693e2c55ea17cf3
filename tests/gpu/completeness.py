# SPDX-License-Identifier: Apache-2.0
"""Has every kernel, copy, set and synchronisation that CUPTI saw exactly one record of ours, and the other way round?

usage: completeness.py DUMP CUPTI_LINES

DUMP is the output of `syncwatch dump`, CUPTI_LINES that of cupti_agent.  CUPTI's activity records carry a correlation
id; the driver call with that id has a thread and a time span, and our record of the call must enclose it on the same
thread: our wrapper stands outside of what CUPTI measures.  A graph launch is one record of ours for all its nodes.
"""
import bisect
import collections
import re
import sys

SLACK_NS = 3000  # two clocks read by two parties
OURS = {
    "kernel": {"LAUNCH", "GRAPH_LAUNCH"},
    "memcpy": {"COPY", "COPY_ND", "GRAPH_LAUNCH", "MEM_OP"},
    "memset": {"SET", "GRAPH_LAUNCH", "MEM_OP"},
    "sync": {"SYNC", "STREAM_WAIT", "COPY", "COPY_ND", "SET", "FREE", "CONTEXT_OP", "CONFIG", "QUERY", "OTHER"},
}


def fields(line):
    return dict(re.findall(r"(\w+)=(\S+)", line))


def main():
    start_ns = 0
    tids = {}
    ours = collections.defaultdict(list)  # tid -> [(t, end, kind, seq, api)]
    for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
        kind, f = line.split(" ", 1)[0], fields(line)
        if kind == "TRACE":
            start_ns = int(f["start_monotonic_ns"])
        elif kind == "THREAD":
            tids[f["number"]] = int(f["tid"])
        elif "t_ns" in f and "END" not in f["flags"].split("|"):
            t = int(f["t_ns"]) + start_ns
            ours[tids.get(f["thread"], 0)].append((t, t + int(f["dur_ns"]), kind, int(f["seq"]), f.get("runtime", "")))
    for records in ours.values():
        records.sort()

    calls, work = {}, []
    for line in open(sys.argv[2], encoding="utf-8", errors="replace"):
        kind, correlation, tid, start, end, name, extra = line.rstrip("\n").split("\t")
        if kind in ("driver", "runtime"):
            # The driver's record of a correlation id is the closer one.
            if kind == "driver" or int(correlation) not in calls:
                calls[int(correlation)] = (kind, int(tid), int(start), int(end), name)
        elif kind == "end":
            if int(extra):
                print(f"CUPTI dropped {extra} records: the comparison is not complete")
                return 1
        else:
            work.append((kind, int(correlation), name, int(extra)))
    if not work:
        print("CUPTI saw no work at all: nothing was compared")
        return 1

    missing, double, matched = [], [], collections.Counter()
    used = collections.defaultdict(set)  # seq -> correlation ids
    for kind, correlation, name, graph in work:
        if correlation not in calls:
            missing.append(f"{kind} {name}: CUPTI has no call with correlation {correlation}")
            continue
        which, tid, start, end, api = calls[correlation]
        records = ours.get(tid, [])
        found = []
        at = bisect.bisect_right(records, (end + SLACK_NS, 1 << 63, "", 0, ""))
        for r in reversed(records[max(0, at - 64):at]):
            inside = (r[0] - SLACK_NS <= start and end <= r[1] + SLACK_NS) if which == "driver" else (
                start - SLACK_NS <= r[0] and r[1] <= end + SLACK_NS)
            if inside and r[2] in OURS[kind]:
                found.append(r)
        if len(found) > 1:  # neighbours within the slack: the tightest is meant
            found.sort(key=lambda r: abs(r[0] - start) + abs(r[1] - end))
            found = found[:1]
        if not found:
            missing.append(f"{kind} {name} through {api} on thread {tid} at {start - start_ns} ns, correlation {correlation}")
        else:
            matched[kind] += 1
            used[found[0][3]].add(correlation)
    for seq, correlations in used.items():
        if len(correlations) > 1:
            double.append(f"record {seq} stands for correlations {sorted(correlations)}")

    launches = sum(r[2] == "LAUNCH" for rs in ours.values() for r in rs)
    unseen = sum(r[2] == "LAUNCH" and r[3] not in used for rs in ours.values() for r in rs)
    print("CUPTI saw " + ", ".join(f"{n} {k}" for k, n in sorted(collections.Counter(w[0] for w in work).items())) +
          "; matched " + ", ".join(f"{n} {k}" for k, n in sorted(matched.items())) +
          f"; our launches {launches}, not seen by CUPTI {unseen} (captured ones are seen at replay)")
    for text in missing[:20] + double[:20]:
        print("  " + text)
    print(f"{len(work) - len(missing) - len(double)} passed, {len(missing) + len(double)} failed, 0 skipped")
    return 1 if missing or double else 0


sys.exit(main())
