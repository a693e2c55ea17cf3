#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `syncwatch confirm --waits` measures of an advice, against the program that was fixed by hand.

usage: confirm.py BUILD_DIR OUT_DIR [--sim] [--only GLOB] [--repeat N] [--pairs N] [--seconds N] [--torch]

For each pair of kernels/ that waits: what the report of the broken program predicts, what confirm measures when it follows the
advice at run time, and what the fixed program saves: the difference of the hot times that both print, recorded, in turn.
Prints a line a program as it is known: milliseconds, and the ratio of measured to fixed by hand.  OUT_DIR/savings-confirm.tsv
has the same, OUT_DIR/savings-confirm/ the reports.  A program passes when the ratio is within 5 %, or when the two differ by
less than the runs do; refused advice is printed with its reason and counts as skipped, and so does "noise": the interval of
what was measured holds the other, and is wider than 5 % of it.
--torch instead: train_slow.py with its three mistakes, all changes together (confirm --together) against the same loop fixed by
hand.  That the host asks for a value can only be changed in the program: so it passes when what is measured is within 5 % of
what the other two fixes save by hand, or within the 95 % interval of that.  What all three save is printed.
"""
import argparse
import fnmatch
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Program, the finding that its mistake causes, what confirm needs to see of the host.
PAIRS = [
    ("wide_sync", "SW401", []),
    ("legacy_between", "SW304", []),
    ("sync_copy", "SW301", ["--guard-host"]),
    ("sync_memset", "SW303", ["--guard-host"]),
    ("alloc_in_loop", "SW306", []),
    ("pageable_async", "SW302", []),
    ("lazy_load", "SW308", []),
    ("set_limit", "SW309", []),
    ("pin_in_loop", "SW307", []),
    # Its host touches guarded pages in each round: other work on the machine's processors shows in it.
    ("pipeline_wait", "SW401", ["--guard-host"]),
    ("redundant_sync", "SW402", ["--all"]),
]
NEAR = 0.05
# Loops of the training program in turn: short ones, so that what disturbs the machine disturbs few of them.
ROUNDS, STEPS, ALL_STEPS = 12, 25, 100


def hot_ms(command, environment):
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120,
                          cwd=work)
    for line in done.stdout.splitlines():
        if line.startswith("hot_ms "):
            return float(line.split()[1])
    raise RuntimeError(f"{' '.join(command)} says nothing of hot_ms (exit status {done.returncode})")


def recorder(guard):
    names = ["libsyncwatch.so"] + (["libsyncwatch-guard.so"] if guard else [])
    environment = dict(os.environ, LD_PRELOAD=":".join(os.path.join(options.build, name) for name in names))
    environment["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={os.path.join(work, 'again.swt')}"
    if options.sim:
        environment["LD_LIBRARY_PATH"] = os.path.join(options.build, "sim")
    return environment


def by_hand(program, guard):
    """Medians of what the fixed program saves and of what the broken one takes, and by how much runs differ."""
    times = ([], [])
    for number in range(5):
        for which in (0, 1) if number % 2 else (1, 0):
            command = [program] + (["--fixed"] if which else []) + ["--repeat", str(options.repeat)]
            times[which].append(hot_ms(command, recorder(guard)))
    spread = sum((max(t) - min(t)) / 2 for t in times)
    return statistics.median(times[0]) - statistics.median(times[1]), statistics.median(times[0]), spread


def confirm(name, program, finding, more):
    path = os.path.join(reports, name + ".json")
    command = [os.path.join(options.build, "syncwatch"), "confirm", "--waits", "--finding", finding, "--pairs", str(options.pairs),
               "--json", path, "--force", "-o", os.path.join(work, name + ".swt"), *more]
    command += ["--sim"] if options.sim else ["--gpu-timeline"]
    with open(os.path.join(reports, name + ".txt"), "w", encoding="utf-8") as text:
        subprocess.run(command + ["--", program, "--repeat", str(options.repeat)], stdout=text, stderr=text, timeout=400,
                       stdin=subprocess.DEVNULL, check=False)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    found = [f for f in report["findings"] if f["id"] == finding and "saving" in f]
    return max(found, key=lambda f: f["saving"].get("saved_ns", -1 << 62), default=None), predicted(report, finding)


def predicted(report, finding):
    """The interval of all findings of this id together."""
    parts = (report["summary"].get("replay") or {}).get("recoverable", [])
    return next(([f"{p['low_ms']:.2f}", f"{p['high_ms']:.2f}"] for p in parts if p["id"] == finding), ["-", "-"])


def row_of(name, finding, more):
    program = os.path.join(options.build, "kernels", name)
    found, ends = confirm(name, program, finding, more)
    hand, base, spread = by_hand(program, "--guard-host" in more)
    row = [name, finding, f"{base:.2f}"]
    if not found:
        return row + ["-"] * 5 + [f"{hand:.2f}", f"{spread:.2f}", "-", "no finding"]
    saving = found["saving"]
    row += ends
    if saving["verdict"] != "measured":
        return row + ["-"] * 3 + [f"{hand:.2f}", f"{spread:.2f}", "-", f"{saving['verdict']}: {saving['reason']}"]
    low, middle, high = (saving[key] / 1e6 for key in ("low_ns", "saved_ns", "high_ns"))
    near = abs(middle - hand) <= max(NEAR * abs(hand), spread)
    # Runs differ by more than what there is to save: the interval says so, and nothing is shown.
    noise = not near and low - spread <= hand <= high + spread and high - low > NEAR * abs(hand)
    return row + [f"{low:.2f}", f"{middle:.2f}", f"{high:.2f}", f"{hand:.2f}", f"{spread:.2f}",
                  f"{middle / hand:.3f}" if hand else "-", "near" if near else "noise" if noise else "off"]


def loops(script, times):
    """What one process of the script says of the loop without some mistakes: milliseconds, by the mistakes that are left out."""
    command = script + [f"--rounds={ROUNDS}", f"--steps={STEPS}"]
    done = subprocess.run(command, env=recorder(False), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, timeout=120, cwd=work)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "loop":
            times.setdefault(words[1], []).append(float(words[2]) * ALL_STEPS / STEPS)
    if not times:
        raise RuntimeError(f"{' '.join(script)} says nothing of its loops (exit status {done.returncode})")


def saved_by_hand(times, name):
    """Median of what the fixes save, and half of its 95 % interval (by ranks): both loops of a round are of one process."""
    saved = sorted(base - fixed for base, fixed in zip(times["none"], times[name]))
    reach = math.sqrt(len(saved))
    low, high = int(len(saved) / 2 - reach), math.ceil(len(saved) / 2 + reach) - 1
    return statistics.median(saved), (saved[min(high, len(saved) - 1)] - saved[max(low, 0)]) / 2


def confirm_together(script, seconds):
    path = os.path.join(reports, "train_slow.json")
    command = [os.path.join(options.build, "syncwatch"), "confirm", "--together", "--pairs", "5", "--runs", "20", "--gpu-timeline", "--json",
               path, "--log", os.path.join(reports, "train_slow.log"), "--force", "-o", os.path.join(work, "train_slow.swt"), "--"] + script
    with open(os.path.join(reports, "train_slow.txt"), "w", encoding="utf-8") as text:
        subprocess.run(command, stdout=text, stderr=text, timeout=seconds, stdin=subprocess.DEVNULL, check=False)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def torch():
    """The training loop: what all changes together save that can be followed at run time, against fixing the same mistakes by hand.
    By hand before and after; in between at most 17 runs."""
    script = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "train_slow.py")]
    begun, times = time.monotonic(), {}
    loops(script, times)
    print(f"train_slow: one process with {ROUNDS} rounds of loops of {STEPS} steps in {time.monotonic() - begun:.0f} s", flush=True)
    report = confirm_together(script, max(60, options.seconds - (time.monotonic() - begun)))
    print(f"train_slow: confirmed after {time.monotonic() - begun:.0f} s", flush=True)
    loops(script, times)
    hand = {name: saved_by_hand(times, name) for name in times if name != "none"}
    for name, (saved, spread) in hand.items():
        print(f"train_slow by hand: {name}: {saved:.1f} ms (+- {spread:.1f}) of {statistics.median(times['none']):.1f} ms")
    for name, each in times.items():
        print(f"train_slow loops, {name}:", " ".join(f"{ms:.0f}" for ms in each))
    for finding in report["findings"]:
        if "saving" in finding:
            saving = finding["saving"]
            print(finding["id"], finding["count"], saving["verdict"], saving["reason"], saving["change"], sep="\t")
    together = report.get("savings", {})
    taken = {CAUSED[step["id"]] for step in together.get("order", []) if step["id"] in CAUSED and not step["left_out"]}
    total = together.get("together", {})
    print(f"train_slow: {total.get('text')}")
    saved, low, high = (total.get(key, 0) / 1e6 for key in ("saved_ns", "low_ns", "high_ns"))
    pair, spread = hand["pair"]
    near = taken >= {"unpinned", "empty_cache"} and abs(saved - pair) <= max(NEAR * pair, spread)
    print(f"train_slow: together {saved:.1f} ms ({low:.1f} to {high:.1f}), of {' '.join(sorted(taken)) or 'nothing'}; these two by hand "
          f"{pair:.1f} ms (+- {spread:.1f}), ratio {saved / pair if pair else 0:.3f}; all three {hand['all'][0]:.1f} ms, ratio "
          f"{saved / hand['all'][0] if hand['all'][0] else 0:.3f}; {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{near:d} passed, {not near:d} failed, 0 skipped")
    return 0 if near else 1


# Which mistake of train_slow.py a finding is of.
CAUSED = {"SW301": "item", "SW302": "unpinned", "SW305": "empty_cache", "SW306": "empty_cache"}
HEADER = ["program", "finding", "hot_ms", "predicted_low", "predicted_high", "measured_low", "measured", "measured_high", "by_hand",
          "spread", "ratio", "verdict"]


def main():
    until = time.monotonic() + options.seconds
    rows = []
    with open(os.path.join(options.out, "savings-confirm.tsv"), "w", encoding="utf-8") as table:
        print("\t".join(HEADER))
        print("\t".join(HEADER), file=table, flush=True)
        for name, finding, more in PAIRS:
            if not fnmatch.fnmatch(name, options.only) or not os.path.exists(os.path.join(options.build, "kernels", name)):
                continue
            if time.monotonic() > until:
                print(f"{name}: not begun, {options.seconds} s are over")
                continue
            try:
                row = row_of(name, finding, more)
            except (OSError, RuntimeError, subprocess.SubprocessError, ValueError) as error:
                row = [name, finding] + ["-"] * 9 + [f"failed: {error}"]
            rows.append(row)
            print("\t".join(row), flush=True)
            print("\t".join(row), file=table, flush=True)
    near = sum(row[-1] == "near" for row in rows)
    wrong = [row for row in rows if row[-1] == "off" or row[-1].startswith(("failed", "no finding", "results-differ"))]
    print(f"{near} of {len(rows)} within {NEAR:.0%} of what the fixed program saves, or closer than its runs are")
    print(f"{near} passed, {len(wrong)} failed, {len(rows) - near - len(wrong)} skipped")
    return 1 if wrong else 0


parser = argparse.ArgumentParser()
parser.add_argument("build", type=os.path.abspath)
parser.add_argument("out", type=os.path.abspath)
parser.add_argument("--sim", action="store_true")
parser.add_argument("--only", default="*")
parser.add_argument("--torch", action="store_true")
parser.add_argument("--repeat", type=int, default=10)
parser.add_argument("--pairs", type=int, default=7)
parser.add_argument("--seconds", type=int, default=480, help="begin no program later than that")
options = parser.parse_args()
reports = os.path.join(options.out, "savings-confirm")
os.makedirs(reports, exist_ok=True)
with tempfile.TemporaryDirectory() as work:
    sys.exit(torch() if options.torch else main())
