# SPDX-License-Identifier: Apache-2.0
"""Correct: compiled functions (Triton's kernels, real CUfunctions loaded from memory), one on a side stream that is joined."""
import torch


@torch.compile
def f(x, w):
    return torch.nn.functional.gelu(x @ w).sum(dim=1).sin() * 2


@torch.compile
def g(x):
    return torch.softmax(x * 0.5, 1).cumsum(1).amax(0)


torch.manual_seed(0)
side = torch.cuda.Stream()
main = torch.cuda.current_stream()
x = torch.randn(512, 512, device="cuda")
w = torch.randn(512, 512, device="cuda")
f(x, w), g(x)  # compiles
for _ in range(5):
    side.wait_stream(main)
    with torch.cuda.stream(side):
        z = g(x)
        x.record_stream(side)
    y = f(x, w)
    main.wait_stream(side)
    z.record_stream(main)
    y = y + z
print("sum is finite", bool(torch.isfinite(y.sum())))
