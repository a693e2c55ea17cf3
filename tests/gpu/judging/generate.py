# SPDX-License-Identifier: Apache-2.0
"""Text of a GPT-2 of the usual size, sampled token by token: some 270 launches a token, all on one stream."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from common import device, iterations, loop

where = device()
tokens = iterations(120)
model = GPT2LMHeadModel(GPT2Config()).to(where).eval()
prompt = torch.randint(0, 50000, (1, 16), device=where)
with loop(), torch.no_grad():
    text = model.generate(prompt, attention_mask=torch.ones_like(prompt), min_new_tokens=tokens, max_new_tokens=tokens,
                          do_sample=True, top_k=50, pad_token_id=50256)
    print("length", text.shape[1], int(text[0, -1]) >= 0)
