# SPDX-License-Identifier: Apache-2.0
"""Correct: a captured forward pass, replayed; its static input is refilled by a side stream once the replay has read it."""
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
static = torch.randn(64, 256, device="cuda")
warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm), torch.no_grad():
    for _ in range(3):
        model(static)
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(graph):
    out = model(static)
inputs = [torch.randn(64, 256).pin_memory() for _ in range(5)]
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
total = torch.zeros((), device="cuda")
for batch in inputs:
    side.wait_stream(main)
    with torch.cuda.stream(side):
        static.copy_(batch, non_blocking=True)
    main.wait_stream(side)
    graph.replay()
    total += out.sum()
print("total", float(total))
