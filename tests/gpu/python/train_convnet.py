# SPDX-License-Identifier: Apache-2.0
"""Correct: training of a small convnet on prefetched batches; the loss of every step goes to the host on a side stream."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from batches import Prefetcher

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.GroupNorm(8, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
).cuda()
optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
data = [(torch.randn(32, 3, 32, 32).pin_memory(), torch.randint(0, 10, (32,)).pin_memory()) for _ in range(6)]
losses = torch.zeros(len(data)).pin_memory()
log = torch.cuda.Stream()
for step, (x, y) in enumerate(Prefetcher(data)):
    loss = F.cross_entropy(model(x), y)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    told = loss.detach()
    log.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(log):
        losses[step:step + 1].copy_(told.view(1), non_blocking=True)
        told.record_stream(log)
log.synchronize()
print("losses are finite", bool(torch.isfinite(losses).all()))
