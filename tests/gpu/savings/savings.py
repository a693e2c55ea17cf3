# SPDX-License-Identifier: Apache-2.0
"""Does the interval that the report gives for a fix hold what the fix saves?

usage: savings.py BUILD_DIR OUT_DIR [--seconds N] [--repeat N] [--rounds N] [--bare N] [--only GLOB] [--sim]

For each pair of kernels/ and each mistake of train_slow.py, without and with time stamps of the device: the broken and the
fixed program run recorded, in turn, and the first trace of the broken one is judged.  Predicted: the interval of the findings that
the mistake is about.  Achieved: the difference of the medians of the time that the program itself measures (hot_ms) under
the recorder, since that is the run that the report is about; bare runs are measured as well.
Each round runs every program once, so that --seconds, which begins no round and no program of the first round after N seconds,
leaves each row with fewer runs rather than rows out; it leaves train_slow.py out, which takes minutes.
--sim: on the simulation, which has no time stamps of the device; tells only whether the script works.
Writes OUT_DIR/savings.tsv, the same as the table of doc/waits.md (savings.md, printed as well), and the reports into
OUT_DIR/savings.
"""
import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Of the intervals, so many must hold what was achieved, to the spread of the runs.
HELD = 0.95

# Program, findings that its mistake causes.
PAIRS = [
    ("sync_copy", ["SW301"]),
    ("pageable_async", ["SW302"]),
    ("sync_memset", ["SW303"]),
    ("legacy_between", ["SW304"]),
    ("alloc_in_loop", ["SW305", "SW306"]),
    ("pin_in_loop", ["SW307"]),
    ("lazy_load", ["SW308"]),
    ("set_limit", ["SW309"]),
    ("wide_sync", ["SW401"]),
    ("pipeline_wait", ["SW401"]),
    ("redundant_sync", ["SW402"]),
]
# Mistake of train_slow.py, findings, what the functions in the call stacks of these are called (none: all).
MISTAKES = [
    ("item", ["SW301", "SW302", "SW401", "SW402"], ["item", "_local_scalar_dense"]),
    ("unpinned", ["SW301", "SW302"], ["copy_", "_to_copy"]),
    ("empty_cache", ["SW305", "SW306"], []),
]

here = os.path.dirname(os.path.abspath(__file__))


def hot_ms(command, env=None):
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300, cwd=work)
    for line in done.stdout.splitlines():
        if line.startswith("hot_ms "):
            return float(line.split()[1])
    raise RuntimeError(f"{' '.join(command)} says nothing of hot_ms (exit status {done.returncode})")


def bare():
    sim = os.path.join(options.build, "sim")
    return dict(os.environ, LD_LIBRARY_PATH=sim) if options.sim else dict(os.environ)


