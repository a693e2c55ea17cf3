# SPDX-License-Identifier: Apache-2.0
"""Where the launches of a trace come from, by what `python_list --launches` printed.

usage: check.py step|compiled PROGRAM LIST      prints what was counted; fails where lines are missing or wrong
"""
import collections
import json
import os
import sys

what, program, path = sys.argv[1:4]
name = os.path.basename(program)
source = open(program, encoding="utf-8").read().splitlines()
launches = [json.loads(line) for line in open(path, encoding="utf-8")]
threads = collections.Counter((thread, bool(frames)) for thread, _, frames in launches)
main = min(thread for thread, _ in threads)
with_lines, without = threads[main, True], threads[main, False]
print("%d launches: main thread %d with Python lines, %d without; other threads %d with, %d without" % (
    len(launches), with_lines, without,
    sum(n for (thread, python), n in threads.items() if thread != main and python),
    sum(n for (thread, python), n in threads.items() if thread != main and not python)))
lost = sum(not file for _, _, frames in launches for file, _, _ in frames)
depths = sorted(len(frames) for thread, _, frames in launches if thread == main and frames)
print("Python frames of a launch: median %d, most %d; %d lost" % (depths[len(depths) // 2], depths[-1], lost))
# Half of the steps are made without lines.
good = with_lines > 0 and (without == 0 or what == "step") and lost == 0


def own(frames):
    """The innermost line of the program itself."""
    return next(((function, line) for file, function, line in frames if os.path.basename(file) == name), None)


print("%d different Python stacks" % len({json.dumps(frames) for _, _, frames in launches}))
lines = collections.Counter(own(frames) for thread, _, frames in launches if thread == main and frames)
for (function, line), n in lines.most_common(8):
    print("  %6d  %s:%d in %s: %s" % (n, name, line, function, source[line - 1].strip()))
good &= None not in lines
others = [own(frames) for thread, _, frames in launches if thread != main and frames]
if what == "step":  # backward passes run on PyTorch's thread: the line that waits for them
    back = [number for number, line in enumerate(source, 1) if "# passes back" in line]
    right = sum(line is not None and line[1] in back for line in others)
    print("%d of %d launches of other threads at the line of backward()" % (right, len(others)))
    good &= right == len(others) > 0
if what == "compiled":
    generated = [frames for _, _, frames in launches if any("torchinductor" in file for file, _, _ in frames)]
    print("%d launches from generated code" % len(generated))
    good &= len(generated) > 0 and all(own(frames) for frames in generated)
print("good" if good else "BAD")
sys.exit(not good)
