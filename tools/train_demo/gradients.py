"""Forward and backward passes: optional bfloat16 working copy of the weights, optional CUDA graphs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import nn

from tools.train_demo.losses import Losses, Targets, losses
from tools.train_demo.passes import Passes


class Masters:
    """float32 weights for the optimisers; the model computes in bfloat16 copies of them, or in themselves.

    Attributes:
        parameters: the float32 weights by name, with a gradient each.
    """

    def __init__(self, working: dict[str, nn.Parameter], half: bool) -> None:
        self._working = list(working.values())
        self._half = half
        if half:
            self.parameters = {name: nn.Parameter(p.detach().clone()) for name, p in working.items()}
            for p in self._working:
                p.data = p.data.bfloat16()
        else:
            self.parameters = working
        for p in (*self._working, *self.parameters.values()):
            p.grad = torch.zeros_like(p)

    @torch.no_grad()
    def take_gradients(self) -> None:
        """From the working copy."""
        if self._half:
            torch._foreach_copy_([p.grad for p in self.parameters.values()], [p.grad for p in self._working])

    @torch.no_grad()
    def give_weights(self) -> None:
        """To the working copy."""
        if self._half:
            torch._foreach_copy_(self._working, list(self.parameters.values()))

    def clear(self) -> None:
        """Zeroes the working copy's gradients in place."""
        torch._foreach_zero_([p.grad for p in self._working])


@dataclass(frozen=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    inputs: Targets
    result: Losses


class Gradients:
    """Leaves gradients in the masters; on a GPU each shape of batch is captured once as a CUDA graph and replayed."""

    def __init__(self, passes: Passes, vocabulary: int, masters: Masters, graphs: bool, prompts: bool = True) -> None:
        self.passes, self.vocabulary, self.masters, self.graphs = passes, vocabulary, masters, graphs
        self.prompts = prompts
        self._captured: dict[tuple[int, ...], _Captured] = {}
        self._pool: Any = None

    def _once(self, targets: Targets) -> Losses:
        self.masters.clear()
        result = losses(self.passes, targets, self.vocabulary, self.prompts)
        result.total.backward()
        self.masters.take_gradients()
        return replace(result, total=result.total.detach())

    def __call__(self, targets: Targets) -> Losses:
        """The losses, valid until the next call."""
        if not self.graphs:
            return self._once(targets)
        shape = (*targets.prompts.shape, targets.canvases.shape[1])
        if shape not in self._captured:
            self._captured[shape] = self._capture(targets)
        captured = self._captured[shape]
        for field in fields(Targets):
            getattr(captured.inputs, field.name).copy_(getattr(targets, field.name))
        captured.graph.replay()
        return captured.result

    def _capture(self, targets: Targets) -> _Captured:
        inputs = Targets(*(getattr(targets, field.name).clone() for field in fields(Targets)))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self._once(inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            result = self._once(inputs)
        self._pool = graph.pool()
        return _Captured(graph, inputs, result)
