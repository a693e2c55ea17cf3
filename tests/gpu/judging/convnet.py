# SPDX-License-Identifier: Apache-2.0
"""A convolutional network of the size for CIFAR in single precision: many short kernels, batches made on the GPU, evaluations."""
import torch
from torch import nn

from common import device, iterations, loop

where = device()
steps = iterations(250)


def part(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


model = nn.Sequential(part(3, 32), part(32, 32), nn.MaxPool2d(2), part(32, 64), part(64, 64), nn.MaxPool2d(2), part(64, 128),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10)).to(where)
optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
losses = []
with loop():
    for i in range(steps):
        x = torch.randn(64, 3, 32, 32, device=where)
        x = torch.where(torch.rand(64, 1, 1, 1, device=where) > 0.5, x.flip(3), x)
        y = torch.randint(0, 10, (64,), device=where)
        loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
        if i % 50 == 49:
            model.eval()
            with torch.no_grad():
                print("right", (model(x).argmax(1) == y).float().mean().item() >= 0)
            model.train()
    print("finite", bool(torch.isfinite(torch.stack(losses)).all()))
