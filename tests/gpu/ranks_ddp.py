# SPDX-License-Identifier: Apache-2.0
"""One rank of a data-parallel training, started by torchrun.

--race       a tensor is changed while NCCL still reduces it: its wait() is missing
--straggler  rank 1 reads its data more slowly than the others
"""
import os
import sys
import time

import torch
from torch import distributed, nn

STEPS = 40


def load(rank, where):
    if "--straggler" in sys.argv and rank == 1:
        time.sleep(0.02)
    return torch.randint(0, 1000, (16, 64), device=where)


def average(metrics):
    """Over all ranks, while the next step begins."""
    work = distributed.all_reduce(metrics, async_op=True)
    if "--race" not in sys.argv:
        work.wait()
    metrics.mul_(0.5)
    return work


def main():
    rank = int(os.environ["RANK"])
    where = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(where)
    distributed.init_process_group("nccl", device_id=where)
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(1000, 128), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
                          nn.Linear(128, 1000))
    model = nn.parallel.DistributedDataParallel(model.to(where), device_ids=[where.index], bucket_cap_mb=1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        tokens = load(rank, where)
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        average(torch.full((1 << 20,), 1.0, device=where))
    torch.cuda.synchronize()
    print("finite", bool(torch.isfinite(loss)))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
