# SPDX-License-Identifier: Apache-2.0
"""The static input of a graph is filled by a side stream while the graph is being replayed.

Fix: the side stream waits for the replay, and the next replay for the copy.
"""
from case import fixed
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda()
static = torch.randn(64, 256, device="cuda")
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
side.wait_stream(main)
with torch.cuda.stream(side), torch.no_grad():
    for _ in range(3):
        model(static)
main.wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(graph):
    out = model(static)
batches = [torch.randn(64, 256).pin_memory() for _ in range(4)]
total = torch.zeros((), device="cuda")
torch.cuda.synchronize()

for batch in batches:
    if fixed:
        side.wait_stream(main)
    with torch.cuda.stream(side):
        static.copy_(batch, non_blocking=True)
    main.wait_stream(side)
    graph.replay()
    total += out.sum()
print("total", float(total))
