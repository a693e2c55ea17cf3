# SPDX-License-Identifier: Apache-2.0
"""Launches as many different kernels of PyTorch as possible, each a few times and on little data, for the truth test.

usage: torch_kernels.py [GROUP...]

What fails (an operation that this version lacks, a library that is not there) is reported and left out; the program fails
when less than half works.
"""
import sys
import traceback

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
DEVICE = "cuda"
groups = {}


def group(function):
    groups[function.__name__] = function
    return function


def rand(*shape, dtype=torch.float32, grad=False):
    return torch.rand(*shape, device=DEVICE).to(dtype).requires_grad_(grad)


def ints(high, *shape):
    return torch.randint(0, high, shape, device=DEVICE)


@group
def elementwise():
    a, b = rand(37, 129), rand(37, 129)
    for op in (torch.add, torch.sub, torch.mul, torch.div, torch.pow, torch.maximum, torch.minimum, torch.atan2,
               torch.fmod, torch.remainder, torch.eq, torch.lt, torch.hypot, torch.copysign, torch.logaddexp,
               torch.floor_divide):
        yield op.__name__, lambda op=op: op(a, b + 0.5)
        yield op.__name__ + " broadcast", lambda op=op: op(a, b[:, :1] + 0.5)
        yield op.__name__ + " transposed", lambda op=op: op(a.t(), b.t() + 0.5)
    for op in (torch.abs, torch.neg, torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.sin, torch.cos, torch.tan,
               torch.tanh, torch.sigmoid, torch.erf, torch.floor, torch.ceil, torch.round, torch.trunc, torch.sign,
               torch.reciprocal, torch.isnan, torch.log1p, torch.expm1, torch.frac, torch.lgamma, torch.asin):
        yield op.__name__, lambda op=op: op(a)
    for op in (F.relu, F.gelu, F.silu, F.elu, F.leaky_relu, F.softplus, F.hardtanh, F.hardswish, F.mish, F.logsigmoid):
        yield op.__name__, lambda op=op: op(a)
    half, whole = a.half(), (a * 100).int()
    yield "half", lambda: half * half + half
    yield "bfloat16", lambda: a.bfloat16() * b.bfloat16()
    yield "double", lambda: a.double() * 3 + b
    yield "int", lambda: (whole * whole) // (whole + 1) % 7
    yield "bitwise", lambda: (whole & 5) | (whole ^ 3) ^ (~whole)
    yield "shift", lambda: (whole << 2) >> 1
    yield "complex", lambda: torch.complex(a, b) * torch.complex(b, a)
    yield "scalar", lambda: a * 2.5 + 1
    yield "zero-dimensional", lambda: a * torch.tensor(3.0, device=DEVICE)
    yield "in place", lambda: a.clone().add_(b, alpha=2).mul_(0.5).clamp_(0.1, 0.9)
    yield "where", lambda: torch.where(a > b, a, b)
    yield "addcmul", lambda: torch.addcmul(a, a, b).addcdiv_(a, b + 1)
    yield "lerp", lambda: torch.lerp(a, b, 0.3)
    yield "masked_fill", lambda: a.masked_fill(a > 0.5, 0.0)
    yield "unaligned", lambda: a.view(-1)[1:] + b.view(-1)[:-1]
    yield "strided", lambda: a[:, ::3] * b[:, ::3]
    yield "odd size", lambda: torch.exp(a.view(-1)[:1001])
    yield "nan_to_num", lambda: torch.nan_to_num(a / 0)
    yield "five dimensions", lambda: rand(3, 4, 5, 6, 7).permute(4, 2, 0, 1, 3) + rand(7, 1, 3, 1, 6)


