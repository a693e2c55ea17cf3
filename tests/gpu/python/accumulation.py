# SPDX-License-Identifier: Apache-2.0
"""Correct: a channels_last convnet with mixed precision, gradients summed over several batches, clipped, and a foreach optimiser."""
import torch

torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(),
    torch.nn.Conv2d(32, 64, 3, stride=2, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)).cuda().to(memory_format=torch.channels_last)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
scaler = torch.amp.GradScaler("cuda")
batches = [(torch.randn(16, 3, 32, 32).pin_memory(), torch.randint(0, 10, (16,)).pin_memory()) for _ in range(12)]
for i, (x, y) in enumerate(batches):
    x = x.cuda(non_blocking=True).to(memory_format=torch.channels_last)
    y = y.cuda(non_blocking=True)
    with torch.autocast("cuda"):
        loss = torch.nn.functional.cross_entropy(model(x), y) / 4
    scaler.scale(loss).backward()
    if i % 4 == 3:
        scaler.unscale_(optimiser)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad(set_to_none=True)
print("loss is finite", bool(torch.isfinite(loss)))
