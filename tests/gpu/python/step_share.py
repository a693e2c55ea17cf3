# SPDX-License-Identifier: Apache-2.0
"""Training steps of a small convnet and a small transformer, for the share of launches by evidence.

usage: step_share.py convnet|transformer
"""
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def convnet():
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.GroupNorm(8, 64), nn.SiLU(), nn.Dropout(0.1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()
    x, y = torch.randn(32, 3, 32, 32, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), lambda: F.cross_entropy(model(x), y)


def transformer():
    words = nn.Embedding(500, 128).cuda()
    body = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, norm_first=True), 2,
                                 enable_nested_tensor=False).cuda()
    head = nn.Linear(128, 500).cuda()
    model = nn.ModuleList([words, body, head])
    x, y = (torch.randint(0, 500, (8, 48), device="cuda") for _ in range(2))
    padded = torch.cat([x[:, :40], torch.zeros(8, 8, dtype=torch.long, device="cuda")], 1)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3), lambda: F.cross_entropy(head(body(words(padded))).flatten(0, 1), y.flatten())


model, optimiser, loss_of = {"convnet": convnet, "transformer": transformer}[sys.argv[1]]()
for _ in range(5):
    loss = loss_of()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
print("loss is finite", bool(torch.isfinite(loss)))