@group
def fill_and_copy():
    a = rand(64, 100)
    yield "zeros ones full", lambda: (torch.zeros(1000, device=DEVICE), torch.ones(1000, device=DEVICE), torch.full((99,), 3.0, device=DEVICE))
    yield "fill_", lambda: torch.empty(5, 333, device=DEVICE).fill_(2)
    yield "arange", lambda: torch.arange(0, 1000, 3, device=DEVICE)
    yield "linspace", lambda: torch.linspace(0, 1, 500, device=DEVICE)
    yield "eye", lambda: torch.eye(33, device=DEVICE)
    yield "tril triu", lambda: (a.tril(), a.triu(2))
    yield "contiguous", lambda: a.t().contiguous()
    yield "cast", lambda: (a.half(), a.double(), a.int(), a.bool(), a.bfloat16(), a.long().float())
    yield "cat", lambda: torch.cat([a, a[:7], a[:13] * 2])
    yield "cat dim 1", lambda: torch.cat([a, a[:, :7], a[:, :13]], 1)
    yield "cat many", lambda: torch.cat([a[i:i + 1] for i in range(64)])
    yield "cat half", lambda: torch.cat([a.half(), a.half()], 1)
    yield "stack", lambda: torch.stack([a, a + 1], 2)
    yield "flip roll", lambda: (a.flip(0, 1), a.roll((3, 5), (0, 1)))
    yield "repeat expand", lambda: (a.repeat(2, 3), a[:, :1].expand(64, 50).contiguous())
    yield "repeat_interleave", lambda: a[:, 0].repeat_interleave(ints(4, 64))
    yield "pad", lambda: [F.pad(rand(2, 3, 9, 9), (1, 2, 3, 1), mode=m) for m in ("constant", "reflect", "replicate", "circular")]
    yield "slices", lambda: a[3:50, 10:90].clone().copy_(a[2:49, 5:85])
    yield "diag", lambda: (torch.diag(a[0]), a.diagonal().clone())
    yield "unfold", lambda: F.fold(F.unfold(rand(2, 3, 12, 12), 3), (12, 12), 3)
    yield "channel shuffle", lambda: F.pixel_shuffle(rand(1, 8, 5, 5), 2)
    yield "meshgrid", lambda: torch.meshgrid(a[0], a[1], indexing="ij")[0].contiguous()


@group
def reductions():
    a = rand(123, 457)
    for op in (torch.sum, torch.mean, torch.prod, torch.std, torch.var, torch.amax, torch.amin, torch.logsumexp, torch.norm,
               torch.nansum, torch.median, torch.argmax, torch.argmin, torch.max, torch.any, torch.all,
               torch.count_nonzero, torch.mode, torch.nanmedian):
        if op is not torch.logsumexp:
            yield op.__name__ + " all", lambda op=op: op(a)
        yield op.__name__ + " rows", lambda op=op: op(a, 1)
        yield op.__name__ + " columns", lambda op=op: op(a, 0)
    yield "sum half", lambda: a.half().sum(0)
    yield "sum int", lambda: (a * 10).int().sum()
    yield "large sum", lambda: rand(1 << 20).sum()
    yield "tall sum", lambda: rand(20000, 8).sum(0)
    yield "aminmax", lambda: torch.aminmax(a)
    yield "cumsum", lambda: (a.cumsum(0), a.cumsum(1), a.view(-1).cumsum(0))
    yield "cumprod", lambda: a.cumprod(1)
    yield "cummax", lambda: a.cummax(1)
    yield "logcumsumexp", lambda: a.logcumsumexp(1)
    yield "histc", lambda: torch.histc(a, 20)
    yield "bincount", lambda: torch.bincount(ints(50, 1000))
    yield "kthvalue", lambda: a.kthvalue(7, 1)
    yield "dist", lambda: (torch.cdist(a[:9], a[:7]), torch.dist(a, a + 1))
    yield "trace", lambda: torch.trace(a)


