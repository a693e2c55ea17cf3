#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs where everything is new: first rounds, starts, code from memory, and several threads.

usage: first_use.py [--seconds N] [--sim] [--python FILE] [--part inference|training|scaling]... BUILD

Runs torch_rounds.py in turn: bare, recorded without stacks, recorded for the first time (an empty cache folder) and again
(the cache of a run before), until the seconds of the part are over (three rounds of all at least; 180 s in all).  Prints for
each side the least and the median, ms, and the ratio to bare of both:
  start   from the start of the program until PyTorch and the device can be used
  first   the first round
  steady  the median of the last half of the rounds
  exit    from the program's last line to its end: Python, the driver, the recorder
  apart   of that, what comes after the recorder's end: the kernel takes the process apart
  report  from there to the end of the command: what `run` does
and of the traces the bytes, and those of code from memory in them.  `scaling`: paired_calls in 1, 2, 4, 8, 16 threads.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def kinds():
    """Values of the record kinds that are counted, from the format's header."""
    with open(os.path.join(HERE, "../../include/syncwatch/format_file.h"), encoding="utf-8") as file:
        text = file.read()
    return {name: int(text.split(f"X({name}, ")[1].split(",")[0]) for name in ("IMAGE", "IMAGE_DATA", "PACK_DATA")}


def records_of(path):
    """(kind, the record's bytes) of each record"""
    with open(path, "rb") as file:
        trace = file.read()
    header, chunk = struct.unpack_from("<II", trace, 16)
    for start in range(header, len(trace) - 32, chunk):
        magic, _, _, committed = struct.unpack_from("<IIII", trace, start)
        if magic != 0x4b484353:
            continue
        at, end = start + 32, start + 32 + committed
        while at < end:
            size = struct.unpack_from("<H", trace, at + 2)[0] * 8
            if not size:
                break
            yield trace[at], trace[at:at + size]
            at += size


def bytes_of_kinds(path, wanted):
    """(bytes of the trace's records, of them code of images, number of IMAGE records)"""
    whole = data = images = 0
    for kind, record in records_of(path):
        whole += len(record)
        data += len(record) if kind in (wanted["IMAGE_DATA"], wanted["PACK_DATA"]) else 0
        images += kind == wanted["IMAGE"]
    return whole, data, images


def closed_at(path):
    """When the recorder ended the trace, as time.time()."""
    with open(path, "rb") as file:
        monotonic, real, _, last = struct.unpack_from("<QQQQ", file.read(88), 56)
    return (real + last - monotonic) / 1e9


class Side:
    def __init__(self, name, options, cache):
        self.name, self.options, self.cache = name, options, cache
        self.values = {"start": [], "first": [], "steady": [], "exit": [], "apart": [], "report": []}
        self.traces = []


