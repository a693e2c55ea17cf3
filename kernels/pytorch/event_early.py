# SPDX-License-Identifier: Apache-2.0
"""The event that a side stream waits for is recorded before the work that it is meant for.

Fix: record it after that work.
"""
from case import fixed
import torch

N = 1 << 20
side, ready = torch.cuda.Stream(), torch.cuda.Event()
host = torch.ones(N).pin_memory()
x, y = torch.empty(N, device="cuda"), torch.empty(N, device="cuda")
torch.mul(x, 2, out=y)
torch.cuda.synchronize()

if not fixed:
    ready.record()
x.copy_(host, non_blocking=True)
if fixed:
    ready.record()
side.wait_event(ready)
with torch.cuda.stream(side):
    torch.mul(x, 2, out=y)
torch.cuda.synchronize()
print("y", float(y[0]))
