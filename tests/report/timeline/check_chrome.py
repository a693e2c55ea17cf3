#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is this Chrome trace one that every viewer shows whole?  check_chrome.py TRACE [SAID] [--perfetto ASSETS [--proto FILE]]

TRACE: the JSON.  SAID: what the exporter's input held, one "what sequence-number" a line.  ASSETS: folder of Perfetto's
trace processor; what it makes of the trace must be exactly what is written in it, and in FILE, the same in its own format.
"""
import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys

HOST = {"cuda_runtime", "cuda_driver", "host_function", "sync"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "host_function", "gpu_operation", "queued"}
NESTED = {"sync", "hazard"}
HOST_PID, PATH_PID, HAZARDS_TID, FIRST_DEVICE_PID = 1, 2, 1, 100


class Trace:
    def __init__(self, path):
        raw = open(path, "rb").read()
        self.raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        self.top = json.loads(self.raw.decode("utf-8"), parse_constant=lambda c: sys.exit(f"{c} in the file"))
        self.events = self.top["traceEvents"]
        self.slices = [e for e in self.events if e["ph"] == "X"]
        self.tracks = collections.defaultdict(list)
        self.nested = collections.defaultdict(list)  # ends of waits in their calls, hazards in their work
        for e in self.slices:
            e["from"], e["to"] = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
            (self.nested if e["cat"] in NESTED else self.tracks)[e["pid"], e["tid"]].append(e)
        for track in [*self.tracks.values(), *self.nested.values()]:
            track.sort(key=lambda e: (e["from"], -e["to"]))


def ns(us):
    return round(us * 1000)


def need(condition, what, *about):
    if not condition:
        sys.exit("check_chrome: " + what + (": " + ", ".join(json.dumps(a) for a in about) if about else ""))


def check_bytes(trace):
    need(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", trace.raw), "a control character")
    need(b"\\u" not in trace.raw, "an escape where raw UTF-8 belongs")
    for number in re.findall(rb'"(?:ts|dur)":([^,}]*)', trace.raw):
        need(re.fullmatch(rb"\d+\.\d{3}", number), "a time that is not whole nanoseconds", number.decode())
    need(b'"rank": 0' in trace.raw, "no rank for HTA")
    for key in ("schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "deviceProperties"):
        need(key in trace.top, "no " + key)


def check_ids(trace):
    for e in trace.events:
        need(0 < e["pid"] < 2**31 and ("tid" not in e or 0 < e["tid"] < 2**31), "a pid or tid out of range", e)
        need(e["ph"] in "CM" or "tid" in e, "no tid", e)
    named = {(e["pid"], e["tid"]) for e in trace.events if e["ph"] == "M" and e["name"] == "thread_name"}
    for track in trace.tracks:
        need(track in named, "a track without a name", track)


def check_slices(trace, part):
    for e in trace.slices:
        need(e["to"] > e["from"], "an empty slice", e)
        if e["cat"] == "hazard":
            continue
        if e["pid"] == HOST_PID:
            need(e["cat"] in HOST and "stream" not in e["args"], "not a host slice", e)
        elif e["pid"] == PATH_PID:
            need(e["cat"] == "critical_path" and "correlation" not in e["args"], "not a stretch of the critical path", e)
        else:
            need(e["cat"] in DEVICE, "not a device slice", e)
            for key in ("device", "context", "stream", "correlation", "timing"):
                need(key in e["args"], "no " + key, e)
            estimated = e["args"]["timing"].startswith("estimated")
            need(estimated == e["name"].endswith("(estimate)") and (e["cat"] == "queued") == e["name"].startswith("queued: "),
                 "a time that is not what its name says", e)
            if estimated:
                continue
            need(e["cat"] != "kernel" or len(e["args"]["grid"]) == len(e["args"]["block"]) == 3, "no geometry", e)
            need(e["from"] >= e["args"]["enqueued_ns"], "ran before it was enqueued", e)
            measured = e["args"]["timing"].startswith("measured")
            need(measured != (e["cat"] == "queued"), "drawn as if it ran", e)
            need(measured or "known_done_ns" in e["args"] or e["args"]["completion"] == "not observed", "done or not?", e)
    for track in trace.tracks.values():
        for a, b in zip(track, track[1:]):
            need(b["from"] >= a["to"], "slices of one track overlap", a, b)
            # A slice of one nanosecond can't be made shorter.
            need(a["to"] - a["from"] == 1 or b["ts"] >= a["ts"] + a["dur"], "slices of one track overlap where times are floating point", a, b)
    for name, nested in trace.nested.items():
        for a, b in zip(nested, nested[1:]):
            need(b["from"] >= a["to"], "hazards or ends of waits overlap", a, b)
        for e in nested:
            if e["cat"] == "hazard":
                continue
            parent = slice_at(trace.tracks[name], e)
            need(parent and 0 <= parent["to"] - e["to"] <= 501 and parent["from"] < e["from"], "no end of a wait", e)
            need(parent["args"]["correlation"] == e["args"]["correlation"], "the end of another wait", e)
    for (pid, _), track in trace.tracks.items():
        if pid == PATH_PID:
            # A part of the run (--around) may have gaps; a slice may be said to end a nanosecond early.
            gap = next(((a, b) for a, b in zip(track, track[1:]) if not 0 <= b["from"] - a["to"] <= 1), None)
            need(part or not gap, "a critical path with a gap", gap)
            continue
        order = [e["args"]["correlation"] for e in track]
        need(pid < FIRST_DEVICE_PID or order == sorted(order), "work of a stream out of order", order[:20])


def slice_at(track, e):
    low, high = 0, len(track)
    while low < high:
        middle = (low + high) // 2
        if track[middle]["to"] <= ns(e["ts"]):
            low = middle + 1
        else:
            high = middle
    return track[low] if low < len(track) and track[low]["from"] <= ns(e["ts"]) else None


def enclosing(trace, e):
    track = e["pid"], e["tid"]
    found = slice_at(trace.nested[track], e) or slice_at(trace.tracks[track], e)
    need(found, "an arrow that ends in no slice", e)
    return found


def end_of_arrow(slice_):
    return slice_["cat"], slice_["args"]["correlation"], slice_["pid"] >= FIRST_DEVICE_PID


def check_flows(trace):
    """Returns the arrows as (category, source, destination)."""
    open_, arrows = {}, []
    for e in trace.events:
        if e["ph"] == "s":
            need(e["id"] not in open_, "two arrows of one id", e)
            open_[e["id"]] = e
        elif e["ph"] == "f":
            start = open_.get(e["id"])
            need(start and start != "over", "an arrow that ends before it starts in the file", e)
            need(e["bp"] == "e" and ns(start["ts"]) < ns(e["ts"]), "an arrow that does not run forward in time", start, e)
            source, destination = enclosing(trace, start), enclosing(trace, e)
            # Perfetto turns an arrow around when the slice that it leads to started first.
            need(source["from"] < destination["from"], "an arrow to a slice that started earlier", source, destination)
            arrows.append((e["cat"], end_of_arrow(source), end_of_arrow(destination)))
            open_[e["id"]] = "over"
    need(all(v == "over" for v in open_.values()), "an arrow without an end")
    return arrows


def check_hazards(trace):
    need(all(e["ph"] != "i" for e in trace.events), "an instant event, which Chromium's panel does not show")
    need((HOST_PID, HAZARDS_TID) not in trace.tracks, "another slice among the hazards")
    for name, nested in trace.nested.items():
        for e in nested:
            if e["cat"] != "hazard" or "more hazards" in e["name"]:
                continue
            for key in ("message", "earlier_on", "later_on", "earlier_stack", "later_stack"):
                need(e["args"].get(key), "a hazard without its " + key, e)
            need("allocated_at" not in e["args"] or e["args"].get("buffer"), "a place of no buffer", e)
            need("address" not in e["args"] or e["args"].get("buffer"), "a range of no buffer", e)
            if name == (HOST_PID, HAZARDS_TID):
                continue
            parent = slice_at(trace.tracks[name], e)
            need(parent and parent["from"] < e["from"] and e["to"] < parent["to"], "a hazard outside of its work", e)
            need(parent["args"]["correlation"] == e["args"]["correlation"], "a hazard of other work", e, parent)
            need(e["args"]["side"] in ("earlier", "later"), "which side?", e)


def check_counters(trace):
    last = {}
    for e in trace.events:
        if e["ph"] == "C":
            need(e["args"]["operations"] >= 0 and ns(e["ts"]) >= last.get(e["pid"], 0), "a counter that runs back", e)
            last[e["pid"]] = ns(e["ts"])


def check_said(trace, path, arrows):
    """What went in came out, once, and what belongs together is joined by an arrow."""
    said = [(what, int(seq)) for what, seq in (line.split() for line in open(path))]
    calls = collections.Counter(
        e["args"]["correlation"] for e in trace.slices if e["pid"] == HOST_PID and e["cat"] not in NESTED)
    work = collections.Counter(e["args"]["correlation"] for e in trace.slices if e["pid"] >= FIRST_DEVICE_PID
                               and e["cat"] != "hazard" and not e["args"]["timing"].startswith("estimated"))
    enqueue = {"kernel", "copy", "host_func"}
    for what, seq in said:
        need(calls[seq] == 1, f"{calls[seq]} calls of", what, seq)
        need(work[seq] == (what in enqueue), f"{work[seq]} pieces of work for", what, seq)
    need(sum(work.values()) == sum(what in enqueue for what, _ in said), "work that nobody enqueued")
    launches = {(source[1], destination[1]) for cat, source, destination in arrows if cat == "ac2g"}
    need(launches == {(s, s) for what, s in said if what in enqueue}, "launch arrows")
    events = {(source[1], destination[1]) for cat, source, destination in arrows if cat == "event"}
    records = [seq for what, seq in said if what == "record"]
    for wait in (seq for what, seq in said if what == "wait"):
        need((max(r for r in records if r < wait), wait) in events, "no arrow from record to wait", wait)
    for sync in (seq for what, seq in said if what == "sync"):
        need(any(cat == "sync" and d[1] == sync and s[2] for cat, s, d in arrows), "nothing releases the host", sync)


def check_perfetto(trace, path, assets, arrows):
    here = os.path.dirname(os.path.abspath(__file__))
    correlation = "ifnull(extract_arg({0}.arg_set_id, 'args.correlation'), extract_arg({0}.arg_set_id, 'debug.correlation'))"
    sql = [
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
        "select category, count(*) from slice group by category",
        "select sum(dur) from slice",
        "select {}, o.category, {}, i.category from flow f join slice o on o.id = f.slice_out join slice i on"
        " i.id = f.slice_in".format(correlation.format("o"), correlation.format("i")),
        "select count(*) from flow",
    ]
    run = subprocess.run(["node", os.path.join(here, "perfetto.mjs"), assets, path, *sql], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    need(run.returncode == 0, "Perfetto failed: " + run.stderr[-400:])
    lines = [l for l in run.stdout.splitlines() if l.startswith("[")]
    errors, counts, total, flows, flow_count = (json.loads(line) for line in lines)
    need(errors == [], "Perfetto found errors", errors)
    expected = collections.Counter(e["cat"] for e in trace.events if e["ph"] in "Xi")
    need(dict(counts) == expected, "Perfetto counts other slices", counts, expected)
    written = sum(e["to"] - e["from"] for e in trace.slices)
    # In JSON a slice may be said to end a nanosecond early (length_of() in trace_out.c).
    need(0 <= (total[0][0] or 0) - written <= len(trace.slices), "Perfetto sees other durations", total, written)
    want = collections.Counter((s[1], s[0], d[1], d[0]) for _, s, d in arrows)
    need(collections.Counter(map(tuple, flows)) == want and flow_count[0][0] == len(arrows), "Perfetto draws other arrows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("said", nargs="?")
    parser.add_argument("--perfetto")
    parser.add_argument("--proto")
    args = parser.parse_args()
    trace = Trace(args.trace)
    check_bytes(trace)
    check_ids(trace)
    check_slices(trace, part=not args.said)
    arrows = check_flows(trace)
    check_hazards(trace)
    check_counters(trace)
    if args.said:
        check_said(trace, args.said, arrows)
    if args.perfetto:
        check_perfetto(trace, args.trace, args.perfetto, arrows)
        if args.proto:
            check_perfetto(trace, args.proto, args.perfetto, arrows)
    print(f"{len(trace.slices)} slices, {len(arrows)} arrows, "
          f"{sum(e['tid'] == HAZARDS_TID and e['pid'] == HOST_PID for e in trace.slices)} hazards, "
          f"{sum(e['name'].endswith('(estimate)') and e['cat'] != 'critical_path' for e in trace.slices)} estimates")


main()
