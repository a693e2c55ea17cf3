# SPDX-License-Identifier: Apache-2.0
"""Two graphs share a memory pool, so their temporary tensors share memory, and are replayed side by side.

Fix: replay them one after the other.
"""
from case import fixed
import torch

x = torch.ones(1 << 20, device="cuda")
one, two = torch.cuda.Stream(), torch.cuda.Stream()


def step(times):
    y = x * times
    z = y + 1
    return z.sum()


step(1.0)
torch.cuda.synchronize()
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(first):
    a = step(2.0)
with torch.cuda.graph(second, pool=first.pool()):
    b = step(3.0)
torch.cuda.synchronize()

with torch.cuda.stream(one):
    first.replay()
if fixed:
    two.wait_stream(one)
with torch.cuda.stream(two):
    second.replay()
torch.cuda.synchronize()
print("a", float(a), "b", float(b))
