"""Muon for the matrices, Adam for embeddings and norms: the pair that trains this model from scratch in minutes.

Muon replaces a matrix's momentum by the nearest (semi-)orthogonal matrix, found by a Newton-Schulz iteration (Jordan
et al., 2024). AdamW alone stayed at chance for the first thousands of examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    def step(self, rate: Tensor) -> None:
        """One update with a 0-dimensional rate; all matrices of a shape are orthogonalised together."""
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
            updates = [
                part.reshape(self.parameters[i].shape).contiguous() for i, part in zip(members, parts, strict=True)
            ]
            torch._foreach_mul_(updates, rate * -scale)
            torch._foreach_add_([self.parameters[i] for i in members], updates)


class Optimiser:
    """Muon and Adam with one learning-rate scale; on a GPU the whole update is one captured CUDA graph."""

    FIRST_EAGER = 3  # updates before the capture, in which Adam makes its state

    def __init__(
        self, named: dict[str, nn.Parameter], muon_rate: float, adam_rate: float, clip: float, graphs: bool
    ) -> None:
        matrices, rest = split_parameters(named)
        self.parameters = list(named.values())
        device = self.parameters[0].device
        self.muon_rate, self.adam_rate, self.clip, self.graphs = muon_rate, adam_rate, clip, graphs
        self.scale = torch.zeros((), device=device)
        self._rate = torch.zeros((), device=device)
        on_gpu = device.type == "cuda"
        self.muon = Muon(matrices)
        self.adam = torch.optim.AdamW(
            rest,
            lr=self._rate if on_gpu else adam_rate,
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=on_gpu,
            capturable=on_gpu,
        )
        self._graph: torch.cuda.CUDAGraph | None = None
        self._updates = 0

    def step(self, scale: float) -> None:
        """One update from the parameters' gradients; ``scale`` multiplies both rates."""
        self.scale.fill_(scale)
        self._updates += 1
        if not self.graphs or self._updates <= self.FIRST_EAGER:
            self._apply(scale)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._apply(scale)
        self._graph.replay()

    def _apply(self, scale: float) -> None:
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self._rate.copy_(self.scale * self.adam_rate)
        for group in self.adam.param_groups:
            if not isinstance(group["lr"], Tensor):
                group["lr"] = scale * self.adam_rate
        self.adam.step()
        self.muon.step(self.scale * self.muon_rate)

    def state(self) -> dict[str, Any]:
        """What resuming needs (Muon's momenta in half precision, to stay small)."""
        return {"adam": self.adam.state_dict()["state"], "muon": [buffer.bfloat16() for buffer in self.muon.buffers]}

    def load(self, state: dict[str, Any]) -> None:
        """What ``state`` returned."""
        groups = self.adam.state_dict()["param_groups"]
        self.adam.load_state_dict({"state": state["adam"], "param_groups": groups})
        for group in self.adam.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"] = self._rate
        for buffer, saved in zip(self.muon.buffers, state["muon"], strict=True):
            buffer.copy_(saved)


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
