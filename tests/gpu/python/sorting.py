# SPDX-License-Identifier: Apache-2.0
"""Correct: sort, topk, unique, index_put and masks; one stream selects from what another one has sorted."""
import torch

torch.manual_seed(0)
first, second = torch.cuda.Stream(), torch.cuda.Stream()
main = torch.cuda.current_stream()
scores = torch.rand(64, 2000, device="cuda")
table = torch.zeros(2000, device="cuda")
kept = []
for _ in range(4):
    first.wait_stream(main)
    with torch.cuda.stream(first):
        ordered, place = scores.sort(1, descending=True)
        ready = first.record_event()
    with torch.cuda.stream(second):
        second.wait_event(ready)
        ordered.record_stream(second)
        place.record_stream(second)
        best = ordered[:, :50].contiguous().topk(10, 1).values
        seen = torch.unique(place[:, :50])
    main.wait_stream(first)
    main.wait_stream(second)
    for tensor in (ordered, place, best, seen):
        tensor.record_stream(main)
    table.index_put_((place[:, 0],), ordered[:, 0], accumulate=True)
    table[seen] += 1
    kept.append(best[best > best.mean()].sum())
    scores = scores.cumsum(1).frac()
print("kept", bool(torch.isfinite(torch.stack(kept)).all()), "table", float(table.max()) > 0)
