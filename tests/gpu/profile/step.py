# SPDX-License-Identifier: Apache-2.0
"""Some training steps under torch.profiler, which writes PROFILE: step.py PROFILE [--fixed]

Each step copies a batch on a side stream, which the default stream reads too early (--fixed: after wait_stream), trains,
with the backward pass on autograd's thread, and reads the loss, for which the host waits.
"""
import sys

import torch
from torch.profiler import ProfilerActivity, profile

fixed = "--fixed" in sys.argv
device = torch.device("cuda")
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(device)
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
host = torch.randn(256, 1024).pin_memory()
batch = torch.empty(256, 1024, device=device)
label = torch.zeros(256, dtype=torch.long, device=device)
side = torch.cuda.Stream()


def step():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        batch.copy_(host, non_blocking=True)  # side stream writes batch
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    loss = torch.nn.functional.cross_entropy(model(batch), label)  # default stream reads batch
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()


for _ in range(3):
    step()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    for _ in range(5):
        step()
torch.cuda.synchronize()
profiler.export_chrome_trace(sys.argv[1])
step()
torch.cuda.synchronize()
