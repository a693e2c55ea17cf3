# SPDX-License-Identifier: Apache-2.0
"""Correct: two streams read the same weights at once, each writes its own output; both are joined before use."""
import torch

torch.manual_seed(0)
weight = torch.randn(512, 512, device="cuda")
inputs = [torch.randn(512, 512, device="cuda") for _ in range(2)]
streams = [torch.cuda.Stream() for _ in range(2)]
outs = [None, None]
main = torch.cuda.current_stream()
for i, stream in enumerate(streams):
    stream.wait_stream(main)
    with torch.cuda.stream(stream):
        inputs[i].record_stream(stream)
        weight.record_stream(stream)
        outs[i] = torch.relu(inputs[i] @ weight)
for i, stream in enumerate(streams):
    main.wait_stream(stream)
    outs[i].record_stream(main)
print("sum", float((outs[0] + outs[1]).sum()))
