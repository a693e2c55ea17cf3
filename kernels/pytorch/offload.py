# SPDX-License-Identifier: Apache-2.0
"""Activations are kept in pinned memory: a side stream copies them there and back.  The backward pass does not wait for the
copy back.

Fix: the stream that uses an activation waits for the copy.
"""
from case import fixed
import torch

copies = torch.cuda.Stream()


def pack(x):
    host = torch.empty(x.shape, dtype=x.dtype, pin_memory=True)
    copies.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copies):
        host.copy_(x, non_blocking=True)
    x.record_stream(copies)
    return host


def unpack(host):
    with torch.cuda.stream(copies):
        x = host.to("cuda", non_blocking=True)
    if fixed:
        torch.cuda.current_stream().wait_stream(copies)
    x.record_stream(torch.cuda.current_stream())
    return x


torch.manual_seed(0)
model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(4))).cuda()
x = torch.randn(256, 512, device="cuda")
model(x).sum().backward()
torch.cuda.synchronize()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    loss = model(x).square().sum()
loss.backward()
torch.cuda.synchronize()
print("loss", float(loss))
