# SPDX-License-Identifier: Apache-2.0
"""Steps of a loop, of which the one in the middle has a race; a range, a function and the profiler enclose that step."""
import torch

side = torch.cuda.Stream()
host = torch.ones(1 << 20).pin_memory()
x, y = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")


def step(wait):
    with torch.cuda.stream(side):
        x.copy_(host, non_blocking=True)
    if wait:
        torch.cuda.current_stream().wait_stream(side)
    torch.mul(x, 2, out=y)
    side.wait_stream(torch.cuda.current_stream())


def bad_step():
    step(False)


for i in range(2000):
    if i != 1000:
        step(True)
        continue
    torch.cuda.cudart().cudaProfilerStart()
    torch.cuda.nvtx.range_push("bad-step")
    bad_step()
    torch.cuda.nvtx.range_pop()
    torch.cuda.cudart().cudaProfilerStop()
torch.cuda.synchronize()
print("y", float(y[0]))
