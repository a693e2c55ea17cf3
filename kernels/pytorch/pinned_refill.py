# SPDX-License-Identifier: Apache-2.0
"""A pinned buffer is filled with the next batch while the copy of the last one still reads it.

Fix: wait for the copy's event before the buffer is filled again.
"""
from case import fixed
import torch

N = 1 << 20
staging = torch.empty(N).pin_memory()
batches = [torch.full((N,), float(i)) for i in range(4)]
x = torch.empty(N, device="cuda")
total = torch.zeros((), device="cuda")
done = torch.cuda.Event()
torch.cuda.synchronize()

for batch in batches:
    if fixed:
        done.synchronize()
    staging.copy_(batch)  # by the host
    x.copy_(staging, non_blocking=True)
    done.record()
    total += x.sum()
print("total", float(total))
