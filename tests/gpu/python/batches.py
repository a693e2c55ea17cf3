# SPDX-License-Identifier: Apache-2.0
"""Shared by the training programs: batches that come from pinned memory on a stream of their own, one step ahead."""
import torch


class Prefetcher:
    """Iterates over pairs of pinned tensors; what it gives out is there for the current stream and stays until it is done."""

    def __init__(self, pairs):
        self.pairs = iter(pairs)
        self.stream = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        pair = next(self.pairs, None)
        with torch.cuda.stream(self.stream):
            self.following = pair and tuple(t.cuda(non_blocking=True) for t in pair)

    def __iter__(self):
        while self.following:
            torch.cuda.current_stream().wait_stream(self.stream)
            pair = self.following
            for tensor in pair:
                tensor.record_stream(torch.cuda.current_stream())
            self.fetch()
            yield pair
