"""What the demo model is trained on: noisy canvases, self-conditioning, and next-token prediction over the prompt."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tools.train_demo.model import MASKED
from tools.train_demo.passes import Passes

PURE, LABEL_ONLY = 0.4, 0.25  # shares of canvases of pure noise, and of reads whose labels alone are noise
KEEP_LABEL = 0.1  # share of other canvases that may show their labels
SELF_CONDITIONED = 0.5
NEXT_TOKEN, FIRST_TOKEN = 0.3, 1.0  # weights of the two losses of the causal pass


@dataclass(frozen=True)
class Targets:
    """A batch on the device; see ``data.Batch`` for shapes."""

    prompts: Tensor
    lengths: Tensor
    canvases: Tensor
    labels: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Losses:
    """The loss and its parts, 0-dimensional tensors."""

    total: Tensor
    label: Tensor
    rest: Tensor
    next_token: Tensor
    first_token: Tensor
    accuracy: Tensor


def add_noise(targets: Targets, vocabulary: int) -> Tensor:
    """Canvases [B, C] with a part of their tokens replaced by uniform ones.

    40 % are pure noise, 25 % of reads have noise in the label slots alone (the canvas of a seeded read), the others a
    uniform share of noise. Labels are nearly always noise: predicting a label that stands there teaches nothing.
    """
    canvases, labels = targets.canvases, targets.labels
    batch, device = canvases.shape[0], canvases.device
    u = torch.rand(batch, 1, device=device)
    is_read = labels.any(dim=1, keepdim=True)
    share = torch.where(u < PURE, torch.ones_like(u), torch.rand(batch, 1, device=device))
    label_only = (u > 1 - LABEL_ONLY) & is_read
    share = torch.where(label_only, torch.zeros_like(share), share)
    noisy = torch.rand(canvases.shape, device=device) < share
    hidden = (torch.rand(batch, 1, device=device) > KEEP_LABEL) | label_only
    noisy = noisy | (labels & hidden)
    return torch.where(noisy, torch.randint(0, vocabulary, canvases.shape, device=device), canvases)


def prompt_mask(lengths: Tensor, prompt: int, canvas: int) -> Tensor:
    """[B, 1, 1, P + C] for ``denoise``: the padding of prompts is not seen."""
    position = torch.arange(prompt + canvas, device=lengths.device)[None]
    padding = (position >= lengths[:, None]) & (position < prompt)
    return torch.where(padding, MASKED, 0.0)[:, None, None]


def losses(passes: Passes, targets: Targets, vocabulary: int, prompts: bool = True) -> Losses:
    """All losses of a batch; free of synchronisation with the host.

    Args:
        prompts: with the next-token loss over the prompt, which is half of the work on a CPU.
    """
    batch, prompt = targets.prompts.shape
    canvas = targets.canvases.shape[1]
    prefix, hidden = passes.encode(targets.prompts)
    noisy = add_noise(targets, vocabulary)
    mask = prompt_mask(targets.lengths, prompt, canvas).to(hidden.dtype).expand(-1, -1, canvas, -1).contiguous()
    nothing = torch.zeros(batch, canvas, hidden.shape[-1], device=noisy.device, dtype=hidden.dtype)
    with torch.no_grad():
        before = passes.decode(noisy, nothing, targets.lengths, prefix, mask)
        temperature = 0.4 + 0.6 * torch.rand(batch, 1, 1, device=noisy.device)
        used = (torch.rand(batch, 1, 1, device=noisy.device) < SELF_CONDITIONED).float()
        soft = passes.soft_embedding(before, temperature, used)
    ce, right = passes.losses(passes.decode(noisy, soft, targets.lengths, prefix, mask), targets.canvases)
    diffusion = (ce * targets.weights).sum() / batch

    next_token = _next_token(passes, targets, hidden) if prompts else torch.zeros((), device=noisy.device)
    last = hidden[torch.arange(batch, device=noisy.device), targets.lengths - 1]
    first, _ = passes.losses(last, targets.canvases[:, 0])
    first_token = first.mean()

    labels = targets.labels.float()
    count = labels.sum().clamp(min=1)
    return Losses(
        diffusion + NEXT_TOKEN * next_token + FIRST_TOKEN * first_token,
        (ce * labels).sum().detach() / count,
        (ce * (1 - labels)).mean().detach(),
        next_token.detach(),
        first_token.detach(),
        (right * labels).sum() / count,
    )


def _next_token(passes: Passes, targets: Targets, hidden: Tensor) -> Tensor:
    """Mean cross-entropy of each prompt token but the first, from the hidden states [B, P, H] before it."""
    position = torch.arange(hidden.shape[1], device=hidden.device)[None]
    inside = (position[:, 1:] < targets.lengths[:, None]).float()
    following, _ = passes.losses(hidden[:, :-1], targets.prompts[:, 1:])
    return (following * inside).sum() / inside.sum()
