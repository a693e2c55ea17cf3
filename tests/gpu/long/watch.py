# SPDX-License-Identifier: Apache-2.0
"""Runs a command under `syncwatch run`, and samples once a second what it and the program take.

usage: watch.py OUT.tsv TRACE COMMAND...
  OUT.tsv gets seconds, resident MB of `run` and what judges for it, of the program, MB of the trace's blocks on disk
Prints the command's output with the time since the epoch before each line, and at the end "exit STATUS SECONDS_SINCE_EPOCH".
"""
import glob
import os
import subprocess
import sys
import threading
import time

out, trace, command = sys.argv[1], sys.argv[2], sys.argv[3:]
child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def resident(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def descendants(pid):
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(task, encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            continue
        for one in children:
            found += [int(one)] + descendants(int(one))
    return found


def is_ours(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "syncwatch"
    except OSError:
        return False


def sample():
    begin = time.monotonic()
    with open(out, "w", encoding="ascii") as file:
        file.write("# seconds\trun and judge, MB\tprogram, MB\ttrace on disk, MB\n")
        while child.poll() is None:
            ours = theirs = 0
            for pid in [child.pid] + descendants(child.pid):
                if is_ours(pid):
                    ours += resident(pid)
                else:
                    theirs += resident(pid)
            disk = sum(os.stat(path).st_blocks * 512 for path in glob.glob(trace + "*") if os.path.exists(path))
            file.write(f"{time.monotonic() - begin:.0f}\t{ours / 1e6:.1f}\t{theirs / 1e6:.1f}\t{disk / 1e6:.1f}\n")
            file.flush()
            time.sleep(1)


thread = threading.Thread(target=sample)
thread.start()
for line in child.stdout:
    print(f"{time.time():.3f} {line}", end="", flush=True)
child.wait()
print(f"{time.time():.3f} exit {child.returncode}")
thread.join()