@group
def indexing():
    a, at = rand(50, 33), ints(50, 77)
    columns = ints(33, 50, 5)
    yield "index", lambda: (a[at], a[at, 2], a[:, ints(33, 9)])
    yield "index half", lambda: a.half()[at]
    yield "boolean", lambda: a[a > 0.5]
    yield "index_select", lambda: (a.index_select(0, at), a.index_select(1, ints(33, 9)))
    yield "gather", lambda: (a.gather(1, columns), a.gather(0, ints(50, 5, 33)))
    yield "scatter", lambda: a.clone().scatter_(1, columns, 1.0)
    yield "scatter_add", lambda: a.clone().scatter_add_(1, columns, rand(50, 5))
    yield "scatter_reduce", lambda: a.clone().scatter_reduce_(1, columns, rand(50, 5), "amax")
    yield "index_put", lambda: a.clone().index_put_((at,), rand(77, 33))
    yield "index_put accumulate", lambda: a.clone().index_put_((at,), rand(77, 33), accumulate=True)
    yield "index_add", lambda: a.clone().index_add_(0, at, rand(77, 33))
    yield "index_copy", lambda: a.clone().index_copy_(0, torch.randperm(50, device=DEVICE)[:20], rand(20, 33))
    yield "index_fill", lambda: a.clone().index_fill_(0, at, 3)
    yield "take put", lambda: (a.take(ints(1000, 40)), a.clone().put_(ints(1000, 40), rand(40)))
    yield "masked_select", lambda: a.masked_select(a > 0.3)
    yield "masked_scatter", lambda: a.clone().masked_scatter_(a > 0.5, rand(2000))
    yield "nonzero", lambda: torch.nonzero(a > 0.5)
    yield "unique", lambda: torch.unique(ints(20, 300), return_inverse=True, return_counts=True)
    yield "searchsorted", lambda: torch.searchsorted(torch.sort(a[0])[0], a[1])
    yield "bucketize", lambda: torch.bucketize(a, torch.linspace(0, 1, 9, device=DEVICE))
    yield "embedding", lambda: F.embedding(ints(50, 4, 7), a)
    yield "embedding backward", lambda: F.embedding(ints(50, 4, 7), rand(50, 33, grad=True)).sum().backward()
    yield "embedding backward, many", lambda: F.embedding(ints(5, 4000), rand(5, 64, grad=True)).sum().backward()
    yield "embedding_bag", lambda: F.embedding_bag(ints(50, 6, 5), rand(50, 33, grad=True), mode="sum").sum().backward()
    yield "embedding_bag max", lambda: F.embedding_bag(ints(50, 6, 5), rand(50, 33, grad=True), mode="max").sum().backward()
    yield "index backward", lambda: rand(50, 33, grad=True)[at].sum().backward()
    yield "gather backward", lambda: rand(50, 33, grad=True).gather(1, columns).sum().backward()
    yield "one_hot", lambda: F.one_hot(at, 50)


@group
def sorting():
    a = rand(40, 300)
    yield "sort rows", lambda: a.sort(1)
    yield "sort columns", lambda: a.sort(0)
    yield "sort large", lambda: rand(50000).sort()
    yield "sort stable", lambda: ints(9, 2, 3000).sort(stable=True, dim=1)
    yield "sort small", lambda: rand(100, 17).sort(1)
    yield "argsort", lambda: ints(100, 500).argsort()
    yield "topk", lambda: a.topk(5, 1)
    yield "topk large", lambda: rand(3, 20000).topk(50, 1)
    yield "randperm", lambda: (torch.randperm(100, device=DEVICE), torch.randperm(70000, device=DEVICE))


@group
def random():
    a = torch.empty(2000, device=DEVICE)
    for name in ("normal_", "uniform_", "exponential_", "cauchy_", "log_normal_", "bernoulli_", "random_"):
        yield name, lambda name=name: getattr(a.clone(), name)()
    yield "geometric_", lambda: a.clone().geometric_(0.3)
    yield "randint", lambda: ints(100, 999)
    yield "multinomial", lambda: (rand(4, 50).multinomial(5), rand(4, 50).multinomial(80, replacement=True))
    yield "poisson", lambda: torch.poisson(rand(300) * 5)
    yield "binomial", lambda: torch.binomial(rand(300) * 10, rand(300))
    yield "dropout", lambda: F.dropout(rand(64, 65), 0.3, True)
    yield "dropout backward", lambda: F.dropout(rand(64, 64, grad=True), 0.3, True).sum().backward()
    yield "native_dropout", lambda: torch.native_dropout(rand(64, 64), 0.5, True)
    yield "feature dropout", lambda: F.dropout2d(rand(3, 8, 9, 9), 0.3, True)


