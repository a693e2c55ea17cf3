# SPDX-License-Identifier: Apache-2.0
"""Correct: gradients averaged on a stream of their own while the backward pass goes on, as data-parallel training does.

With --broken that stream does not wait for the kernel that makes the gradient.
"""
import sys
import torch

broken = "--broken" in sys.argv
torch.manual_seed(0)
model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4))).cuda()
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
reduce, main = torch.cuda.Stream(), torch.cuda.current_stream()
others = {p: torch.zeros_like(p) for p in model.parameters()}


def average(p):
    if not broken:
        reduce.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(reduce), torch.no_grad():
        p.grad.add_(others[p]).mul_(0.5)
        p.grad.record_stream(reduce)


x = torch.randn(256, 512, device="cuda")
model(x).sum().backward()  # loads the libraries outside of what is watched
optimiser.step()
torch.cuda.synchronize()
for p in model.parameters():
    p.register_post_accumulate_grad_hook(average)
for _ in range(4):
    optimiser.zero_grad(set_to_none=True)
    model(x).square().mean().backward()
    main.wait_stream(reduce)
    optimiser.step()
print("finite", bool(torch.isfinite(next(model.parameters())).all()))
