# SPDX-License-Identifier: Apache-2.0
"""A page of a KV cache is swapped out and given to another sequence while the copy to the host still reads it.

Fix: what fills the page next waits for the copy.
"""
from case import fixed
import torch

PAGES, PAGE = 4, 1 << 18
cache = torch.zeros(PAGES, PAGE, device="cuda")
host = torch.empty(PAGE).pin_memory()
new = torch.ones(PAGE, device="cuda")
swap, main = torch.cuda.Stream(), torch.cuda.current_stream()
torch.add(new, 1, out=cache[1])
torch.cuda.synchronize()

swap.wait_stream(main)
with torch.cuda.stream(swap):
    host.copy_(cache[1], non_blocking=True)
if fixed:
    main.wait_stream(swap)
torch.add(new, 2, out=cache[1])  # the page belongs to another sequence now
torch.cuda.synchronize()
print("host", float(host[0]))
