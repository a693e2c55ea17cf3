# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds a recorded call, by how many Python frames it comes from: the same line again and again, and 16 lines in turn.

usage: cost.py LOOP_LIBRARY DEPTH...      prints: depth, ns in a loop, ns of 16 lines in turn; then of functions
with so many lines: "lines", lines, ns of the first time, ns of later ones
"""
import ctypes
import sys
import time

CALLS, ROUNDS = 1000, 40
loop = ctypes.PyDLL(sys.argv[1]).loop
loop.restype = ctypes.c_double
cudart = ctypes.PyDLL("libcudart.so.13")
event = ctypes.c_void_p()
assert cudart.cudaEventCreateWithFlags(ctypes.byref(event), 2) == 0
call = cudart.cudaEventRecord
call.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
record = lambda: call(event, None)


def lines():
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)
    call(event, None)


def in_turn():
    best = 1e30
    for _ in range(ROUNDS * 5):
        begun = time.perf_counter_ns()
        for _ in range(10):
            lines()
        best = min(best, (time.perf_counter_ns() - begun) / 160)
    return best


def many_lines(n):
    """A function of n lines, as torch.compile makes them: a launch each."""
    space = {"call": call, "event": event}
    exec("def generated():\n" + "    call(event, None)\n" * n, space)
    times = []
    for _ in range(10):
        begun = time.perf_counter_ns()
        space["generated"]()
        times.append((time.perf_counter_ns() - begun) / n)
    return times[0], min(times)


def at(depth, measure):
    if depth:
        return at(depth - 1, measure)
    return measure()


def frames():
    n, frame = 0, sys._getframe(1)
    while frame:
        n, frame = n + 1, frame.f_back
    return n


base = at(0, frames)
sys.setrecursionlimit(5000)
for depth in map(int, sys.argv[2:]):
    in_loop = at(depth - base, lambda: loop(call, event, None, CALLS, ROUNDS))
    print(depth, "%.1f" % in_loop, "%.1f" % at(depth - base, in_turn), flush=True)
    cudart.cudaDeviceSynchronize()
for n in (400, 1500, 12000):
    print("lines", n, *("%.1f" % ns for ns in at(20, lambda: many_lines(n))), flush=True)
    cudart.cudaDeviceSynchronize()
