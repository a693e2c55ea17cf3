# SPDX-License-Identifier: Apache-2.0
"""A recurrent language model with sequences of different lengths: cuDNN's LSTM on packed sequences, and a cell stepped by hand."""
import torch
from torch import nn

from common import device, iterations, loop

where = device()
steps = iterations(60)
embed, lstm, cell = nn.Embedding(5000, 128).to(where), nn.LSTM(128, 256, 2, batch_first=True).to(where), nn.GRUCell(256, 128).to(where)
head = nn.Linear(128, 5000).to(where)
parameters = [p for m in (embed, lstm, cell, head) for p in m.parameters()]
optimiser = torch.optim.RMSprop(parameters, lr=1e-3)
with loop():
    for i in range(steps):
        lengths = 8 + (torch.arange(32) * 7 + i) % 24
        tokens = torch.randint(0, 5000, (32, 32), device=where)
        packed = nn.utils.rnn.pack_padded_sequence(embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        out, _ = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
        h = torch.zeros(32, 128, device=where)
        states = []
        for t in range(out.shape[1]):
            h = cell(out[:, t], h)
            states.append(h)
        scores = head(torch.stack(states, 1))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, : out.shape[1]].flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
    print("finite", bool(torch.isfinite(loss)))
