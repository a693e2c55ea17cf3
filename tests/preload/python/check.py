# SPDX-License-Identifier: Apache-2.0
"""Compares what was recorded with where Python was: check.py WANT LIST; LIST is what python_list prints."""
import json
import sys

DEPTH = 128  # frames kept

want = {int(e): stacks for e, stacks in json.load(open(sys.argv[1], encoding="utf-8")).items()}
got = {}
for line in open(sys.argv[2], encoding="utf-8"):
    event, cut, frames = json.loads(line)
    got.setdefault(event, []).append((cut, frames))

compared, wrong = 0, 0
for event, stacks in want.items():
    have = got.get(event, [])
    if len(have) != len(stacks):
        print("event %#x: %d calls, %d recorded" % (event, len(stacks), len(have)))
        wrong += 1
    for n, (stack, (cut, frames)) in enumerate(zip(stacks, have)):
        compared += 1
        if frames != stack[:DEPTH] or bool(cut) != (len(stack) > DEPTH):
            wrong += 1
            if wrong <= 3:
                print("event %#x, call %d:\n  Python   %s\n  recorded %s, cut %s" % (event, n, stack, frames, cut))
print("%d stacks, %d wrong" % (compared, wrong))
sys.exit(wrong != 0 or compared < 300)
