# SPDX-License-Identifier: Apache-2.0
"""CuPy's pool hands the block of a freed array to the next one of the stream that made it, while another stream reads it.

Fix: the stream waits for the reader before the array is freed.
"""
from case import fixed, need

need("cupy")
import cupy

N = 1 << 20
one, two = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
y = cupy.empty(N, dtype=cupy.float32)
with one:
    x = cupy.ones(N, dtype=cupy.float32)
    cupy.multiply(x, 2, out=y)
    x.fill(3)
    del x
cupy.cuda.Device().synchronize()

with one:
    x = cupy.ones(N, dtype=cupy.float32)
two.wait_event(one.record())
with two:
    cupy.multiply(x, 2, out=y)
if fixed:
    one.wait_event(two.record())
del x
with one:
    z = cupy.empty(N, dtype=cupy.float32)  # where x was
    z.fill(3)
cupy.cuda.Device().synchronize()
print("y", float(y[0]), "z", float(z[0]))
