# SPDX-License-Identifier: Apache-2.0
"""Correct: batches prefetched from pinned memory on a side stream, ordered by wait_stream, kept alive by record_stream.

With --broken nothing waits for the copy: the model reads a batch that may not be there yet.
"""
import sys
import torch

broken = "--broken" in sys.argv
torch.manual_seed(0)
copy = torch.cuda.Stream()
model = torch.nn.Linear(512, 512).cuda()
batches = [torch.randn(256, 512).pin_memory() for _ in range(8)]
model(torch.zeros(256, 512, device="cuda"))  # loads the library outside of what is watched
torch.cuda.synchronize()


def fetch(i):
    with torch.cuda.stream(copy):
        return batches[i].to("cuda", non_blocking=True)


following = fetch(0)
total = torch.zeros((), device="cuda")
for i in range(len(batches)):
    if not broken:
        torch.cuda.current_stream().wait_stream(copy)
    batch = following
    batch.record_stream(torch.cuda.current_stream())
    if i + 1 < len(batches):
        following = fetch(i + 1)
    total += model(batch).sum()
print("total", float(total))
