# SPDX-License-Identifier: Apache-2.0
"""Training of a GPT-2 of the usual size on random tokens: AdamW, clipped gradients, a schedule of the rate, bfloat16."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from common import device, iterations, loop

where = device()
steps = iterations(30)
model = GPT2LMHeadModel(GPT2Config()).to(where).train()
optimiser = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
rate = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda i: min(1.0, (i + 1) / 5))
data = torch.randint(0, 50000, (64, 4, 128))
data = data.pin_memory() if where == "cuda" else data
total = 0.0
with loop():
    for i in range(steps):
        tokens = data[i % 64].to(where, non_blocking=True)
        with torch.autocast(where, torch.bfloat16):
            loss = model(tokens, labels=tokens).loss
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        rate.step()
        if i % 10 == 9:
            total += loss.item()
    print("finite", bool(torch.isfinite(loss)), total > 0)
