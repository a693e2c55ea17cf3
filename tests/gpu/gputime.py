#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the time stamps of the devices complete and right?

usage: gputime.py BUILD_DIR OUT_DIR CUDA_DIR

Runs programs with gpu-timeline: each call that puts work on the device must get its times, no time may contradict cause and
effect by more than WRONG_NS, and kernels of known length must be as long as they and CUDA's events say.  Then with another
user of CUPTI.  Traces that are worth a look go to OUT_DIR.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

build, out, cuda = (os.path.abspath(p) for p in sys.argv[1:4])
here = os.path.dirname(os.path.abspath(__file__))
syncwatch = os.path.join(build, "syncwatch")
python = os.environ.get("PYTHON3", sys.executable)
work = tempfile.mkdtemp()
passed, failed, skipped = 0, 0, 0

WRONG_NS = 5000  # two clocks, aligned by CUPTI
SPIN_MS, SPIN_ERROR = 10.0, 0.01


def verdict(good, text):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print("ok  " if good else "FAIL", text, flush=True)


def run(name, command, option="gpu-timeline", env=None, before=()):
    """Exit status, output and trace."""
    trace = os.path.join(work, name + ".swt")
    preload = {"LD_PRELOAD": build + "/libsyncwatch.so", "SYNCWATCH_OPTIONS": f"report=0:quiet:trace={trace}:{option}"}
    full = dict(os.environ, **(env or {}))
    if before:
        command = [*before, "env", *(f"{k}={v}" for k, v in preload.items()), *command]
    else:
        full.update(preload)
    try:
        done = subprocess.run(command, env=full, cwd=work, timeout=240, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout, trace
    except subprocess.TimeoutExpired:
        return 124, "timed out", trace


def summary(trace):
    done = subprocess.run([syncwatch, "report", "--no-footprints", "--format", "json", trace], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["summary"].get("gpu", {})


def dump(trace, kinds):
    return subprocess.run([syncwatch, "dump", "--kinds=" + kinds, trace], stdout=subprocess.PIPE, text=True).stdout.splitlines()


def untimed(trace):
    """Which work has no times: the names of slices that were not measured."""
    path = os.path.join(work, "untimed.json")
    subprocess.run([syncwatch, "export", "--no-footprints", "--chrome", path, trace], stdout=subprocess.DEVNULL)
    names = re.findall(r'"name":"queued: ([^"]*)","cat":"queued".*"timing":"observed',
                       open(path, encoding="utf-8").read())
    return ", ".join(f"{names.count(n)} {n[:60]}" for n in sorted(set(names)))


def complete(name, command, option="gpu-timeline"):
    status, text, trace = run(name, command, option)
    if status or not os.path.exists(trace):
        verdict(False, f"{name}: exit status {status}: {text[-300:]}")
        return None
    gpu = summary(trace)
    for line in dump(trace, "NOTICE"):
        if "GPU time stamps" in line:
            print("     " + line[line.index("text="):])
    work_done = gpu.get("operations_timed", 0) + gpu.get("operations_untimed", 0)
    good = gpu.get("complete") and not gpu["operations_untimed"] and not gpu["unmatched"] and not gpu["lost"]
    good = good and gpu["clock_wrong_ns"] <= WRONG_NS and not gpu["clock_jumps"]
    verdict(good, f"{name}: {json.dumps(gpu)}")
    if work_done and gpu["operations_untimed"]:
        print("     not timed:", untimed(trace))
    return trace


def activities(trace, what):
    found = []
    for line in dump(trace, "ACTIVITY"):
        f = dict(re.findall(r"(\w+)=(\S+)", line))
        if f.get("what") == what:
            found.append((int(f["start"]), int(f["end"]), f))
    return sorted(found, key=lambda a: a[0])


def known_time():
    program = os.path.join(work, "spin")
    built = subprocess.run([cuda + "/bin/nvcc", "-std=c++17", "-O2", "-arch=native", here + "/spin.cu", "-o", program])
    if built.returncode:
        verdict(False, "spin.cu does not compile")
        return
    trace = complete("spin", [program, str(int(SPIN_MS))])
    if not trace:
        return
    nodes = complete("spin-nodes", [program, "1"], "gpu-timeline=nodes")
    kernels = [(e - s) / 1e6 for s, e, _ in activities(trace, "KERNEL")][1:21]
    graphs = [(e - s) / 1e6 for s, e, _ in activities(trace, "GRAPH")]
    verdict(len(kernels) == 20 and all(abs(k - SPIN_MS) < SPIN_MS * SPIN_ERROR for k in kernels),
            f"kernels of {SPIN_MS} ms: {len(kernels)}, {min(kernels or [0]):.4f} to {max(kernels or [0]):.4f} ms")
    verdict(len(graphs) == 6 and all(3.0 <= g < 3.2 for g in graphs), f"graphs of 3 x 1 ms: {[round(g, 4) for g in graphs]}")
    status, text, events = run("spin-events", [program, str(int(SPIN_MS))])
    by_event = {w: [float(m) for k, m in (l.split() for l in text.splitlines() if " " in l) if k == w] for w in ("kernel", "graph", "copy")}
    by_cupti = {"kernel": [(e - s) / 1e6 for s, e, _ in activities(events, "KERNEL")][1:21],
                "graph": [(e - s) / 1e6 for s, e, _ in activities(events, "GRAPH")][1:],
                "copy": [(e - s) / 1e6 for s, e, _ in activities(events, "COPY")]}
    for what, lengths in by_cupti.items():
        between = by_event[what]
        apart = [a - b for a, b in zip(between, lengths)]
        # The events stand around the work: what lies between them is the work and some microseconds, never less.
        verdict(len(lengths) == len(between) and apart and min(apart) > -0.002 and max(apart) < 0.1,
                f"{what}: {len(lengths)} by CUPTI, {len(between)} by events, which take {statistics.median(apart or [0]) * 1e3:.1f} us "
                f"more (median; {min(apart or [0]) * 1e3:.1f} to {max(apart or [0]) * 1e3:.1f})")
    if nodes:
        verdict(len(activities(nodes, "GRAPH")) == 0 and len(activities(nodes, "KERNEL")) == 21 + 18,
                f"node by node: {len(activities(nodes, 'KERNEL'))} kernels")
    shutil.copy(trace, os.path.join(out, "gputime-spin.swt"))


def others():
    """With somebody else at CUPTI: both programs end in order, and the trace says what is missing."""
    global skipped
    script = os.path.join(work, "profiled.py")
    open(script, "w").write("""
import torch
from torch.profiler import profile, ProfilerActivity
x = torch.randn(512, 512, device="cuda")
for i in range(20): x = x @ x / 512
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    for i in range(20): x = x @ x / 512
    torch.cuda.synchronize()
for i in range(20): x = x @ x / 512
torch.cuda.synchronize()
print("profiled", sum(e.device_type == torch.autograd.DeviceType.CUDA for e in p.events()))
""")
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0:
        status, text, trace = run("profiled", [python, script])
        verdict(status == 0, f"torch.profiler: exit status {status}, {text.strip().splitlines()[-1:]}, {json.dumps(summary(trace))}")
        print("\n".join("     " + l for l in dump(trace, "NOTICE") if "GPU time" in l))
    else:
        skipped += 1
        print("SKIP torch.profiler: no PyTorch")
    nsys = shutil.which("nsys") or shutil.which("nsys", path=cuda + "/bin")
    if nsys:
        program = os.path.join(work, "spin")
        before = [nsys, "profile", "-t", "cuda", "-o", os.path.join(work, "nsys"), "--force-overwrite=true"]
        status, text, trace = run("nsys", [program, "1"], before=before)
        verdict(status == 0 and text.count("kernel ") == 20, f"nsys: exit status {status}: {text.strip().splitlines()[-2:]}")
        if os.path.exists(trace):
            print("     ", json.dumps(summary(trace)))
            print("\n".join("     " + l[l.index("text="):] for l in dump(trace, "NOTICE") if "GPU time" in l))
    else:
        skipped += 1
        print("SKIP nsys: not installed")


def main():
    programs = [l.split()[0] for l in open(build + "/kernels/programs") if l.strip()]
    for p in programs[::3]:
        variant = subprocess.run([f"{build}/kernels/{p}", "--list"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
        # The fixed twin runs to its end; a first variant may be one that CUDA refuses.
        complete(p.replace("/", "-"), [f"{build}/kernels/{p}", *(variant[0].split() if variant and variant[0] != "-" else []), "--fixed"])
    known_time()
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0:
        trace = complete("torch", [python, os.path.join(here, "..", "bench", "torch_step.py"), "20"])
        if trace:
            shutil.copy(trace, os.path.join(out, "gputime-torch.swt"))
        for name in ("graph", "prefetch"):
            trace = complete("torch-" + name, [python, os.path.join(here, "python", name + ".py")])
            if trace and name == "prefetch":
                shutil.copy(trace, os.path.join(out, "gputime-prefetch.swt"))
    others()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    shutil.rmtree(work)
    return failed != 0


sys.exit(main())
