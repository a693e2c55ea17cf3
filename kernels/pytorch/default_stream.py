# SPDX-License-Identifier: Apache-2.0
"""Folklore: "work on the default stream waits for all other streams".  PyTorch's streams are non-blocking: it does not.

Fix: wait for the stream.
"""
from case import fixed
import torch

N = 1 << 20
side = torch.cuda.Stream()
x, y = torch.zeros(N, device="cuda"), torch.empty(N, device="cuda")
torch.mul(x, 2, out=y)
x.fill_(0)
torch.cuda.synchronize()

with torch.cuda.stream(side):
    x.fill_(1)
if fixed:
    torch.cuda.default_stream().wait_stream(side)
torch.mul(x, 2, out=y)  # on the default stream
torch.cuda.synchronize()
print("y", float(y[0]))
