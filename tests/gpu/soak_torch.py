# SPDX-License-Identifier: Apache-2.0
"""Correct: a training loop for so many seconds, with a loader's workers, replays of a graph, and allocations of many sizes.
Prints "SECOND STEPS RSS_KB" ten times, at even distances.

usage: soak_torch.py SECONDS
"""
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

SECONDS = float(sys.argv[1])


def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


def make_graph(x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            y = (x @ x).relu()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x @ x).relu()
    return graph, y


def main():
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(2048, 256), torch.randint(0, 10, (2048,)))
    loader = DataLoader(data, batch_size=64, num_workers=2, pin_memory=True)  # new workers for each pass
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    graph, result = make_graph(torch.rand(256, 256, device="cuda"))
    begun, steps, told = time.monotonic(), 0, 0
    while told < 10:
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            graph.replay()
            torch.empty(1 + steps * 7919 % (1 << 22), device="cuda").fill_(1)
            if steps % 100 == 0:
                torch.cuda.empty_cache()
            steps += 1
        seconds = time.monotonic() - begun
        if seconds > SECONDS * (told + 1) / 10:
            print(int(seconds), steps, rss(), flush=True)
            told += 1
    assert bool(torch.isfinite(loss)) and bool(torch.isfinite(result).all())


if __name__ == "__main__":
    main()
