# SPDX-License-Identifier: Apache-2.0
"""Correct: training of a small transformer on prefetched tokens; running averages of the weights on a side stream."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from batches import Prefetcher

torch.manual_seed(0)
WORDS, WIDTH, LENGTH = 500, 128, 48


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 256, dropout=0.1, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.word(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.body(x, mask=mask, is_causal=True))


model = Model().cuda()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
averages = [p.detach().clone() for p in model.parameters()]
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
data = [(torch.randint(0, WORDS, (8, LENGTH)).pin_memory(), torch.randint(0, WORDS, (8, LENGTH)).pin_memory()) for _ in range(5)]
for x, y in Prefetcher(data):
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    torch.cuda.current_stream().wait_stream(side)  # the averages of the last step have read the weights
    optimiser.step()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        torch._foreach_lerp_(averages, [p.detach() for p in model.parameters()], 0.1)
torch.cuda.current_stream().wait_stream(side)
print("loss is finite", bool(torch.isfinite(loss)), bool(torch.isfinite(averages[0]).all()))
