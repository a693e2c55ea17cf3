#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to five programs of PyTorch: each runs bare and recorded in turn, one run at a time.

usage: pytorch_pairs.py [--pairs N] [--sides LIST] [--seconds N] [--length FACTOR] [--sim] [--python FILE] BUILD [PROGRAM...]

PROGRAM: train_bert, resnet50, train_gpt2 (tests/gpu/judging, shortened by --length, default 0.3), inference, graphed, training
(torch_rounds.py), or a script with a / in its name; default: train_bert resnet50 graphed inference train_gpt2.
Sides: bare; recorded: all objects that `run` preloads, no store of images; run: `syncwatch run` when it ran each program once
before, so that it has the code.  Default: bare,run.

Each side is a process that has imported torch and transformers, and is forked for each run of a program, which saves the
seconds of the import: a run begins with its first call of CUDA.  paired_programs.py compares whole processes, import included.
One round of all sides is run first and not counted.  --seconds: no round of a program begins later (default 3600).

Prints for each program and each of its values (loop: seconds of its loop; first, later: ms of the first round, and the median
of the later ones; whole: seconds of the run without the import) the least and the median of each side, the ratios to the first
side, and the interval in which the median of the pairs' ratios lies with 95 %.
"""
import argparse
import importlib
import json
import os
import runpy
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = "train_bert resnet50 graphed inference train_gpt2".split()
ROUNDS = ("inference", "training", "graphed")
OBJECTS = ("", "-libraries", "-nccl", "-run", "-pools")


def serve():
    """A line of JSON for each run: [file, arguments...]; answers [seconds, exit status, output]."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    # transformers loads its models when they are first asked for, which would be in each run.
    models = (f"transformers.models.{name}.modeling_{name}" for name in ("bert", "gpt2"))
    for name in ("torch", "torchvision", "transformers", *models):
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    answers.write("ready\n")
    for line in sys.stdin:
        words = json.loads(line)
        with tempfile.TemporaryFile() as output:
            begin = time.monotonic()
            pid = os.fork()
            if not pid:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                sys.argv, sys.path[0] = words, os.path.dirname(words[0])
                os.environ["STARTED"] = repr(begin)
                runpy.run_path(words[0], run_name="__main__")
                return
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            took = time.monotonic() - begin
            output.seek(0)
            answers.write(json.dumps([took, status, output.read().decode(errors="replace")]) + "\n")


class Side:
    def __init__(self, name, asked, folder):
        self.name, self.folder = name, os.path.join(folder, name)
        os.makedirs(self.folder)
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), XDG_RUNTIME_DIR=folder, SIMULATED="1" if asked.sim else "",
                                PYTORCH_NVML_BASED_CUDA_CHECK="1")
        self.words = [asked.python, os.path.abspath(__file__), "--serve"]
        objects = [os.path.join(asked.build, "sim/libcudart.so.13")] if asked.sim else []
        if asked.sim:
            self.environment["LD_LIBRARY_PATH"] = os.path.join(asked.build, "sim")
        if name == "recorded":
            objects = [f"{asked.build}/libsyncwatch{part}.so" for part in OBJECTS] + objects
            self.environment["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={self.folder}/%p.swt"
        if objects:
            self.environment["LD_PRELOAD"] = ":".join(objects)
        if name == "run":
            self.words = [f"{asked.build}/syncwatch", "run", "--no-footprints", "--limit", "1", "-o", f"{self.folder}/%p.swt", "--"] + self.words
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                                        if self.name == "run" else None, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{self.name}: cannot be started: {self.process.communicate()[1]}")

    def run(self, words, keep=False):
        """keep: `run` takes the code for its store from the traces that are there when it ends."""
        for name in [] if keep else os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        took, status, output = json.loads(answer) if answer else (0, "the process that is forked has ended", "")
        if status:
            print(f"# {self.name}: {' '.join(words)}: exit status {status}: {output[-500:]}", flush=True)
            return None
        return values_of(took, output)

    def end(self, report):
        """`run` judges what it recorded, and keeps the code, unless it is ended first."""
        if not report:
            self.process.send_signal(signal.SIGKILL if self.name == "run" else signal.SIGTERM)
        self.process.communicate()


def values_of(took, output):
    values = {}
    for line in output.splitlines():
        if line.startswith("loop_s "):
            values["loop"] = float(line.split()[1])
        if line.startswith('{"start_ms"'):
            rounds = json.loads(line)["rounds_ms"]
            values["first"], values["later"] = rounds[0], statistics.median(rounds[1:] or rounds)
    values["whole"] = took
    return values


def interval(ratios):
    sys.path.insert(0, HERE)
    import paired_programs
    return paired_programs.interval(ratios)


def words_of(program, asked):
    if "/" in program:
        return [os.path.abspath(program)]
    if program in ROUNDS:
        return [os.path.join(HERE, "torch_rounds.py"), program, "40"]
    return [os.path.join(HERE, "../gpu/judging", program + ".py"), "--length", str(asked.length)]


def measure(program, sides, asked, until):
    words, rounds = words_of(program, asked), []
    for number in range(asked.pairs + 1):
        if number > 1 and time.monotonic() > until:
            break
        got = {side.name: side.run(words) for side in (sides if number % 2 else reversed(sides))}
        if not all(got.values()):
            return False
        if number:
            rounds.append(got)
    for value in rounds[0][sides[0].name]:
        first = [row[sides[0].name][value] for row in rounds]
        for side in sides:
            name = os.path.basename(program)
            own = [row[side.name][value] for row in rounds]
            line = f"{name:12} {value:6} {side.name:9} {min(own):10.4g} {statistics.median(own):10.4g} {min(own) / min(first):8.3f} " \
                   f"{statistics.median(own) / statistics.median(first):8.3f}"
            ratios = [a / b for a, b in zip(own, first)]
            if side is not sides[0]:
                line += "   {:.3f} ({:.3f} to {:.3f}), {} pairs".format(statistics.median(ratios), *interval(ratios), len(ratios))
            print(line, flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "), add_help=False)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--sides", default="bare,run")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--length", type=float, default=0.3)
    parser.add_argument("--sim", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("build")
    parser.add_argument("program", nargs="*")
    asked = parser.parse_args()
    asked.build = os.path.abspath(asked.build)
    until, programs = time.monotonic() + asked.seconds, asked.program or PROGRAMS
    folder = tempfile.mkdtemp(prefix="sw-pairs-")
    sides = [Side(name, asked, folder) for name in asked.sides.split(",")]
    worked = True
    try:
        for side in sides:
            if side.name == "run":  # the code goes into the store when `run` ends
                for program in programs:
                    worked &= bool(side.run(words_of(program, asked), keep=True))
                side.end(report=True)
                side.start()
        print(f"{'program':12} {'value':6} {'side':9} {'least':>10} {'median':>10} {'/ least':>8} {'/ median':>8}   of pairs (95 %)", flush=True)
        for program in programs if worked else []:
            worked &= measure(program, sides, asked, until)
    finally:
        for side in sides:
            side.end(report=False)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(not worked)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
