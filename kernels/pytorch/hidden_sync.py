# SPDX-License-Identifier: Apache-2.0
"""Calls that wait for the GPU although nothing says so, in the middle of a loop.

usage: hidden_sync.py item|nonzero|mask|empty_cache|print|tensor [--fixed]

Fix: keep the value on the GPU, and read it once, after the loop, when all is done.
"""
from case import fixed
import sys
import torch

kind = sys.argv[1]
torch.manual_seed(0)
x = torch.randn(2048, 2048, device="cuda")
w = torch.randn(2048, 2048, device="cuda") / 64
total = torch.zeros((), device="cuda")


def look(y, last):
    """What the loop wants to know of y; the fixed loop asks only once."""
    global total
    if fixed and not last:
        total += y[0, 0]
    elif kind == "item":
        total += y[0, 0].item()
    elif kind == "nonzero":
        total += y.nonzero().size(0)
    elif kind == "mask":
        total += y[y > 0].sum()
    elif kind == "empty_cache":
        y = y * 1.0
        del y
        torch.cuda.empty_cache()
    elif kind == "print":
        print(y[0, :4])
    elif kind == "tensor":
        total += torch.tensor(y[0, 0], device="cuda")


for _ in range(2):  # loads the libraries
    look(x @ w, True)
torch.cuda.synchronize()
rounds = 40
for i in range(rounds):
    y = x
    for _ in range(4):
        y = torch.tanh(y @ w)
    if fixed and i == rounds - 1:
        torch.cuda.synchronize()
    look(y, i == rounds - 1)
print("total", float(total))
