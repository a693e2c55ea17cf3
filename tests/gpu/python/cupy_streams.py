# SPDX-License-Identifier: Apache-2.0
"""Correct: CuPy on two streams, ordered by events; its allocator reuses memory per stream."""
import cupy
import numpy

first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
done = cupy.cuda.Event(disable_timing=True)
with first:
    a = cupy.arange(1 << 20, dtype=cupy.float32)
    a *= 2
    done.record(first)
second.wait_event(done)
with second:
    b = a + 1
    total = b.sum()
second.synchronize()
print("total", float(total) == float(numpy.arange(1 << 20, dtype=numpy.float32).astype(numpy.float64).sum() * 2 + (1 << 20)) or "rounded")