@group
def normalisation():
    image = lambda: rand(4, 16, 9, 11, grad=True)
    rows = lambda n=200: rand(32, n, grad=True)
    for name, op in (("softmax", F.softmax), ("log_softmax", F.log_softmax)):
        for n in (7, 200, 3000):
            yield f"{name} {n}", lambda op=op, n=n: (op(rows(n), 1) * rand(32, n)).sum().backward()
        yield name + " half", lambda op=op: op(rand(32, 200, dtype=torch.float16), 1)
        yield name + " spatial", lambda op=op: (op(image(), 1) ** 2).sum().backward()
    yield "masked softmax", lambda: F.softmax(rows().masked_fill(ints(2, 32, 200) == 0, -1e9), 1)
    for n in (200, 1024):
        yield f"layer_norm {n}", lambda n=n: (nn.LayerNorm(n).cuda()(rows(n)) ** 2).sum().backward()
    yield "layer_norm half", lambda: F.layer_norm(rand(32, 256, dtype=torch.float16), (256,))
    yield "rms_norm", lambda: (F.rms_norm(rows(), (200,)) ** 2).sum().backward()
    yield "batch_norm", lambda: (nn.BatchNorm2d(16).cuda()(image()) ** 2).sum().backward()
    yield "batch_norm eval", lambda: (nn.BatchNorm2d(16).cuda().eval()(image()) ** 2).sum().backward()
    yield "batch_norm 1d", lambda: (nn.BatchNorm1d(200).cuda()(rows()) ** 2).sum().backward()
    yield "batch_norm channels last", lambda: (nn.BatchNorm2d(16).cuda()(image().to(memory_format=torch.channels_last)) ** 2).sum().backward()
    yield "group_norm", lambda: (nn.GroupNorm(4, 16).cuda()(image()) ** 2).sum().backward()
    yield "instance_norm", lambda: (nn.InstanceNorm2d(16, affine=True).cuda()(image()) ** 2).sum().backward()
    yield "local_response_norm", lambda: F.local_response_norm(image(), 3)
    yield "renorm", lambda: rows().detach().renorm(2, 0, 1.0)
    yield "normalize", lambda: F.normalize(rows()).sum().backward()
    yield "batch_norm native", lambda: native(lambda: (nn.BatchNorm2d(16).cuda()(image()) ** 2).sum().backward())


def native(function):
    with torch.backends.cudnn.flags(enabled=False):
        return function()


@group
def losses():
    x, y = (lambda: rand(40, 10, grad=True)), ints(10, 40)
    yield "cross_entropy", lambda: F.cross_entropy(x(), y).backward()
    yield "cross_entropy smooth", lambda: F.cross_entropy(x(), y, label_smoothing=0.1).backward()
    yield "nll 2d", lambda: F.nll_loss(F.log_softmax(rand(3, 5, 8, 8, grad=True), 1), ints(5, 3, 8, 8)).backward()
    for op in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits, F.kl_div):
        yield op.__name__, lambda op=op: op(x(), rand(40, 10)).backward()
    yield "binary_cross_entropy", lambda: F.binary_cross_entropy(x(), rand(40, 10)).backward()
    yield "multi_margin", lambda: F.multi_margin_loss(x(), y).backward()
    yield "multilabel_margin", lambda: F.multilabel_margin_loss(x(), ints(10, 40, 10)).backward()
    yield "cosine", lambda: F.cosine_embedding_loss(x(), rand(40, 10), torch.ones(40, device=DEVICE)).backward()
    yield "ctc", lambda: native(lambda: F.ctc_loss(F.log_softmax(rand(20, 4, 9, grad=True), 2), ints(8, 4, 6) + 1,
                                                   torch.full((4,), 20), torch.full((4,), 6)).backward())


