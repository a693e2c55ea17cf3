# SPDX-License-Identifier: Apache-2.0
"""A matrix product on a side stream.

Without --fixed the side stream starts before the default stream has written its operand, and the result is read on the
default stream before the side stream is done: two races.  With --fixed both are ordered with wait_stream.
"""
import sys
import torch

fixed = "--fixed" in sys.argv
device = torch.device("cuda")
host = torch.ones(1024, 1024).pin_memory()
side = torch.cuda.Stream()
a = torch.empty(1024, 1024, device=device)
b = torch.eye(1024, device=device)
back = torch.empty(1024, 1024).pin_memory()
torch.mm(a, b)  # loads the library outside of what is watched
torch.cuda.synchronize()

a.copy_(host, non_blocking=True)  # default stream writes a
if fixed:
    side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    c = torch.mm(a, b)  # side stream reads a, writes c
if fixed:
    torch.cuda.current_stream().wait_stream(side)
c.record_stream(torch.cuda.current_stream())
back.copy_(c, non_blocking=True)  # default stream reads c
torch.cuda.synchronize()
print("sum", float(back.sum()))
