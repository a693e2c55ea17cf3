# SPDX-License-Identifier: Apache-2.0
"""Training with batches copied ahead on a side stream, averages of the weights on another, statistics copied back on a third."""
import torch
from torch import nn

from common import device, iterations, loop

if device() != "cuda":
    raise SystemExit(77)
steps = iterations(300)
model = nn.Sequential(nn.Linear(512, 1024), nn.LayerNorm(1024), nn.SiLU(), nn.Linear(1024, 1024), nn.SiLU(), nn.Linear(1024, 100)).cuda()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
parameters = [p.detach() for p in model.parameters()]
averages = [p.clone() for p in parameters]
host = [(torch.randn(256, 512).pin_memory(), torch.randint(0, 100, (256,)).pin_memory()) for _ in range(8)]
seen = torch.zeros(steps, pin_memory=True)
main, ahead, average, back = torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
average.wait_stream(main)


def fetch(i):
    with torch.cuda.stream(ahead):
        return [t.to("cuda", non_blocking=True) for t in host[i % 8]]


with loop():
    following = fetch(0)
    for i in range(steps):
        main.wait_stream(ahead)
        x, y = following
        x.record_stream(main)
        y.record_stream(main)
        following = fetch(i + 1)
        loss = nn.functional.cross_entropy(model(x), y)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        main.wait_stream(average)
        optimiser.step()
        average.wait_stream(main)
        with torch.cuda.stream(average), torch.no_grad():
            torch._foreach_lerp_(averages, parameters, 0.01)
        back.wait_stream(main)
        with torch.cuda.stream(back):
            loss = loss.detach()
            loss.record_stream(back)
            seen[i].copy_(loss, non_blocking=True)
    torch.cuda.synchronize()
    print("finite", bool(torch.isfinite(seen).all()), bool(torch.isfinite(averages[0]).all()))
