"""Muon for the matrices, Adam for embeddings and norms: the pair that trains this model from scratch in minutes.

Muon replaces a matrix's momentum by the nearest (semi-)orthogonal matrix, found by a Newton-Schulz iteration (Jordan
et al., 2024). AdamW alone stayed at chance for the first thousands of examples.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

# Coefficients of the quintic iteration: steep near zero, so that five rounds are enough.
QUINTIC = (3.4445, -4.7750, 2.0315)
ROUNDS = 5


class Muon:
    """Orthogonalised momentum for 2-D matrices and stacks of them (experts)."""

    def __init__(self, parameters: Sequence[nn.Parameter], decay: float = 0.02, momentum: float = 0.95) -> None:
        self.parameters = list(parameters)
        self.decay, self.momentum = decay, momentum
        self.buffers = [torch.zeros_like(p) for p in self.parameters]
        self._shapes: dict[tuple[int, ...], list[int]] = {}
        for i, p in enumerate(self.parameters):
            self._shapes.setdefault(tuple(p.shape[-2:]), []).append(i)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update; all matrices of a shape are orthogonalised together."""
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        if len(gradients) != len(self.parameters):
            raise ValueError("a Muon parameter has no gradient")
        torch._foreach_lerp_(self.buffers, gradients, 1 - self.momentum)
        momenta = torch._foreach_lerp(gradients, self.buffers, self.momentum)
        torch._foreach_mul_(self.parameters, 1 - rate * self.decay)
        for (rows, columns), members in self._shapes.items():
            stacks = [momenta[i].reshape(-1, rows, columns) for i in members]
            flat = orthogonal(torch.cat(stacks))
            scale = max(1.0, rows / columns) ** 0.5
            parts = flat.split([stack.shape[0] for stack in stacks])
            updates = [part.reshape(self.parameters[i].shape) for i, part in zip(members, parts)]
            torch._foreach_add_([self.parameters[i] for i in members], updates, alpha=-rate * scale)


def orthogonal(stack: Tensor) -> Tensor:
    """Nearly orthogonal matrices with the same singular vectors, [N, rows, columns]."""
    a, b, c = QUINTIC
    tall = stack.shape[1] > stack.shape[2]
    x = stack.transpose(1, 2) if tall else stack
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ROUNDS):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.transpose(1, 2) if tall else x


def split_parameters(named: dict[str, nn.Parameter]) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """(matrices for Muon, everything else for Adam); the embedding is not a matrix in this sense."""
    matrices = [p for name, p in named.items() if p.dim() >= 2 and "embed_tokens" not in name]
    rest = [p for name, p in named.items() if p.dim() < 2 or "embed_tokens" in name]
    return matrices, rest
