# SPDX-License-Identifier: Apache-2.0
"""Attention by each of PyTorch's kernels, forwards and backwards, with lengths that change: flash, memory-efficient, cuDNN, plain."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from common import device, iterations, loop

where = device()
rounds = iterations(60)
kinds = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION]
used = set()
with loop():
    for i in range(rounds):
        length = 64 + 40 * (i % 11)
        q, k, v = (torch.randn(2, 8, length, 64, device=where, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        for kind in kinds:
            for causal in (False, True):
                try:
                    with sdpa_kernel(kind):
                        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
                except RuntimeError:  # not every build has every kernel
                    continue
                y.float().square().mean().backward()
                used.add(kind)
        mask = torch.ones(length, length, device=where, dtype=torch.bool).tril()
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y.sum().backward()
    print("kinds", len(used), "finite", bool(torch.isfinite(q.grad).all()))
