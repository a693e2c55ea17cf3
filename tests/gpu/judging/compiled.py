# SPDX-License-Identifier: Apache-2.0
"""A transformer block trained under torch.compile, mode reduce-overhead: kernels of Triton, replayed as CUDA graphs."""
import torch
from torch import nn

from common import device, iterations, loop


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.norm2(x))


where = device()
steps = iterations(200)
model = nn.Sequential(Block(), Block()).to(where)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
run = torch.compile(model, mode="reduce-overhead")
x = torch.randn(8, 64, 256, device=where)


def step():
    torch.compiler.cudagraph_mark_step_begin()
    loss = (run(x) - x.roll(1, 1)).square().mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss


for _ in range(3):
    step()
with loop():
    for _ in range(steps):
        loss = step()
    print("finite", bool(torch.isfinite(loss)))
