# SPDX-License-Identifier: Apache-2.0
"""Correct: a captured forward pass, replayed with new inputs copied into its static input."""
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
total = 0.0
for i in range(5):
    static.copy_(torch.randn(64, 256, device="cuda"))
    graph.replay()
    total += float(out.sum())
print("total", total)
