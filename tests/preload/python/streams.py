# SPDX-License-Identifier: Apache-2.0
"""Work of PyTorch's streams that lacks wait_stream(): each is named as the program names it, where that name is known."""
import torch

side = torch.cuda.Stream()


class Loader:
    def __init__(self):
        self.copies = torch.cuda.Stream()

    def load(self, batch):
        with torch.cuda.stream(self.copies):
            torch.fill(batch)  # fills on copies

    def refill(self, batch):
        torch.fill(batch)
        with torch.cuda.stream(self.copies):
            torch.fill(batch)  # needs self.copies


def train():
    x, y, z = torch.empty(), torch.empty(), torch.empty()
    with torch.cuda.stream(side):
        torch.fill(x)
    torch.fill(x)  # needs the default stream
    local = torch.cuda.Stream()
    torch.fill(y)
    with torch.cuda.stream(local):
        torch.fill(y)  # needs local
    loader = Loader()
    loader.refill(z)
    return loader


def elsewhere(loader):
    batch = torch.empty()
    loader.load(batch)
    torch.fill(batch)  # does not know the name


elsewhere(train())
torch.rt.cudaDeviceSynchronize()
