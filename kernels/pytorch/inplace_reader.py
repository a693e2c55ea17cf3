# SPDX-License-Identifier: Apache-2.0
"""A tensor is changed in place while a side stream still reads it.

Fix: the current stream waits for the reader before it writes.
"""
from case import fixed
import torch

N = 1 << 20
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
weights, snapshot = torch.ones(N, device="cuda"), torch.empty(N, device="cuda")
weights.mul_(1.0)  # loads the kernel
torch.cuda.synchronize()

side.wait_stream(main)
with torch.cuda.stream(side):
    torch.add(weights, 1, out=snapshot)  # reads
if fixed:
    main.wait_stream(side)
weights.mul_(0.5)  # writes
torch.cuda.synchronize()
print("snapshot", float(snapshot[0]))
