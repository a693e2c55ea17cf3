# SPDX-License-Identifier: Apache-2.0
"""Correct: activations recomputed in the backward pass; a snapshot of the weights goes to pinned memory on a side stream."""
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(256)) for _ in range(4)).cuda()
optimiser = torch.optim.AdamW(blocks.parameters(), lr=1e-3, foreach=True)
snapshot = [torch.empty_like(p, device="cpu").pin_memory() for p in blocks.parameters()]
side, saved = torch.cuda.Stream(), torch.cuda.Event()
saved.record()
x = torch.randn(64, 256, device="cuda", requires_grad=True)
for step in range(5):
    y = x
    for block in blocks:
        y = checkpoint(block, y, use_reentrant=False)
    loss = y.square().mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.cuda.current_stream().wait_event(saved)  # the snapshot has read the weights that the optimiser changes
    optimiser.step()
    if step % 2 == 0:
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.no_grad():
            for host, p in zip(snapshot, blocks.parameters()):
                host.copy_(p, non_blocking=True)
        saved.record(side)
saved.synchronize()
print("snapshot is finite", all(bool(torch.isfinite(t).all()) for t in snapshot))