@group
def images():
    image = lambda n=9: rand(2, 6, n, n, grad=True)
    yield "max_pool2d", lambda: F.max_pool2d(image(12), 3, 2).sum().backward()
    yield "avg_pool2d", lambda: F.avg_pool2d(image(12), 3, 2, 1).sum().backward()
    yield "adaptive pools", lambda: (F.adaptive_avg_pool2d(image(), 3).sum() + F.adaptive_max_pool2d(image(), 2).sum()).backward()
    yield "global pool", lambda: F.adaptive_avg_pool2d(image(), 1).sum().backward()
    yield "pools channels last", lambda: (F.max_pool2d(image(12).to(memory_format=torch.channels_last), 2).sum() + F.avg_pool2d(
        image(12).to(memory_format=torch.channels_last), 2).sum()).backward()
    yield "pool 1d 3d", lambda: (F.max_pool1d(rand(2, 3, 20, grad=True), 2).sum() + F.max_pool3d(rand(1, 2, 8, 8, 8, grad=True), 2).sum()
                                 + F.avg_pool3d(rand(1, 2, 8, 8, 8, grad=True), 2).sum()).backward()
    yield "lp_pool fractional", lambda: (F.lp_pool2d(image(12), 2, 2).sum() + F.fractional_max_pool2d(image(12), 2, output_size=5).sum()).backward()
    yield "max_unpool2d", lambda: F.max_unpool2d(*F.max_pool2d(rand(1, 2, 8, 8), 2, return_indices=True), 2)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        yield "upsample " + mode, lambda mode=mode: F.interpolate(image(), scale_factor=2.5, mode=mode).sum().backward()
    yield "upsample antialias", lambda: F.interpolate(image(), size=(5, 14), mode="bilinear", antialias=True).sum().backward()
    yield "upsample 1d 3d", lambda: (F.interpolate(rand(2, 3, 9, grad=True), scale_factor=2, mode="linear").sum()
                                     + F.interpolate(rand(1, 2, 4, 4, 4, grad=True), scale_factor=2, mode="trilinear").sum()).backward()
    for mode in ("bilinear", "nearest"):
        yield "grid_sample " + mode, lambda mode=mode: native(lambda: F.grid_sample(
            image(), (rand(2, 5, 5, 2) * 2 - 1).requires_grad_(), mode=mode, align_corners=False).sum().backward())
    yield "affine_grid", lambda: F.affine_grid(rand(2, 2, 3), (2, 3, 6, 6), align_corners=False)
    yield "reflect backward", lambda: (F.pad(image(), (2, 2, 1, 1), mode="reflect").sum() + F.pad(image(), (2, 2, 1, 1), mode="replicate").sum()).backward()


@group
def libraries():
    image = lambda c=6: rand(2, c, 16, 16, grad=True)
    yield "conv2d", lambda: nn.Conv2d(6, 8, 3, padding=1).cuda()(image()).sum().backward()
    yield "conv2d half", lambda: F.conv2d(rand(2, 8, 16, 16, dtype=torch.float16), rand(16, 8, 3, 3, dtype=torch.float16))
    yield "conv 1x1", lambda: nn.Conv2d(6, 8, 1).cuda()(image()).sum().backward()
    yield "depthwise", lambda: native(lambda: nn.Conv2d(6, 6, 3, groups=6).cuda()(image()).sum().backward())
    yield "conv native", lambda: native(lambda: nn.Conv2d(6, 8, 3).cuda()(image()).sum().backward())
    yield "conv_transpose", lambda: native(lambda: nn.ConvTranspose2d(6, 4, 3, 2).cuda()(image()).sum().backward())
    yield "conv1d conv3d", lambda: (F.conv1d(rand(2, 3, 20), rand(4, 3, 3)), F.conv3d(rand(1, 2, 6, 6, 6), rand(3, 2, 3, 3, 3)))
    yield "mm", lambda: rand(65, 33) @ rand(33, 47)
    yield "mm half", lambda: rand(64, 128, dtype=torch.float16) @ rand(128, 64, dtype=torch.float16)
    yield "mm bfloat16", lambda: rand(64, 128, dtype=torch.bfloat16) @ rand(128, 64, dtype=torch.bfloat16)
    yield "mm double", lambda: rand(20, 30).double() @ rand(30, 10).double()
    yield "bmm", lambda: torch.bmm(rand(5, 16, 24), rand(5, 24, 8))
    yield "baddbmm addmm", lambda: (torch.baddbmm(rand(5, 16, 8), rand(5, 16, 24), rand(5, 24, 8)), torch.addmm(rand(16, 8), rand(16, 24), rand(24, 8)))
    yield "mv dot outer", lambda: (rand(30, 20) @ rand(20), rand(100) @ rand(100), torch.outer(rand(9), rand(7)))
    yield "linear", lambda: nn.Linear(32, 24).cuda()(rand(10, 32, grad=True)).relu().sum().backward()
    yield "bilinear", lambda: nn.Bilinear(5, 6, 7).cuda()(rand(4, 5), rand(4, 6))
    q = lambda dtype=torch.float16: rand(2, 4, 64, 32, dtype=dtype, grad=True)
    for backend in ("MATH", "EFFICIENT_ATTENTION", "FLASH_ATTENTION", "CUDNN_ATTENTION"):
        for causal in (False, True):
            yield f"attention {backend} {causal}", lambda b=backend, c=causal: attention(b, c, q)
    yield "fft", lambda: (torch.fft.rfft(rand(4, 128)), torch.fft.ifft2(torch.complex(rand(16, 16), rand(16, 16))))
    yield "rnn", lambda: [cell(12, 20).cuda()(rand(7, 3, 12))[0].sum().backward() for cell in (nn.LSTM, nn.GRU)]
    yield "cells", lambda: (nn.LSTMCell(12, 20).cuda()(rand(3, 12, grad=True))[0].sum() + nn.GRUCell(12, 20).cuda()(rand(3, 12, grad=True)).sum()).backward()
    yield "glu", lambda: F.glu(rand(8, 20, grad=True)).sum().backward()
    yield "sparse", lambda: torch.sparse.mm(torch.eye(20, device=DEVICE).to_sparse(), rand(20, 8))
    yield "linalg", lambda: (torch.linalg.cholesky(torch.eye(9, device=DEVICE) * 3), torch.linalg.solve(torch.eye(9, device=DEVICE) * 2, rand(9, 3)))


