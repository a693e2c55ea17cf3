# SPDX-License-Identifier: Apache-2.0
"""Correct: training from a DataLoader with forked workers and a pinning thread, asynchronous copies, the usual loop."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def main():
    data = TensorDataset(torch.randn(2048, 256), torch.randint(0, 10, (2048,)))
    loader = DataLoader(data, batch_size=256, num_workers=2, pin_memory=True, persistent_workers=True)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    seen = 0
    for _ in range(2):
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            seen += len(y)
    print("seen", seen, "loss is finite", bool(torch.isfinite(loss)))


if __name__ == "__main__":
    main()
