# SPDX-License-Identifier: Apache-2.0
"""A training loop with three mistakes; --fix=NAME fixes one of them:

item         loss.item() in each step makes the host wait for the device
unpinned     the batches come from pageable memory, so their copies wait
empty_cache  torch.cuda.empty_cache() in the loop frees and allocates device memory again and again

Prints how long the loop takes.  The steps before it make none of the mistakes.  --rounds=N instead: N times the loop with all
mistakes, without each, without those two that need no other program ("pair") and without any, in turn, in one process: what
a fix saves then is not hidden by how processes differ.
"""
import argparse
import time

import torch

MISTAKES = ["item", "unpinned", "empty_cache"]
SETS = {"none": [], "pair": ["unpinned", "empty_cache"], "all": MISTAKES, **{name: [name] for name in MISTAKES}}

parser = argparse.ArgumentParser()
parser.add_argument("--fix", action="append", default=[], choices=MISTAKES)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--rounds", type=int, default=0)
options = parser.parse_args()

torch.manual_seed(0)
WIDTH, ROWS = 2048, 2048
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(WIDTH, WIDTH, device="cuda"), torch.nn.ReLU())])
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
batches = [torch.randn(ROWS, WIDTH) for _ in range(4)]
pinned = [batch.pin_memory() for batch in batches]
target = torch.randn(ROWS, WIDTH, device="cuda")
total = torch.zeros((), device="cuda")
seen = 0.0


def step(number, fixed):
    global seen
    x = (pinned if "unpinned" in fixed else batches)[number % len(batches)].to("cuda", non_blocking=True)
    optimiser.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimiser.step()
    if "item" in fixed:
        total.add_(loss.detach())
    else:
        seen += loss.item()
    if "empty_cache" not in fixed:
        torch.cuda.empty_cache()


def loop(fixed):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for number in range(options.steps):
        step(number, fixed)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1000


for i in range(10):
    step(i, MISTAKES)
if not options.rounds:
    print(f"hot_ms {loop(options.fix):.3f}")
for i in range(options.rounds):
    for name, fixes in SETS.items() if i % 2 else reversed(SETS.items()):
        # The allocator's memory is then what it is in the loop.
        for k in range(2):
            step(k, fixes)
        print(f"loop {name} {loop(fixes):.3f}", flush=True)
