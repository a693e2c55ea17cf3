# SPDX-License-Identifier: Apache-2.0
"""Does the saving that the report predicts come true when the fix is made?

usage: savings.py BUILD_DIR OUT_DIR

For each pair of kernels/ and each mistake of train_slow.py: the broken program is recorded, without and with time stamps of
the device; then the broken and the mended program run bare, in turn, several times.  Predicted: the interval of the
findings that the mistake is about.  Achieved: the difference of the medians of the time that the program itself measures (hot_ms).
Writes OUT_DIR/savings.tsv, and the reports into OUT_DIR/savings.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Within a tenth of what was achieved, or a fiftieth of the run.
OF_ACHIEVED, OF_RUN = 0.10, 0.02
ROUNDS = int(os.environ.get("ROUNDS", "7"))
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


def record(name, command, gpu):
    """The report of the broken program as JSON, and what it took under the recorder."""
    trace, report = os.path.join(work, name + ".swt"), os.path.join(reports, name + ".json")
    env = dict(os.environ, LD_PRELOAD=os.path.join(build, "libsyncwatch.so"))
    env["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={trace}" + (":gpu-timeline" if gpu else "")
    took = hot_ms(command, env)
    syncwatch = os.path.join(build, "syncwatch")
    with open(os.path.join(reports, name + ".txt"), "w", encoding="utf-8") as text:
        subprocess.run([syncwatch, "report", "--all", "--json", report, trace], stdout=text, stderr=text, check=True, timeout=300)
    if os.path.getsize(trace) < 8 << 20:
        os.replace(trace, os.path.join(reports, name + ".swt"))
    else:
        os.unlink(trace)
    with open(report, encoding="utf-8") as file:
        return json.load(file), took


def concerns(finding, words):
    stack = [frame["function"] or "" for access in finding["accesses"][:1] for frame in access["stack"]]
    return not words or any(word in function for function in stack for word in words)


def predicted(report, ids, words):
    """The interval of all findings of these ids: replayed together where they are all that the mistake causes."""
    low = high = 0.0
    if not words:
        together = [one for one in (report["summary"].get("replay") or {}).get("recoverable", []) if one["id"] in ids]
        return (sum(one["low_ms"] for one in together), sum(one["high_ms"] for one in together)) if together else None
    known = False
    for finding in report["findings"]:
        cost = finding["cost"]
        if finding["id"] not in ids or not cost or not cost.get("recoverable_ms"):
            continue
        if not concerns(finding, words):
            continue
        known = True
        low += cost["recoverable_ms"]["low"]
        high += cost["recoverable_ms"]["high"]
    return (low, high) if known else None


def measure(broken, mended):
    before, after = [], []
    for number in range(ROUNDS):
        for command, times in ((broken, before), (mended, after))[:: 1 if number % 2 else -1]:
            times.append(hot_ms(command))
    return statistics.median(before), statistics.median(after), before, after


def verdict(interval, before, after):
    """Error of the interval's nearest end, of what was achieved and of the run; 0 where the interval holds it."""
    if not interval:
        return None, None, "no number"
    achieved, (low, high) = before - after, interval
    off = low - achieved if achieved < low else achieved - high if achieved > high else 0.0
    middle = abs((low + high) / 2 - achieved)
    good = middle <= OF_ACHIEVED * abs(achieved) or middle <= OF_RUN * before
    return off, middle, "good" if good else "inside" if off == 0 else "off"


def case(name, broken, mended, ids, words=()):
    rows = []
    before, after, befores, afters = measure(broken, mended)
    for gpu in (True, False):
        label = name + ("-gpu" if gpu else "")
        try:
            report, recorded = record(label, broken, gpu)
        except (OSError, RuntimeError, subprocess.SubprocessError, ValueError) as error:
            rows.append((name, gpu, f"failed: {error}"))
            continue
        interval = predicted(report, ids, words)
        off, middle, word = verdict(interval, before, after)
        achieved = before - after
        text = [name, "device" if gpu else "host", f"{before:.3f}", f"{after:.3f}", f"{recorded:.3f}"]
        text += [f"{interval[0]:.3f}", f"{interval[1]:.3f}"] if interval else ["-", "-"]
        text.append(f"{achieved:.3f}")
        if interval:
            text += [f"{100 * middle / abs(achieved):.1f}" if achieved else "-", f"{100 * middle / before:.1f}", f"{off:.3f}"]
        else:
            text += ["-", "-", "-"]
        spread = f"{min(befores):.1f}..{max(befores):.1f} {min(afters):.1f}..{max(afters):.1f}"
        rows.append((name, gpu, "\t".join(text + [word, spread])))
    return rows


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
        print("# times in ms; predicted by the recorded broken program, with times of the device or of the host alone; achieved: median "
              f"of {ROUNDS} bare runs each, in turn", file=tsv)
        print("program", "times", "before", "after", "recorded", "low", "high", "achieved", "error_of_achieved_%", "error_of_run_%",
              "outside_ms", "verdict", "spread", sep="\t", file=tsv)
        for _, _, text in rows:
            print(text, file=tsv)
    with open(os.path.join(out, "savings.tsv"), encoding="utf-8") as tsv:
        print(tsv.read())
    timed = [text for _, gpu, text in rows if gpu]
    good = sum("\tgood\t" in text for text in timed)
    print(f"{good} of {len(timed)} within {100 * OF_ACHIEVED:.0f} % of the saving or {100 * OF_RUN:.0f} % of the run (times of the device)")
    failed = good < 6
    print(f"{1 - failed} passed, {int(failed)} failed, 0 skipped")


with tempfile.TemporaryDirectory() as work:
    main()
