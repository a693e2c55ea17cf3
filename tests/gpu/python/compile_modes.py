# SPDX-License-Identifier: Apache-2.0
"""Correct: one training step compiled in each mode of torch.compile; reduce-overhead records graphs that share a pool (graph trees)."""
import torch

torch.manual_seed(0)
x = torch.randn(64, 256, device="cuda")
y = torch.randint(0, 10, (64,), device="cuda")
for mode in ("default", "reduce-overhead", "max-autotune-no-cudagraphs"):
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 10)).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    compiled = torch.compile(model, mode=mode)
    for _ in range(6):
        if mode == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()
        loss = torch.nn.functional.cross_entropy(compiled(x), y)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
    print(mode, "loss is finite", bool(torch.isfinite(loss)))
