# SPDX-License-Identifier: Apache-2.0
"""Correct: a graph network of PyG: gathers and scatters by edges."""
import torch
from torch_geometric.nn import GCNConv

torch.manual_seed(0)
x = torch.randn(500, 32, device="cuda")
edges = torch.randint(0, 500, (2, 4000), device="cuda")
labels = torch.randint(0, 5, (500,), device="cuda")
first, second = GCNConv(32, 64).cuda(), GCNConv(64, 5).cuda()
optimiser = torch.optim.Adam([*first.parameters(), *second.parameters()])
for _ in range(10):
    loss = torch.nn.functional.cross_entropy(second(first(x, edges).relu(), edges), labels)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
print("loss is finite", bool(torch.isfinite(loss)))
