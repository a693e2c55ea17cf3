# SPDX-License-Identifier: Apache-2.0
"""The result of a side stream is used on the current stream, which did not wait for it.

Fix: the current stream waits for the side stream.
"""
from case import fixed
import torch

N = 1 << 20
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
x, y, z = (torch.ones(N, device="cuda") for _ in range(3))
torch.mul(x, 2, out=y)
torch.add(y, 1, out=z)
torch.cuda.synchronize()

side.wait_stream(main)
with torch.cuda.stream(side):
    torch.mul(x, 2, out=y)
if fixed:
    main.wait_stream(side)
torch.add(y, 1, out=z)
torch.cuda.synchronize()
print("z", float(z[0]))
