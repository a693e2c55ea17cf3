# SPDX-License-Identifier: Apache-2.0
"""A small denoising U-net: group norm, strided and transposed convolutions, skips that are concatenated, checkpointed blocks, averages."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from common import device, iterations, loop

where = device()
steps = iterations(70)


def part(a, b):
    return nn.Sequential(nn.GroupNorm(8, a), nn.SiLU(), nn.Conv2d(a, b, 3, padding=1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.time = nn.Conv2d(3, 32, 3, padding=1), nn.Linear(32, 64)
        self.a, self.down = part(32, 32), nn.Conv2d(32, 64, 3, 2, 1)
        self.b, self.middle = part(64, 64), nn.Sequential(part(64, 64), part(64, 64))
        self.up, self.c, self.last = nn.ConvTranspose2d(64, 32, 4, 2, 1), part(64, 32), nn.Conv2d(32, 3, 1)

    def forward(self, x, t):
        wave = t[:, None] * torch.exp(-torch.arange(16, device=t.device) / 4)
        t = self.time(torch.cat([wave.sin(), wave.cos()], 1))[:, :, None, None]
        a = self.a(self.first(x))
        b = self.b(self.down(a) + t)
        b = b + checkpoint(self.middle, b, use_reentrant=False)
        up = nn.functional.interpolate(b, scale_factor=2, mode="bilinear")[:, :32] + self.up(b)
        return self.last(self.c(torch.cat([up, a], 1)))


model = Net().to(where)
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
averages = [p.detach().clone() for p in model.parameters()]
with loop():
    for i in range(steps):
        x, noise, t = torch.randn(16, 3, 48, 48, device=where), torch.randn(16, 3, 48, 48, device=where), torch.rand(16, device=where)
        keep = torch.cos(t * 1.57)[:, None, None, None]
        loss = nn.functional.mse_loss(model(keep * x + (1 - keep**2).sqrt() * noise, t), noise)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(averages, list(model.parameters()), 0.05)
    print("finite", bool(torch.isfinite(loss)))
