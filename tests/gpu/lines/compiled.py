# SPDX-License-Identifier: Apache-2.0
"""A function that torch.compile makes one kernel of, launched from one line of ours."""
import torch


@torch.compile
def wave(x, y):
    return (torch.sin(x) * y + 1).relu()


def main():
    x, y = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
    for _ in range(3):
        z = wave(x, y)  # calls what was compiled
    torch.cuda.synchronize()
    print("finite", bool(torch.isfinite(z).all()))


main()
