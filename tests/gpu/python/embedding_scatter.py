# SPDX-License-Identifier: Apache-2.0
"""Correct: two embedding tables looked up on two streams, their gradients, segment sums with scatter_add and index_add."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
users, items = nn.Embedding(1000, 64).cuda(), nn.Embedding(3000, 64).cuda()
bag = nn.EmbeddingBag(500, 64, mode="mean").cuda()
optimiser = torch.optim.Adagrad([*users.parameters(), *items.parameters(), *bag.parameters()], lr=0.05)
streams = [torch.cuda.Stream() for _ in range(2)]
main = torch.cuda.current_stream()
sums, counts = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
for _ in range(5):
    user, item = torch.randint(0, 1000, (512,), device="cuda"), torch.randint(0, 3000, (512,), device="cuda")
    words = torch.randint(0, 500, (512, 6), device="cuda")
    vectors = []
    for stream, table, index in zip(streams, (users, items), (user, item)):
        stream.wait_stream(main)
        with torch.cuda.stream(stream):
            vectors.append(table(index))
            index.record_stream(stream)
    for stream, vector in zip(streams, vectors):
        main.wait_stream(stream)
        vector.record_stream(main)
    score = (vectors[0] * (vectors[1] + bag(words))).sum(1)
    loss = F.softplus(-score).mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    for stream in streams:  # the backward pass of a look-up runs on the stream of the look-up
        main.wait_stream(stream)
    optimiser.step()
    with torch.no_grad():
        sums.scatter_add_(0, user, score)
        counts.index_add_(0, user, torch.ones_like(score))
print("mean is finite", bool(torch.isfinite(sums / counts.clamp(min=1)).all()))
