# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 from a DataLoader with forked workers and a pinning thread, mixed precision with a scaler of gradients."""
import torch
from torchvision.models import resnet50

from common import device, iterations, loop


class Pictures(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        return torch.randn(3, 128, 128, generator=generator), i % 1000


def main():
    where = device()
    steps = iterations(40)
    torch.backends.cudnn.benchmark = False
    model = resnet50().to(where, memory_format=torch.channels_last).train()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler(where, enabled=where == "cuda")
    loader = torch.utils.data.DataLoader(Pictures(32 * steps), batch_size=32, num_workers=3, pin_memory=where == "cuda", shuffle=True)
    right = 0
    with loop():
        for x, y in loader:
            x = x.to(where, non_blocking=True, memory_format=torch.channels_last)
            y = y.to(where, non_blocking=True)
            with torch.autocast(where, torch.float16 if where == "cuda" else torch.bfloat16):
                out = model(x)
                loss = torch.nn.functional.cross_entropy(out, y)
            optimiser.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimiser)
            scaler.update()
            right += (out.argmax(1) == y).sum()
        print("right", int(right) >= 0)


if __name__ == "__main__":
    main()
