# SPDX-License-Identifier: Apache-2.0
"""An input that the current stream is still making is consumed on a side stream.

Fix: the side stream waits for the current one first.
"""
from case import fixed
import torch

N = 1 << 20
side = torch.cuda.Stream()
host = torch.ones(N).pin_memory()
x, y = torch.empty(N, device="cuda"), torch.empty(N, device="cuda")
torch.mul(x, 2, out=y)  # loads the kernel
torch.cuda.synchronize()

x.copy_(host, non_blocking=True)
if fixed:
    side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    torch.mul(x, 2, out=y)
torch.cuda.synchronize()
print("y", float(y[0]))
