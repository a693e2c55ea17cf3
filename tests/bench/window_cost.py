#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calls cost bare, outside of all windows, and recorded, in turns.

usage: window_cost.py [--sim] [--rounds N] [--way NAME=OPTIONS]... BUILD_DIR PROGRAM [ARGUMENTS]

PROGRAM prints rows "NAME p50 p99 MEAN" in ns, as tests/bench/bench_calls does, or nothing: then its wall time counts.
Prints for each row and way the median over the rounds, and what it is above bare.  --way adds one:
--way 'python=--capture python:step'.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time

ROW = re.compile(r"^(\S.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$", re.M)


def measure(command, environment, folder):
    began = time.monotonic()
    result = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if result.returncode:
        raise SystemExit(f"{command}: exit status {result.returncode}\n{result.stderr}")
    rows = {name: float(mean) for name, _, _, mean in ROW.findall(result.stdout)}
    return rows or {"wall": took * 1e9}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sim", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way", action="append", default=[])
    parser.add_argument("build")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    build = os.path.abspath(given.build)
    ways = {"bare": None, "paused": ["--paused"], "recorded": []}
    ways.update((way.split("=", 1)[0], way.split("=", 1)[1].split()) for way in given.way)
    environment = dict(os.environ)
    if given.sim:
        environment["LD_LIBRARY_PATH"] = os.path.join(build, "sim")
    times = {way: {} for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.rounds):
            for way, options in ways.items():
                run = [] if options is None else [os.path.join(build, "syncwatch"), "run", "--quiet", "--force", "-o",
                                                  "t.swt", *(["--sim"] if given.sim else []), *options, "--"]
                for row, ns in measure(run + given.program, environment, folder).items():
                    times[way].setdefault(row, []).append(ns)
    print(f"{'':24}" + "".join(f"{way:>22}" for way in ways))
    for row in times["bare"]:
        bare = statistics.median(times["bare"][row])
        cells = [statistics.median(times[way].get(row, [float("nan")])) for way in ways]
        print(f"{row:24}" + "".join(f"{cell:12.1f} {cell - bare:+8.1f}" + " " for cell in cells))


if __name__ == "__main__":
    main()
