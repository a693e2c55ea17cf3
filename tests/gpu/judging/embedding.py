# SPDX-License-Identifier: Apache-2.0
"""A recommender: bags of embeddings, gathers, scatters with atomics, sparse gradients, negative samples, sorting for the metric."""
import torch
from torch import nn

from common import device, iterations, loop

where = device()
steps = iterations(250)
users, items = nn.Embedding(20000, 64, sparse=True).to(where), nn.EmbeddingBag(50000, 64, mode="mean", sparse=True).to(where)
tower = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64)).to(where)
dense = torch.optim.Adam(tower.parameters(), lr=1e-3)
sparse = torch.optim.SparseAdam([*users.parameters(), *items.parameters()], lr=1e-3)
popular = torch.zeros(50000, device=where)
means = torch.zeros(1000, 64, device=where)
hits = torch.zeros((), device=where)
with loop():
    for i in range(steps):
        count = 256 + 8 * (i % 13)
        who = torch.randint(0, 20000, (count,), device=where)
        what = torch.randint(0, 50000, (count, 20), device=where)
        u, bag = users(who), items(what)
        query = tower(torch.cat([u, bag], 1))
        candidates = items(torch.randint(0, 50000, (count, 1), device=where))
        scores = query @ candidates.T
        loss = nn.functional.cross_entropy(scores, torch.arange(count, device=where))
        dense.zero_grad(set_to_none=True)
        sparse.zero_grad(set_to_none=True)
        loss.backward()
        dense.step()
        sparse.step()
        with torch.no_grad():
            popular.scatter_add_(0, what.flatten(), torch.ones(count * 20, device=where))
            means.index_add_(0, who % 1000, query)
            popular.index_put_((what[:, 0],), torch.full((count,), 0.5, device=where), accumulate=True)
            hits += (scores.topk(10, 1).indices == torch.arange(count, device=where)[:, None]).any(1).float().mean()
            if i % 50 == 49:
                print("most popular", float(popular.sort(descending=True).values[0]) > 0, torch.unique(who).numel() > 0)
    print("finite", bool(torch.isfinite(loss)), float(hits) >= 0)
