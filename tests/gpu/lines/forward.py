# SPDX-License-Identifier: Apache-2.0
"""A gradient that another stream reads too early, in a program whose ranges tell which forward call it is of."""
import torch

side = torch.cuda.Stream()
x = torch.randn(1 << 22, device="cuda")
w = torch.randn(1 << 22, device="cuda", requires_grad=True)
(x * w).sum().backward()  # loads what is needed
torch.cuda.synchronize()
with torch.cuda.stream(side):
    g = w.grad + 1
w.grad = None
torch.cuda.synchronize()
with torch.autograd.profiler.emit_nvtx():  # waits for the device when it begins and when it ends
    y = x * w  # multiplies
    loss = y.sum()
    loss.backward()  # passes back
    with torch.cuda.stream(side):
        g = w.grad + 1  # too early
torch.cuda.synchronize()
print("finite", bool(torch.isfinite(g).all()))
