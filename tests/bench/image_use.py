#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code from memory in the traces of a program's first run and of its second one, for ten programs of PyTorch.

usage: image_use.py [--sim] [--jobs N] [--length FACTOR] [--python FILE] BUILD [PROGRAM...]

Each program runs twice under `syncwatch run`, first with an empty cache folder, then with what the first run left there.
PROGRAM: a program of tests/gpu/judging (shortened by --length, default 0.05), `inference`, `training` or `graphed` of
torch_rounds.py, or a command with its arguments as one word (it has a / in it).  --jobs: programs at a time (default 4):
bytes do not depend on how fast they run.

Prints a line a program, for both runs: images that the program copied, MB of them, MB of code that `run` put into the trace
at the end, and MB of the whole trace.  A program of several processes: the sums.
"""
import argparse
import concurrent.futures
import os
import shlex
import struct
import subprocess
import sys
import tempfile

from first_use import HERE, kinds, records_of

PROGRAMS = "inference train_bert resnet50 graphed train_gpt2 attention convnet embedding lstm serving".split()
ROUNDS = ("inference", "training", "graphed", "import")
SECONDS = 240
DATA_AT = 80  # sw_rec_image.data


def command_of(program, asked):
    if "/" in program:
        return shlex.split(program)
    if program in ROUNDS:
        return [asked.python, os.path.join(HERE, "torch_rounds.py"), program, "3"]
    return [asked.python, os.path.join(HERE, "../gpu/judging", program + ".py"), "--length", str(asked.length)]


def count(path, found):
    wanted = kinds()
    for kind, record in records_of(path):
        if kind == wanted["IMAGE"]:
            found[0] += struct.unpack_from("<I", record, DATA_AT)[0] == 1
        elif kind == wanted["IMAGE_DATA"]:
            found[1] += len(record)
        elif kind == wanted["PACK_DATA"]:
            found[2] += len(record)
    found[3] += os.path.getsize(path)


def run_once(program, asked, folder):
    """([images copied, bytes of them, bytes put there at the end, bytes of the trace], None) or (None, why not)"""
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), SIMULATED="1" if asked.sim else "")
    words = [os.path.join(asked.build, "syncwatch"), "run", "--no-footprints", "--limit", "1", "-o", os.path.join(folder, "%p.swt")]
    words += (["--sim"] if asked.sim else []) + ["--"] + command_of(program, asked)
    if asked.sim and "/" not in program:
        environment["LD_PRELOAD"] = os.path.join(asked.build, "sim/libcudart.so.13")
    try:
        done = subprocess.run(words, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, f"ran for more than {SECONDS} s"
    found = [0, 0, 0, 0]
    for name in sorted(os.listdir(folder)):
        if name.endswith(".swt"):
            count(os.path.join(folder, name), found)
            os.unlink(os.path.join(folder, name))
    if done.returncode or not found[3]:
        return None, f"exit status {done.returncode}: {' '.join(done.stderr.split())[-300:]}"
    return found, None


def measure(program, asked):
    with tempfile.TemporaryDirectory(prefix="syncwatch-images-") as folder:
        both = []
        for _ in range(2):
            found, why = run_once(program, asked, folder)
            if why:
                return f"{program:14} failed: {why}"
            both.append(found)
    cells = [f"{found[0]:7} " + " ".join(f"{n / 1e6:8.2f}" for n in found[1:]) for found in both]
    return f"{os.path.basename(shlex.split(program)[0]):14} " + "   ".join(cells)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "), add_help=False)
    parser.add_argument("--sim", action="store_true")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--length", type=float, default=0.05)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("build")
    parser.add_argument("program", nargs="*")
    asked = parser.parse_args()
    asked.build = os.path.abspath(asked.build)
    heads = f"{'images':>7} {'copied':>8} {'at end':>8} {'trace':>8}"
    print(f"{'':14} {'first run, MB':^34}   {'second run, MB':^34}\n{'program':14} {heads}   {heads}", flush=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for line in pool.map(lambda program: measure(program, asked), asked.program or PROGRAMS):
            print(line, flush=True)
            failed |= " failed: " in line
    sys.exit(failed)


if __name__ == "__main__":
    main()
