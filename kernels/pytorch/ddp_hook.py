# SPDX-License-Identifier: Apache-2.0
"""A hook scales a gradient after its all_reduce was started and before it is done, on two ranks.

Fix: wait for the collective first.
"""
from case import fixed, need_gpus
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024, bias=False) for _ in range(4))).cuda()
    pending = []

    def hook(parameter):
        job = dist.all_reduce(parameter.grad, async_op=True)
        if fixed:
            job.wait()
        parameter.grad.mul_(0.5)
        pending.append(job)

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(hook)
    for _ in range(3):
        model.zero_grad(set_to_none=True)
        model(torch.randn(64, 1024, device="cuda")).square().sum().backward()
        for job in pending:
            job.wait()
        pending.clear()
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    need_gpus(2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    mp.spawn(work, args=(number,), nprocs=2)
