# SPDX-License-Identifier: Apache-2.0
"""What recording costs, by measures that a noisy machine does not hide.

usage: recording_cost.py BUILD_DIR [PART...]
  calls         nanoseconds a call by pairs in one process (paired_calls), RUNS times (default 4), and without a recorder
  bytes         bytes of the trace a repeated launch: two runs of different length, their difference
  step          a training step of PyTorch by pairs in one process (paired_step.py)
  start         start-up with PyTorch: bare and recorded in turn, for SECONDS_START seconds (default 60); wall and processor time
  instructions  instructions a call in libsyncwatch.so (valgrind); not one of the default parts
"""
import collections
import os
import statistics
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
paired = os.path.join(build, "tests", "bench", "paired_calls")
ROWS = ("launch, same arguments", "launch, new arguments", "the same, 36 frames", "new, 36 frames", "eventRecord",
        "eventRecord, 36 frames", "memsetAsync", "memsetAsync, 36 frames", "in turn, 36 frames")
START = "import torch; torch.zeros(1).cuda()"


def recorded(folder):
    trace = os.path.join(folder, "trace.swt")
    if os.path.exists(trace):
        os.unlink(trace)
    return dict(os.environ, LD_PRELOAD=os.path.join(build, "libsyncwatch.so"), SYNCWATCH_OPTIONS=f"report=0:quiet:trace={trace}"), trace


def output(command, env):
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    if done.returncode:
        print(f"failed: {' '.join(command)}: {done.stderr[-300:]}")
    return done.stdout


def part_calls(folder):
    for _ in range(int(os.environ.get("RUNS", "4"))):
        print(output([paired, "300", "200"], recorded(folder)[0]), end="", flush=True)
    print(output([paired, "100", "200"], os.environ), end="", flush=True)


def part_bytes(folder):
    print("# call\tbytes of the trace a call")
    for row in range(4):
        sizes = []
        for calls in (500, 8500):
            env, trace = recorded(folder)
            output([paired, "4", str(calls), str(row)], env)
            sizes.append(os.path.getsize(trace) if os.path.exists(trace) else 0)
        print(f"{ROWS[row]}\t{(sizes[1] - sizes[0]) / (8 * 8000):.1f}", flush=True)


def part_step(folder):
    print(output([sys.executable, os.path.join(here, "paired_step.py"), os.environ.get("PAIRS", "400")], recorded(folder)[0]),
          end="", flush=True)


def start_once(env):
    """(wall, processor) milliseconds of a run."""
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", START], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return (time.perf_counter() - begin) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, status


def part_start(folder):
    until = time.monotonic() + float(os.environ.get("SECONDS_START", "60"))
    start_once(dict(os.environ))
    pairs, trace_bytes = [], 0
    while time.monotonic() < until or len(pairs) < 3:
        pair = [None, None]
        for k in range(2):
            side = (len(pairs) + k) & 1
            env, trace = recorded(folder) if side else (dict(os.environ), "")
            pair[side] = start_once(env)
            trace_bytes = os.path.getsize(trace) if side and os.path.exists(trace) else trace_bytes
        if pair[0][2] or pair[1][2]:
            print(f"start: exit status {pair[0][2]} bare, {pair[1][2]} recorded")
            return
        pairs.append(pair)
    print(f"# start-up, {len(pairs)} pairs, ms; trace of {trace_bytes / 1e6:.1f} MB\n# time\tbare: median\trecorded: median\tdifference of "
          "pairs: median\tof minima")
    for at, name in enumerate(("wall", "processor")):
        bare, more = [p[0][at] for p in pairs], [p[1][at] for p in pairs]
        print(f"{name}\t{statistics.median(bare):.0f}\t{statistics.median(more):.0f}\t"
              f"{statistics.median(m - b for b, m in zip(bare, more)):+.0f}\t{min(more) - min(bare):+.0f}", flush=True)


def count(folder, row, calls):
    """Instructions in libsyncwatch.so, by function."""
    env, _ = recorded(folder)
    out = os.path.join(folder, "callgrind")
    output(["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no", f"--callgrind-out-file={out}", paired, "4",
            str(calls), str(row)], env)
    counts, ours, name, other = collections.Counter(), False, "", False
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("ob="):
                ours = "libsyncwatch.so" in line
            elif line.startswith("fn="):
                name = line[3:].strip()
            elif line.startswith("calls="):
                other = True
            elif line[:1] in "0123456789+-*":
                if ours and not other:
                    counts[name] += int(line.split()[1])
                other = False
    return counts


def part_instructions(folder):
    print("# call\tinstructions a call\tby function")
    for row in (0, 1, 2, 3, 8, 4, 5, 6):
        few, many = count(folder, row, 200), count(folder, row, 1200)
        # Checksums of chunks are the helper thread's.
        each = {name: (many[name] - few[name]) / 8000 for name in many
                if many[name] - few[name] > 8000 and name not in ("by_instruction", "sw_crc32c")}
        print(f"{ROWS[row]}\t{sum(each.values()):.0f}\t" + " ".join(f"{name} {n:.0f}" for name, n in sorted(each.items(), key=lambda x: -x[1])),
              flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in sys.argv[2:] or ["calls", "bytes", "step", "start"]:
            print(f"== {part}", flush=True)
            globals()[f"part_{part}"](folder)


main()
