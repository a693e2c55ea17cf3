# SPDX-License-Identifier: Apache-2.0
"""A training step captured once in a CUDA graph and replayed, its batch copied in from pinned memory."""
import torch
from torch import nn

from common import device, iterations, loop

if device() != "cuda":
    raise SystemExit(77)
steps = iterations(1500)
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10)).cuda()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
x, y = torch.zeros(128, 256, device="cuda"), torch.zeros(128, dtype=torch.long, device="cuda")


def step():
    optimiser.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimiser.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
batches = [(torch.randn(128, 256).pin_memory(), torch.randint(0, 10, (128,)).pin_memory()) for _ in range(8)]
with loop():
    for i in range(steps):
        x.copy_(batches[i % 8][0], non_blocking=True)
        y.copy_(batches[i % 8][1], non_blocking=True)
        graph.replay()
        if i % 100 == 99:
            loss.item()
    print("finite", bool(torch.isfinite(loss)))
