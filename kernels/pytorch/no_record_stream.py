# SPDX-License-Identifier: Apache-2.0
"""A tensor of the current stream is read by a side stream and freed; its block goes to the next tensor at once.

Fix: record_stream() tells the allocator that the side stream uses the block too.
"""
from case import fixed
import torch

N = 1 << 20
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
y = torch.empty(N, device="cuda")
warm = torch.ones(N, device="cuda")
torch.mul(warm, 2, out=y)
torch.zeros(N, device="cuda")
del warm
torch.cuda.synchronize()

x = torch.ones(N, device="cuda")
side.wait_stream(main)
with torch.cuda.stream(side):
    torch.mul(x, 2, out=y)
if fixed:
    x.record_stream(side)
del x
z = torch.zeros(N, device="cuda")  # where x was
torch.cuda.synchronize()
print("y", float(y[0]), "z", float(z[0]))