def run_once(side, asked, part, folder, wanted):
    trace = os.path.join(folder, "trace.swt")
    environment = dict(os.environ)
    words = ["sh", "-c", '"$@"; status=$?; echo "{\\"ended\\": $(date +%s.%N)}"; exit $status', "sh",
             asked.python, os.path.join(HERE, "torch_rounds.py"), part]
    if asked.sim:
        environment["SIMULATED"] = "1"
        environment["LD_LIBRARY_PATH"] = os.path.join(asked.build, "sim")
        environment["LD_PRELOAD"] = os.path.join(asked.build, "sim/libcudart.so.13")
    if side.options is not None:
        words = [os.path.join(asked.build, "syncwatch"), "run", "--no-footprints", "--limit", "1", *side.options, "-o", trace, "--"] + words
        cache = os.path.join(folder, side.cache)
        environment["XDG_CACHE_HOME"] = cache
        if side.cache == "empty":
            shutil.rmtree(cache, ignore_errors=True)
    environment["STARTED"] = repr(time.monotonic())
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          timeout=170, check=False)
    reported = time.time()
    lines = [json.loads(line) for line in done.stdout.split("\n") if re.match(r'{"(start_ms|left|ended)"', line)]
    if len(lines) != 3:
        print(f"# {side.name}: failed, exit status {done.returncode}: {done.stderr[-600:]}")
        return False
    rounds = lines[0]["rounds_ms"]
    side.values["start"].append(lines[0]["start_ms"])
    side.values["exit"].append((lines[2]["ended"] - lines[1]["left"]) * 1e3)
    side.values["report"].append((reported - lines[2]["ended"]) * 1e3)
    if rounds:
        side.values["first"].append(rounds[0])
        side.values["steady"].append(statistics.median(rounds[len(rounds) // 2:]))
    if side.options is not None:
        for name in os.listdir(folder):
            if name.endswith(".swt"):
                side.traces.append(bytes_of_kinds(os.path.join(folder, name), wanted))
                side.values["apart"].append((lines[2]["ended"] - closed_at(os.path.join(folder, name))) * 1e3)
                os.unlink(os.path.join(folder, name))
    return True


def programs(asked, part, seconds):
    sides = [Side("bare", None, ""), Side("no stacks", ["--depth", "0"], "kept"), Side("recorded first", [], "empty"),
             Side("recorded again", [], "kept")]
    wanted = kinds()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="syncwatch-first-") as folder:
        if not all(run_once(side, asked, part, folder, wanted) for side in sides):
            return
        for side in sides:  # the first round of all read the files from the disk
            side.values = {name: [] for name in side.values}
        done, took = 0, 0.0
        while done < 2 or time.monotonic() + took < until:
            begin = time.monotonic()
            for side in sides if done % 2 else reversed(sides):
                if not run_once(side, asked, part, folder, wanted):
                    return
            took = time.monotonic() - begin
            done += 1
    print(f"# {part}: {done} rounds of all\n# side            what      least   median  / least / median")
    for what in ("start", "first", "steady", "exit", "apart", "report"):
        for side in sides:
            own, bare = side.values[what], sides[0].values[what]
            if own and not bare:
                print(f"{side.name:16}  {what:6} {min(own):8.1f} {statistics.median(own):8.1f}")
            elif own:
                print(f"{side.name:16}  {what:6} {min(own):8.1f} {statistics.median(own):8.1f}   {min(own) / min(bare):6.3f}   "
                      f"{statistics.median(own) / statistics.median(bare):6.3f}")
    for side in sides[1:]:
        whole, data, images = side.traces[-1] if side.traces else (0, 0, 0)
        print(f"{side.name:16}  trace {whole} bytes, {data} of them code from memory, {images} images")
    sys.stdout.flush()


def scaling(asked):
    print("# scaling: threads, then call, frames, bare ns, recorded adds (median, 25 %, 75 %), ratio")
    environment = dict(os.environ, LD_PRELOAD=os.path.join(asked.build, "libsyncwatch.so"))
    if asked.sim:
        environment["LD_LIBRARY_PATH"] = os.path.join(asked.build, "sim")
    for threads in (1, 2, 4, 8, 16):
        if threads > 2 * os.cpu_count():
            break
        for row in ("5", "2"):
            with tempfile.TemporaryDirectory(prefix="syncwatch-first-") as folder:
                environment["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={folder}/t.swt"
                done = subprocess.run([os.path.join(asked.build, "tests/bench/paired_calls"), "100", "200", row, str(threads)],
                                      env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            print(threads, (done.stdout.strip().split("\n") or [""])[-1], sep="\t", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "), add_help=False)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--sim", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--part", action="append", choices=("inference", "training", "import", "scaling"))
    parser.add_argument("build")
    asked = parser.parse_args()
    asked.build = os.path.abspath(asked.build)
    parts = asked.part or ["scaling", "inference", "training"]
    begin = time.monotonic()
    for i, part in enumerate(parts):
        if part == "scaling":
            scaling(asked)
        else:
            programs(asked, part, (asked.seconds - (time.monotonic() - begin)) / (len(parts) - i))


if __name__ == "__main__":
    main()