def recorder(trace, gpu):
    env = dict(bare(), LD_PRELOAD=os.path.join(options.build, "libsyncwatch.so"))
    env["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={trace}" + (":gpu-timeline" if gpu else "")
    return env


def judge(name, trace):
    """The report of a trace as JSON."""
    report = os.path.join(reports, name + ".json")
    syncwatch = os.path.join(options.build, "syncwatch")
    with open(os.path.join(reports, name + ".txt"), "w", encoding="utf-8") as text:
        subprocess.run([syncwatch, "report", "--all", "--json", report, trace], stdout=text, stderr=text, check=True, timeout=300)
    if os.path.getsize(trace) < 8 << 20:
        os.replace(trace, os.path.join(reports, name + ".swt"))
    else:
        os.unlink(trace)
    with open(report, encoding="utf-8") as file:
        return json.load(file)


def concerns(finding, words):
    stack = [frame["function"] or "" for access in finding["accesses"][:1] for frame in access["stack"]]
    return not words or any(word in function for function in stack for word in words)


def predicted(report, ids, words):
    """The interval of all findings of these ids, and whether it needs --gpu-timeline: replayed together where they are all that the
    mistake causes."""
    if not words:
        parts = [one for one in (report["summary"].get("replay") or {}).get("recoverable", []) if one["id"] in ids]
        ends = [(one["low_ms"], one["high_ms"], one["needs_gpu_timeline"]) for one in parts]
    else:
        parts = [f for f in report["findings"] if f["id"] in ids and f["cost"] and concerns(f, words)]
        costs = [f["cost"]["recoverable_ms"] for f in parts if f["cost"].get("recoverable_ms")]
        ends = [(one["low"], one["high"], one["needs_gpu_timeline"]) for one in costs]
    if not ends:
        return None
    return sum(one[0] for one in ends), sum(one[1] for one in ends), any(one[2] for one in ends)


def half_spread(times):
    return (max(times) - min(times)) / 2


def verdict(interval, before, after):
    if not interval:
        return "no number"
    low, high, wide = interval
    achieved = statistics.median(before) - statistics.median(after)
    spread = half_spread(before) + half_spread(after)
    held = low - spread <= achieved <= high + spread
    return "off" if not held else "wide" if wide else "held"


class Comparison:
    """A pair, bare, or recorded with or without times of the device."""

    def __init__(self, name, ids, words, broken, fixed, gpu):
        self.name, self.ids, self.words, self.commands, self.gpu = name, ids, words, (broken, fixed), gpu
        self.times, self.trace, self.failed = ([], []), None, None

    def run(self, number):
        """Both programs once, in turn."""
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            env = bare()
            if self.gpu is not None:
                label = self.name + ("-gpu" if self.gpu else "")
                first = not which and not self.trace
                trace = os.path.join(work, (label if first else "again") + ".swt")
                env = recorder(trace, self.gpu)
                self.trace = trace if first else self.trace
            try:
                self.times[which].append(hot_ms(self.commands[which], env))
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                self.failed = f"failed: {error}"

    def row(self, bare_runs):
        label = self.name + ("-gpu" if self.gpu else "")
        row = [self.name, "device" if self.gpu else "host"]
        if self.failed or not self.times[0] or not self.times[1]:
            return row + ["-"] * 8 + [self.failed or "not begun", "-"]
        interval = predicted(judge(label, self.trace), self.ids, self.words)
        for times in (bare_runs.times if bare_runs else ([], []), self.times):
            medians = [statistics.median(runs) for runs in times if runs]
            row += [f"{number:.3f}" for number in (*medians, medians[0] - medians[1])] if len(medians) == 2 else ["-"] * 3
        row += [f"{interval[0]:.3f}", f"{interval[1]:.3f}"] if interval else ["-", "-"]
        return row + [verdict(interval, *self.times), " ".join(f"{min(runs):.1f}..{max(runs):.1f}" for runs in self.times)]


HEADER = ["program", "times", "before", "after", "saved", "recorded_before", "recorded_after", "recorded_saved", "low", "high", "verdict",
          "recorded_spread"]


def write_table(rows):
    """A row a program: what the recorded runs saved, and both intervals."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row[0], {})[row[1]] = row
    with open(os.path.join(options.out, "savings.md"), "w", encoding="utf-8") as table:
        print("| program | recorded | saved | interval, times of the device | | saved without them | interval | |", file=table)
        print("|---|---|---|---|---|---|---|---|", file=table)
        for name, both in by_name.items():
            cells = [name, both["device"][5] if "device" in both else "-"]
            for times in ("device", "host"):
                row = both.get(times, ["-"] * len(HEADER))
                cells += [row[7], f"{row[8]} to {row[9]}", row[10]]
            print("| " + " | ".join(cells) + " |", file=table)


def pairs():
    """Name, findings, words of call stacks, broken program, fixed program."""
    for name, ids in PAIRS:
        program = os.path.join(options.build, "kernels", name)
        if os.path.exists(program):
            yield name, ids, [], [program, "--repeat", options.repeat], [program, "--fixed", "--repeat", options.repeat]
    if options.seconds or options.sim or not torch_works():
        return
    script = [sys.executable, os.path.join(here, "train_slow.py")]
    for name, ids, words in MISTAKES:
        others = [f"--fix={other}" for other, _, _ in MISTAKES if other != name]
        yield f"train_slow-{name}", ids, words, script + others, script + others + [f"--fix={name}"]


def torch_works():
    return subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"], stderr=subprocess.DEVNULL).returncode == 0


def run_rounds(recorded, unrecorded):
    end = time.monotonic() + (options.seconds or 1 << 30)
    for number in range(max(options.rounds, options.bare)):
        for one in (recorded if number < options.rounds else []) + (unrecorded if number < options.bare else []):
            if time.monotonic() < end:
                one.run(number)


def write_rows(rows):
    with open(os.path.join(options.out, "savings.tsv"), "w", encoding="utf-8") as tsv:
        print("# times in ms: medians of recorded and of bare runs, in turn; held: the interval holds recorded_saved; wide: and the report "
              "says that it needs --gpu-timeline", file=tsv)
        for row in [HEADER] + rows:
            print(*row, sep="\t", file=tsv)
    for name in ("savings.tsv", "savings.md"):
        with open(os.path.join(options.out, name), encoding="utf-8") as file:
            print(file.read())


def main():
    os.makedirs(reports, exist_ok=True)
    wanted = [pair for pair in pairs() if fnmatch.fnmatch(pair[0], options.only)]
    recorded = [Comparison(*pair, gpu) for pair in wanted for gpu in ([False] if options.sim else [True, False])]
    unrecorded = [Comparison(*pair, None) for pair in wanted]
    run_rounds(recorded, unrecorded)
    by_name = {one.name: one for one in unrecorded}
    rows = [one.row(by_name[one.name]) for one in recorded]
    write_table(rows)
    write_rows(rows)
    told = [row for row in rows if row[10] in ("held", "wide", "off")]
    held = [row for row in told if row[10] != "off"]
    print(f"{len(held)} of {len(told)} intervals hold what was achieved, {sum(row[10] == 'wide' for row in told)} of them need --gpu-timeline; "
          f"{len(rows) - len(told)} rows without an interval")
    failed = not told or len(held) < HELD * len(told)
    print(f"{1 - failed} passed, {int(failed)} failed, 0 skipped")


parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
parser.add_argument("build", type=os.path.abspath)
parser.add_argument("out", type=os.path.abspath)
parser.add_argument("--seconds", type=int, default=0)
parser.add_argument("--repeat", default="20")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--bare", type=int, default=3)
parser.add_argument("--only", default="*")
parser.add_argument("--sim", action="store_true")
options = parser.parse_args()
reports = os.path.join(options.out, "savings")
with tempfile.TemporaryDirectory() as work:
    main()
