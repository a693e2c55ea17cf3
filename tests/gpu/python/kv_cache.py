# SPDX-License-Identifier: Apache-2.0
"""Correct: decoding with a cache of keys and values; a side stream copies full pages of it to the host while decoding goes on.

With --broken the cache is cut down to its last page while the side stream still reads it.
"""
import sys
import torch
import torch.nn.functional as F

broken = "--broken" in sys.argv
torch.manual_seed(0)
HEADS, WIDTH, PAGE, PAGES = 8, 64, 256, 3
keys, values = (torch.zeros(4, HEADS, PAGE, WIDTH, device="cuda") for _ in range(2))
project = torch.nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH).cuda()
host = [torch.empty(keys.shape).pin_memory() for _ in range(2 * PAGES)]
side, copied = torch.cuda.Stream(), torch.cuda.Event()
x = torch.randn(4, 1, HEADS * WIDTH, device="cuda")
with torch.no_grad():
    F.scaled_dot_product_attention(keys, keys, values)  # loads the libraries outside of what is watched
    project(x)
    torch.cuda.synchronize()
    for page in range(PAGES):
        if page and not broken:
            torch.cuda.current_stream().wait_event(copied)
        for place in range(0, PAGE, 64):
            q, k, v = project(x).view(4, 1, 3, HEADS, WIDTH).permute(2, 0, 3, 1, 4)
            keys[:, :, place:place + 64] = k
            values[:, :, place:place + 64] = v
            y = F.scaled_dot_product_attention(q, keys[:, :, :place + 64], values[:, :, :place + 64])
            x = F.layer_norm(x + y.transpose(1, 2).reshape(4, 1, -1), (HEADS * WIDTH,))
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            host[2 * page].copy_(keys, non_blocking=True)
            host[2 * page + 1].copy_(values, non_blocking=True)
            copied.record()
torch.cuda.synchronize()
print("finite", bool(torch.isfinite(host[-1]).all()))
