# SPDX-License-Identifier: Apache-2.0
"""A training loop with three mistakes; --fix=NAME fixes one of them:

item         loss.item() in each step makes the host wait for the device
unpinned     the batches come from pageable memory, so their copies wait
empty_cache  torch.cuda.empty_cache() in the loop frees and allocates device memory again and again
"""
import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--fix", action="append", default=[], choices=["item", "unpinned", "empty_cache"])
parser.add_argument("--steps", type=int, default=100)
options = parser.parse_args()

torch.manual_seed(0)
WIDTH, ROWS = 2048, 2048
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]).cuda()
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
batches = [torch.randn(ROWS, WIDTH) for _ in range(4)]
if "unpinned" in options.fix:
    batches = [batch.pin_memory() for batch in batches]
target = torch.randn(ROWS, WIDTH, device="cuda")
total = torch.zeros((), device="cuda")
seen = 0.0


def step(number):
    global seen
    x = batches[number % len(batches)].to("cuda", non_blocking=True)
    optimiser.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimiser.step()
    if "item" in options.fix:
        total.add_(loss.detach())
    else:
        seen += loss.item()
    if "empty_cache" not in options.fix:
        torch.cuda.empty_cache()


for i in range(10):
    step(i)
torch.cuda.synchronize()
begin = time.perf_counter()
for i in range(options.steps):
    step(i)
torch.cuda.synchronize()
print(f"hot_ms {(time.perf_counter() - begin) * 1000:.3f}")
