# SPDX-License-Identifier: Apache-2.0
"""Four sequences decoded greedily by a small Llama in bfloat16: rotary positions, RMS norm, grouped queries, a growing cache."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from common import device, iterations, loop

where = device()
steps = iterations(60)
config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16,
                     num_key_value_heads=4, max_position_embeddings=2048)
model = LlamaForCausalLM(config).to(where, torch.bfloat16).eval()
prompt = torch.randint(0, 32000, (4, 32), device=where)
with loop(), torch.no_grad():
    out = model(prompt, use_cache=True)
    for _ in range(steps):
        token = out.logits[:, -1].argmax(-1, keepdim=True)
        out = model(token, past_key_values=out.past_key_values, use_cache=True)
    print("finite", bool(torch.isfinite(out.logits).all()))
