# SPDX-License-Identifier: Apache-2.0
"""Profiles as torch.profiler writes them, made by hand from the calls of a trace: what the profiler would have seen.

Kineto writes Chrome's trace event format (torch.profiler.profile.export_chrome_trace): complete events with pid and tid of
the system, microseconds since baseTimeNanoseconds, categories cpu_op, cuda_runtime, cuda_driver, kernel, gpu_memcpy and
gpu_memset, and args.correlation, the same for a call and its work.
"""
import json
import random
import subprocess

WORK = {"LAUNCH": "kernel", "COPY": "gpu_memcpy", "COPY_ND": "gpu_memcpy", "SET": "gpu_memset"}


def fields_of(line):
    return dict(field.split("=", 1) for field in line.split() if "=" in field)


class Trace:
    """What syncwatch dump tells: pid, when it began, the calls."""

    def __init__(self, command, path):
        text = subprocess.run([command, "dump", path], check=True, capture_output=True, text=True, errors="replace").stdout
        self.calls, self.tids = [], {}
        for line in text.splitlines():
            kind, fields = line.split(" ", 1)[0], fields_of(line)
            flags = fields.get("flags", "").split("|")
            if kind == "TRACE":
                self.pid, self.start = int(fields["pid"]), int(fields["start_realtime_ns"])
            elif kind == "THREAD":
                self.tids[int(fields["number"])] = int(fields["tid"])
            elif fields.get("driver") and "END" not in flags and "PENDING" not in flags:
                names = {"driver": fields["driver"].strip('"'), "runtime_name": fields.get("runtime", "").strip('"')}
                self.calls.append({"kind": kind, "t": int(fields["t_ns"]), "dur": int(fields["dur_ns"]),
                                   "thread": int(fields["thread"]), "seq": int(fields["seq"]),
                                   "stream": fields.get("stream"), "runtime": "RUNTIME" in flags, **names})


class Profile:
    """offset: nanoseconds to add to a time of the trace; base: baseTimeNanoseconds, some days before the run, 0 for versions
    of PyTorch without it."""

    def __init__(self, trace, offset=None, base=None, seed=1, drift_ppm=0, keep=lambda index, call: True):
        self.random = random.Random(seed)
        self.base = trace.start - 10**15 if base is None else base
        self.offset = trace.start - self.base if offset is None else offset
        self.drift = drift_ppm
        self.pid, self.trace = trace.pid, trace
        self.events, self.end, self.spots = [], {}, {}
        self.event("M", name="process_name", pid=trace.pid, tid=0, args={"name": "python"})
        self.event("X", cat="cpu_op", name="aten::mul \"x\\\u00e9\"", pid=trace.pid, tid=trace.pid, ts=self.at(0), dur=10,
                   args={"External id": 1, "Input Dims": [[2, [3, 4]], []]})
        self.event("X", cat="Trace", name="PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler", ts=self.at(0), dur=9)
        for index, call in enumerate(trace.calls):
            if keep(index, call):
                self.call(index + 1, call)

    def at(self, ns):
        return ns + self.offset + ns * self.drift // 1000000

    def event(self, phase, **members):
        self.events.append({"ph": phase, **members})

    def call(self, correlation, call):
        before, after = (min(self.random.randint(100, 400), room) for room in self.room(call))
        start, end = self.at(call["t"]) - before, self.at(call["t"] + call["dur"]) + after
        category = "cuda_runtime" if call["runtime"] else "cuda_driver"
        if not call["runtime"]:  # CUPTI sits in the driver: our record encloses it
            start, end = self.at(call["t"]) + 10, max(self.at(call["t"] + call["dur"]) - 10, self.at(call["t"]) + 10)
        self.event("X", cat=category, name=self.name(call), pid=self.pid, tid=self.trace.tids[call["thread"]], ts=start,
                   dur=end - start, args={"External id": correlation, "cbid": 211, "correlation": correlation})
        if call["kind"] in WORK:
            stream = int(call["stream"] or "0", 16) % 100
            begin = max(end + 1500, self.end.get(stream, 0))
            self.end[stream] = begin + self.random.randint(2000, 9000)
            self.spots[call["seq"]] = (begin, self.end[stream])
            self.event("X", cat=WORK[call["kind"]], name="some_kernel", pid=0, tid=stream, ts=begin,
                       dur=self.end[stream] - begin, args={"device": 0, "stream": stream, "correlation": correlation})
            for phase, pid, tid, ts in (("s", self.pid, self.trace.tids[call["thread"]], start), ("f", 0, stream, begin)):
                self.event(phase, id=correlation, pid=pid, tid=tid, ts=ts, cat="ac2g", name="ac2g", bp="e")

    def room(self, call):
        """Half of the time to the calls before and after it on its thread, in which the runtime's part may lie."""
        others = [other for other in self.trace.calls if other["thread"] == call["thread"]]
        ends = [other["t"] + other["dur"] for other in others if other["t"] < call["t"]]
        starts = [other["t"] for other in others if other["t"] > call["t"]]
        return (max(0, call["t"] - max(ends, default=0)) // 2,
                max(0, min(starts, default=call["t"] + 10**9) - call["t"] - call["dur"]) // 2)

    def name(self, call):
        for suffix in ("_ptsz", "_ptds", "_v2", "_v3"):
            call = {**call, "driver": call["driver"].removesuffix(suffix)}
        return call["runtime_name"] if call["runtime"] else call["driver"]

    def text(self):
        def micro(ns):
            return f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"
        lines = []
        for event in self.events:
            parts = [f"{json.dumps(key)}: {micro(value) if key in ('ts', 'dur') else json.dumps(value)}"
                     for key, value in event.items()]
            lines.append("  {" + ", ".join(parts) + "}")
        base = "" if not self.base else f',\n  "baseTimeNanoseconds": {self.base}'
        return ('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "GPU"}],\n  "traceEvents": [\n' +
                ",\n".join(lines) + '\n  ],\n  "traceName": "torch.json",\n  "displayTimeUnit": "ms"' + base + "\n}\n")
