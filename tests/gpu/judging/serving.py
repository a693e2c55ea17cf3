# SPDX-License-Identifier: Apache-2.0
"""Requests of a vision transformer in half precision, of different sizes, served on four streams from one pool of memory."""
import torch
from torchvision.models import VisionTransformer

from common import device, iterations, loop

if device() != "cuda":
    raise SystemExit(77)
requests = iterations(120)
model = VisionTransformer(image_size=64, patch_size=8, num_layers=6, num_heads=4, hidden_dim=256, mlp_dim=1024).cuda().half().eval()
streams = [torch.cuda.Stream() for _ in range(4)]
pictures = torch.randn(16, 3, 64, 64).half().pin_memory()
main = torch.cuda.current_stream()
answers = []
for stream in streams:
    stream.wait_stream(main)
with loop(), torch.no_grad():
    for i in range(requests):
        with torch.cuda.stream(streams[i % 4]):
            x = pictures[: 1 + i % 16].to("cuda", non_blocking=True)
            best = torch.softmax(model(x).float(), 1).topk(5, 1)
            answers.append(best.values.to("cpu", non_blocking=True))
            if i % 4 == 3:
                streams[i % 4].synchronize()
    for stream in streams:
        main.wait_stream(stream)
    torch.cuda.synchronize()
    print("answers", len(answers), bool(torch.isfinite(torch.cat(answers)).all()))
