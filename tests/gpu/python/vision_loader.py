# SPDX-License-Identifier: Apache-2.0
"""Correct: torchvision's transforms in the workers of a loader, its resnet18 trained on what they make."""
import torch
import torchvision
from torch.utils.data import DataLoader

torch.manual_seed(0)


def main():
    transform = torchvision.transforms.Compose([
        torchvision.transforms.RandomHorizontalFlip(), torchvision.transforms.ToTensor(),
        torchvision.transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
    data = torchvision.datasets.FakeData(256, (3, 64, 64), 10, transform)
    loader = DataLoader(data, batch_size=32, num_workers=2, pin_memory=True)
    model = torchvision.models.resnet18(num_classes=10).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
    print("loss is finite", bool(torch.isfinite(loss)))


if __name__ == "__main__":
    main()
