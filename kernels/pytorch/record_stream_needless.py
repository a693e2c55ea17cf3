# SPDX-License-Identifier: Apache-2.0
"""record_stream() of a tensor whose stream waits for the other one before it is freed: the block comes back later, for
nothing.

Fix: leave it out.
"""
from case import fixed
import torch

N = 1 << 20
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
y = torch.empty(N, device="cuda")
torch.mul(torch.ones(N, device="cuda"), 2, out=y)
torch.cuda.synchronize()

for _ in range(4):
    x = torch.ones(N, device="cuda")
    side.wait_stream(main)
    with torch.cuda.stream(side):
        torch.mul(x, 2, out=y)
    main.wait_stream(side)
    if not fixed:
        x.record_stream(side)
    del x
torch.cuda.synchronize()
print("y", float(y[0]))
