# SPDX-License-Identifier: Apache-2.0
"""Median and tail of a PyTorch training step (MLP, Adam): run bare and recorded in turn, compare as ratios."""
import statistics
import sys
import time

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(512, 512), torch.nn.ReLU())]).cuda()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, fused=False)
x = torch.randn(64, 512, device="cuda")
y = torch.randn(64, 512, device="cuda")


def step():
    optimiser.zero_grad(set_to_none=True)
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimiser.step()


for _ in range(30):
    step()
torch.cuda.synchronize()
times = []
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 300):
    t = time.perf_counter_ns()
    step()
    torch.cuda.synchronize()
    times.append((time.perf_counter_ns() - t) / 1e6)
times.sort()
print(f"torch_step_ms\tp50\t{statistics.median(times):.4f}\tp99\t{times[int(len(times) * 0.99)]:.4f}")
# As window_cost.py reads rows, in ns.
print(f"step {statistics.median(times) * 1e6:.0f} {times[int(len(times) * 0.99)] * 1e6:.0f} {statistics.median(times) * 1e6:.0f}")
