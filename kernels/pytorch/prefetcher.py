# SPDX-License-Identifier: Apache-2.0
"""A prefetcher copies the next batch on a stream of its own; the model does not wait for the copy.

Fix: the current stream waits for the copying stream before a batch is used.
"""
from case import fixed
import torch


class Prefetcher:
    def __init__(self, batches):
        self.batches = iter(batches)
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        batch = next(self.batches, None)
        with torch.cuda.stream(self.stream):
            self.following = None if batch is None else batch.to("cuda", non_blocking=True)

    def __iter__(self):
        while self.following is not None:
            if fixed:
                torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.following
            batch.record_stream(torch.cuda.current_stream())
            self.preload()
            yield batch


torch.manual_seed(0)
model = torch.nn.Linear(512, 512).cuda()
batches = [torch.randn(256, 512).pin_memory() for _ in range(6)]
model(torch.zeros(256, 512, device="cuda"))
total = torch.zeros((), device="cuda")
torch.cuda.synchronize()
with torch.no_grad():
    for batch in Prefetcher(batches):
        total += model(batch).sum()
print("total", float(total))
