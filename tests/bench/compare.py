# SPDX-License-Identifier: Apache-2.0
"""What recording costs: bare, recorded without stacks, recorded with stacks (KINDS=bare,stacks,gpu: with time stamps of the
device), in turn on one machine.

usage: compare.py BUILD_DIR BENCH_CALLS [ROUNDS]

Runs of the kinds alternate, so that a machine whose speed drifts harms all of them alike.  A shared machine has fast
and slow moments, by a factor of two on some; so for every call the table gives the best round's p50, p99 and mean of a loop, in
nanoseconds, and what recording adds is the difference of the best rounds.
"""
import collections
import os
import statistics
import subprocess
import sys
import tempfile

build, bench = sys.argv[1], sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
kinds = tuple(os.environ.get("KINDS", "bare,recorder,stacks").split(","))
adds = {"recorder": ":stacks=0", "stacks": "", "gpu": ":gpu-timeline"}
torch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_step.py")


def run(kind, command, folder):
    env = dict(os.environ)
    if kind != "bare":
        options = "report=0:quiet:trace=" + tempfile.mktemp(suffix=".swt", dir=folder)
        env["SYNCWATCH_OPTIONS"] = options + adds[kind]
        env["LD_PRELOAD"] = os.path.join(build, "libsyncwatch.so")
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, timeout=300)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return [line.split("\t") for line in done.stdout.splitlines()]


def main():
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    steps = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for kind in kinds[number % len(kinds):] + kinds[:number % len(kinds)]:
                for name, *numbers in run(kind, [bench, "4000"], folder):
                    calls[name][kind].append([float(n) for n in numbers])
        for number in range(max(3, rounds // 2)):
            for kind in kinds[number % len(kinds):] + kinds[:number % len(kinds)]:
                for row in run(kind, [sys.executable, torch, "300"], folder):
                    steps[kind].append((float(row[2]), float(row[4])))

    def best(name, kind, what):
        return min(r[what] for r in calls[name][kind])

    print("call", *(f"{kind} p50/p99/mean" for kind in kinds), *(f"{kind} adds p50/mean" for kind in kinds[1:]),
          "ratio of means: " + ", ".join(kinds[1:]), sep="\t")
    for name in calls:
        cells = ["/".join(f"{best(name, kind, i):.0f}" for i in range(3)) for kind in kinds]
        cells += ["/".join(f"{best(name, kind, i) - best(name, 'bare', i):+.0f}" for i in (0, 2)) for kind in kinds[1:]]
        print(name, *cells, ", ".join(f"{best(name, kind, 2) / best(name, 'bare', 2):.3f}" for kind in kinds[1:]), sep="\t")
    for kind in kinds:
        if steps[kind]:
            print(f"PyTorch step ms, {kind}: best p50 {min(s[0] for s in steps[kind]):.3f}, "
                  f"median of p50 {statistics.median(s[0] for s in steps[kind]):.3f}, "
                  f"ratio of best to bare {min(s[0] for s in steps[kind]) / min(s[0] for s in steps['bare']):.3f}")


main()
