# SPDX-License-Identifier: Apache-2.0
"""What watching costs, side by side: bare, recorder, recorder with time stamps of the device, Nsight Systems, compute-sanitizer, PyTorch's
stream sanitizer and profiler, on a launch-bound loop and on a training step of PyTorch.  What is not installed is skipped by name.

usage: overhead.py BUILD_DIR BENCH_CALLS OUT_DIR
ROUNDS: how often each runs, in turn.  WAYS: names of the rows to measure, between semicolons (default: all).
"""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

build, bench, out = (os.path.abspath(path) for path in sys.argv[1:4])
here = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
TORCH = os.path.join(here, "..", "bench", "torch_step.py")
PROFILED = ("import runpy, sys, torch\nsys.argv = sys.argv[1:]\n"
            "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]):\n"
            "    runpy.run_path(sys.argv[0], run_name='__main__')\n")


def tool(name, *patterns):
    """On the path, or where CUDA and Nsight put it."""
    found = shutil.which(name)
    for pattern in patterns if not found else ():
        hits = sorted(path for path in glob.glob(pattern, recursive=True) if os.access(path, os.X_OK))
        found = hits[-1] if hits else found
    return found


def preload(folder, more, objects=("",)):
    return {"LD_PRELOAD": ":".join(os.path.join(build, f"libsyncwatch{name}.so") for name in objects),
            "SYNCWATCH_OPTIONS": f"report=0:quiet:trace={tempfile.mktemp(suffix='.swt', dir=folder)}{more}"}


def ways(folder):
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nsys = tool("nsys", f"{cuda}/bin/nsys", f"{cuda}/nsight-systems*/**/nsys", "/opt/nvidia/nsight-*/**/nsys")
    sanitizer = tool("compute-sanitizer", f"{cuda}/bin/compute-sanitizer", f"{cuda}/compute-sanitizer/compute-sanitizer")
    yield "bare", [], {}
    yield "recorder", [], lambda: preload(folder, "")
    yield "recorder, with what run preloads", [], lambda: preload(folder, "", ("", "-libraries", "-nccl", "-pools"))
    yield "recorder, no stacks", [], lambda: preload(folder, ":stacks=0")
    yield "recorder, gpu-timeline", [], lambda: preload(folder, ":gpu-timeline")
    yield "Nsight Systems", nsys and [nsys, "profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", "-f", "true", "-o",
                                      os.path.join(folder, "nsys")], {}
    yield "compute-sanitizer", sanitizer and [sanitizer, "--tool", "memcheck"], {}


def run(command, env, seconds):
    with tempfile.TemporaryDirectory() as cwd:
        done = subprocess.run(command, env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=seconds, cwd=cwd)
    return [line.split("\t") for line in done.stdout.splitlines()]


def launch_loop(prefix, env):
    for row in run(prefix + [bench, "4000"], env, 200):
        if row[0].startswith("launch") and len(row) > 3:
            return float(row[3])
    raise ValueError("no row of launches")


def torch_step(prefix, env, profiled=False):
    command = [sys.executable, "-c", PROFILED, TORCH] if profiled else [sys.executable, TORCH]
    for row in run(prefix + command + ["60"], env, 200):
        if row[0] == "torch_step_ms":
            return float(row[2])
    raise ValueError("no row of the step")


def torch_ways():
    """Those that are of PyTorch: name, environment, by the profiler."""
    yield "PyTorch stream sanitizer", {"TORCH_CUDA_SANITIZER": "1"}, False
    yield "PyTorch profiler", {}, True


def measure(times, skipped, workload, name, prefix, env, function):
    if prefix is None or prefix is False or (workload, name) in skipped:
        skipped.setdefault((workload, name), "not installed")
        return
    try:
        times.setdefault((workload, name), []).append(function(prefix, env() if callable(env) else env))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        skipped[workload, name] = f"failed: {error}"[:120]


def main():
    times, skipped, names = {}, {}, []
    wanted = os.environ.get("WAYS", "").split(";") if os.environ.get("WAYS") else None
    has_torch = subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"], stderr=subprocess.DEVNULL).returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            for name, prefix, env in ways(folder):
                # One round says enough of what takes ten times as long.
                if name == "compute-sanitizer" and number or wanted and name not in wanted:
                    continue
                names += [name] if name not in names else []
                measure(times, skipped, "launch loop", name, prefix, env, launch_loop)
                if has_torch:
                    measure(times, skipped, "PyTorch step", name, prefix, env, torch_step)
                for left in glob.glob(os.path.join(folder, "*")):
                    os.unlink(left)
            for name, env, profiled in torch_ways() if has_torch else ():
                if not wanted or name in wanted:
                    names += [name] if name not in names else []
                    measure(times, skipped, "PyTorch step", name, [], env,
                            lambda prefix, env, profiled=profiled: torch_step(prefix, env, profiled))
    with open(os.path.join(out, "overhead.tsv"), "w", encoding="utf-8") as tsv:
        print(f"# best and median of {ROUNDS} runs in turn; launch loop: mean ns a launch, PyTorch step: median ms a step", file=tsv)
        print("workload", "watched by", "best", "median", "ratio of best", sep="\t", file=tsv)
        for workload in ("launch loop", "PyTorch step"):
            for name in names:
                if (workload, name) in times:
                    mine, bare = times[workload, name], times[workload, "bare"]
                    print(workload, name, f"{min(mine):.3f}", f"{statistics.median(mine):.3f}", f"{min(mine) / min(bare):.3f}",
                          sep="\t", file=tsv)
                elif (workload, name) in skipped:
                    print(workload, name, "-", "-", skipped[workload, name], sep="\t", file=tsv)
    with open(os.path.join(out, "overhead.tsv"), encoding="utf-8") as tsv:
        print(tsv.read())
    good = ("launch loop", "recorder") in times
    print(f"{int(good)} passed, {int(not good)} failed, {len(skipped)} skipped")


main()