def attention(backend, causal, q):
    with nn.attention.sdpa_kernel(getattr(nn.attention.SDPBackend, backend)):
        F.scaled_dot_product_attention(q(), q(), q(), is_causal=causal).sum().backward()


@group
def optimisers():
    def steps(make, **options):
        parameters = [rand(n, grad=True) for n in (7, 1000, 70000)] + [rand(33, 21, grad=True)]
        optimiser = make(parameters, lr=0.01, **options)
        for _ in range(2):
            for p in parameters:
                p.grad = torch.rand_like(p)
            optimiser.step()
        optimiser.zero_grad(set_to_none=False)

    o = torch.optim
    for make, options in ((o.SGD, {"momentum": 0.9}), (o.Adam, {}), (o.AdamW, {"amsgrad": True}), (o.RMSprop, {}), (o.Adagrad, {}),
                          (o.Adadelta, {}), (o.NAdam, {}), (o.RAdam, {}), (o.Adamax, {}), (o.Rprop, {}), (o.ASGD, {})):
        for foreach in (False, True):
            yield f"{make.__name__} foreach {foreach}", lambda m=make, k=options, f=foreach: steps(m, foreach=f, **k)
    for make in (o.SGD, o.Adam, o.AdamW):
        yield make.__name__ + " fused", lambda m=make: steps(m, fused=True)
    yield "capturable", lambda: steps(o.Adam, capturable=True, foreach=True)
    yield "clip", lambda: clip()
    yield "scaler", lambda: unscale()


def clip():
    parameters = [rand(n, grad=True) for n in (7, 1000)]
    for p in parameters:
        p.grad = torch.rand_like(p)
    nn.utils.clip_grad_norm_(parameters, 1.0)
    nn.utils.clip_grad_value_(parameters, 0.5)


def unscale():
    model = nn.Linear(16, 16).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(2):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(rand(8, 16)).float().sum()
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimiser)
        scaler.step(optimiser)
        scaler.update()


def main():
    tried = worked = 0
    for name in sys.argv[1:] or groups:
        for what, run in groups[name]():
            tried += 1
            try:
                run()
                torch.cuda.synchronize()
                worked += 1
            except Exception as error:  # a version without this operation, a missing library: reported, not fatal
                print(f"{name}: {what}: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}")
                if "CUDA error" in str(error):
                    traceback.print_exc()
                    sys.exit("the context is lost")
    print(f"{worked} of {tried} operations worked")
    sys.exit(0 if worked * 2 > tried else 1)


if __name__ == "__main__":
    main()
