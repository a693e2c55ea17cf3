# SPDX-License-Identifier: Apache-2.0
"""Does the interval that the report gives for a fix hold what the fix saves?

usage: savings.py BUILD_DIR OUT_DIR

For each pair of kernels/ and each mistake of train_slow.py, without and with time stamps of the device: the broken and the
fixed program run recorded, in turn, and the first trace of the broken one is judged.  Predicted: the interval of the findings that
the mistake is about.  Achieved: the difference of the medians of the time that the program itself measures (hot_ms) under
the recorder, since that is the run that the report is about; bare runs are measured as well.
Writes OUT_DIR/savings.tsv, the same as the table of doc/waits.md (savings.md), and the reports into OUT_DIR/savings.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Of the intervals, so many must hold what was achieved, to the spread of the runs.
HELD = 0.95
ROUNDS = int(os.environ.get("ROUNDS", "5"))
BARE_ROUNDS = 3
REPEAT = os.environ.get("REPEAT", "20")

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

build, out = (os.path.abspath(path) for path in sys.argv[1:3])
here = os.path.dirname(os.path.abspath(__file__))
reports = os.path.join(out, "savings")


def hot_ms(command, env=None):
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300, cwd=work)
    for line in done.stdout.splitlines():
        if line.startswith("hot_ms "):
            return float(line.split()[1])
    raise RuntimeError(f"{' '.join(command)} says nothing of hot_ms (exit status {done.returncode})")


def recorder(trace, gpu):
    env = dict(os.environ, LD_PRELOAD=os.path.join(build, "libsyncwatch.so"))
    env["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={trace}" + (":gpu-timeline" if gpu else "")
    return env


def record(name, command, gpu):
    """The report of the broken program as JSON."""
    trace, report = os.path.join(work, name + ".swt"), os.path.join(reports, name + ".json")
    hot_ms(command, recorder(trace, gpu))
    syncwatch = os.path.join(build, "syncwatch")
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


def measure(broken, fixed, rounds, env=None):
    times = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            times[which].append(hot_ms((broken, fixed)[which], env))
    return times


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


def row_of(name, gpu, bare, traced, interval):
    medians = [statistics.median(times) for times in (*bare, *traced)]
    numbers = [medians[0], medians[1], medians[0] - medians[1], medians[2], medians[3], medians[2] - medians[3]]
    text = [name, "device" if gpu else "host"] + [f"{number:.3f}" for number in numbers]
    text += [f"{interval[0]:.3f}", f"{interval[1]:.3f}"] if interval else ["-", "-"]
    return text + [verdict(interval, *traced), " ".join(f"{min(times):.1f}..{max(times):.1f}" for times in traced)]


def case(name, broken, fixed, ids, words=()):
    rows = []
    bare = measure(broken, fixed, BARE_ROUNDS)
    for gpu in (True, False):
        label = name + ("-gpu" if gpu else "")
        try:
            report = record(label, broken, gpu)
            traced = measure(broken, fixed, ROUNDS, recorder(os.path.join(work, "again.swt"), gpu))
        except (OSError, RuntimeError, subprocess.SubprocessError, ValueError) as error:
            rows.append([name, "device" if gpu else "host"] + ["-"] * 8 + [f"failed: {error}", "-"])
            continue
        rows.append(row_of(name, gpu, bare, traced, predicted(report, ids, words)))
    return rows


HEADER = ["program", "times", "before", "after", "saved", "recorded_before", "recorded_after", "recorded_saved", "low", "high", "verdict",
          "recorded_spread"]


def write_table(rows):
    """A row a program: what the recorded runs saved, and both intervals."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row[0], {})[row[1]] = row
    with open(os.path.join(out, "savings.md"), "w", encoding="utf-8") as table:
        print("| program | recorded | saved | interval, times of the device | | saved without them | interval | |", file=table)
        print("|---|---|---|---|---|---|---|---|", file=table)
        for name, both in by_name.items():
            cells = [name, both["device"][5] if "device" in both else "-"]
            for times in ("device", "host"):
                row = both.get(times, ["-"] * len(HEADER))
                cells += [row[7], f"{row[8]} to {row[9]}", row[10]]
            print("| " + " | ".join(cells) + " |", file=table)


def main():
    os.makedirs(reports, exist_ok=True)
    rows = []
    for name, ids in PAIRS:
        program = os.path.join(build, "kernels", name)
        if os.path.exists(program):
            rows += case(name, [program, "--repeat", REPEAT], [program, "--fixed", "--repeat", REPEAT], ids)
    if subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"], stderr=subprocess.DEVNULL).returncode == 0:
        script = [sys.executable, os.path.join(here, "train_slow.py")]
        for name, ids, words in MISTAKES:
            others = [f"--fix={other}" for other, _, _ in MISTAKES if other != name]
            rows += case(f"train_slow-{name}", script + others, script + others + [f"--fix={name}"], ids, words)
        record("train_slow", script, True)
    with open(os.path.join(out, "savings.tsv"), "w", encoding="utf-8") as tsv:
        print(f"# times in ms: medians of {BARE_ROUNDS} bare and {ROUNDS} recorded runs each, in turn; held: the interval holds recorded_saved; "
              "wide: and the report says that it needs --gpu-timeline", file=tsv)
        for row in [HEADER] + rows:
            print(*row, sep="\t", file=tsv)
    write_table(rows)
    with open(os.path.join(out, "savings.tsv"), encoding="utf-8") as tsv:
        print(tsv.read())
    told = [row for row in rows if row[10] != "no number"]
    held = [row for row in told if row[10] in ("held", "wide")]
    print(f"{len(held)} of {len(told)} intervals hold what was achieved, {sum(row[10] == 'wide' for row in told)} of them need --gpu-timeline")
    failed = len(held) < HELD * len(told)
    print(f"{1 - failed} passed, {int(failed)} failed, 0 skipped")


with tempfile.TemporaryDirectory() as work:
    main()
