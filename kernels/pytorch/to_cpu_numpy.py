# SPDX-License-Identifier: Apache-2.0
""".to("cpu", non_blocking=True) returns before the copy is done; numpy() reads what is not there yet.

Fix: wait for the stream before the host reads.
"""
from case import fixed
import torch

N = 1 << 22
x = torch.ones(N, device="cuda")
torch.mul(x, 2, out=x)
x.to("cpu", non_blocking=True)  # the pinned block is allocated once
torch.cuda.synchronize()

x.mul_(2)
result = x.to("cpu", non_blocking=True)
if fixed:
    torch.cuda.current_stream().synchronize()
print("mean", result.numpy().mean())
