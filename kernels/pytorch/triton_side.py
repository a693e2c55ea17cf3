# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel runs on a side stream, with an input that the current stream is still making.

Fix: the side stream waits for the current one.
"""
from case import fixed, need

need("triton")
import torch
import triton
import triton.language as tl

N = 1 << 20


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


side = torch.cuda.Stream()
x, y = torch.zeros(N, device="cuda"), torch.empty(N, device="cuda")
double[(N // 1024,)](x, y, N, BLOCK=1024)
x.fill_(0)
torch.cuda.synchronize()

x.fill_(1)
if fixed:
    side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    double[(N // 1024,)](x, y, N, BLOCK=1024)
torch.cuda.synchronize()
print("y", float(y[0]))
