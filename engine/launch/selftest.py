"""Numeric self-test of Marlin's FP8 kernels at every shard shape of DiffusionGemma, inside the engine's environment:

    <engine python> selftest.py [--tensor-parallel 1,2,4] [--device 0] [--rows 1,17,256,2048] [--plant wrong-pad]

Every dense matrix and the experts of one card are made from random FP8 weights, go through vLLM's own preparation and
kernels, and are compared with the same weights, unpacked, in float32. Weights are random, so this says nothing about a
model; it says whether the kernels compute what they should at these widths (352, 1056, 176, 528 are padded).

Writes one JSON object a line to stdout; vLLM's log goes to stderr. Events: ``start``, ``shape`` (one comparison),
``done``, ``error`` (nothing could be compared). Exit status: 0 all right, 1 a comparison failed, 2 nothing compared.
Standard library only until a card is used. ``--plant wrong-pad`` puts the zeros of the padding before the weights
instead of behind them: then every padded shape must fail, which shows that the comparison sees it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

PASSED, FAILED, NOT_RUN = 0, 1, 2
ROWS = (1, 17, 256, 2048)
"""Tokens at once: one, an odd number, a canvas, a batch."""
DENSE_LIMIT = 0.01
"""Relative error allowed of one product: bfloat16 rounds the output by up to 2**-9 = 0.2 %."""
MOE_LIMIT = 0.02
"""Of two products, an activation between them and a sum over experts, each rounded to bfloat16."""
FP8_MAX = 448.0
_UTILS = "vllm.model_executor.layers.quantization.utils"
_MOE_MODULES = (
    "vllm.model_executor.layers.fused_moe.experts.marlin_moe",
    "vllm.model_executor.layers.fused_moe.fused_marlin_moe",
)


class CannotTest(Exception):
    """There is nothing to compare with: no card, no vLLM, or one whose functions have moved."""


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison. ``n`` outputs and ``k`` inputs of one card, before padding; experts: ``k`` is their width."""

    kind: str
    name: str
    tensor_parallel: int
    n: int
    k: int
    rows: int


def shapes() -> ModuleType:
    """``shapes.py`` beside this file, loaded by its path: the package around it is not installed here."""
    name = "diffusion_desk_shapes"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("shapes.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def cases(sizes: Sequence[int], rows: Sequence[int]) -> Iterator[Case]:
    """Every comparison for these tensor parallel sizes; equal shapes once."""
    model = shapes()
    seen: set[tuple[str, int, int]] = set()
    for tp in sizes:
        found = [("dense", shard.name, shard.n, shard.k) for shard in model.dense_shards(tp)]
        found.append(("experts", "experts", model.HIDDEN, model.MOE_INTERMEDIATE // tp))
        for kind, name, n, k in found:
            if (kind, n, k) in seen:
                continue
            seen.add((kind, n, k))
            yield from (Case(kind, name, tp, n, k, count) for count in rows)


class Bench:
    """vLLM's functions on one card."""

    def __init__(self, device: int, experts: int) -> None:
        self.torch = _module("torch")
        if not self.torch.cuda.is_available():
            raise CannotTest("torch sees no CUDA card")
        if device >= self.torch.cuda.device_count():
            raise CannotTest(f"there is no card {device}; torch sees {self.torch.cuda.device_count()}")
        self.torch.cuda.set_device(device)
        self.torch.backends.cuda.matmul.allow_tf32 = False
        self.device = self.torch.device("cuda", device)
        self.experts = experts
        self.utils = _module(f"{_UTILS}.marlin_utils")
        self.fp8 = _module(f"{_UTILS}.marlin_utils_fp8")
        self.moe = _first_module(_MOE_MODULES)
        self.quant_type = _module("vllm.scalar_type").scalar_types.float8_e4m3fn.id
        for module, names in (
            (self.fp8, ("prepare_fp8_layer_for_marlin", "prepare_fp8_moe_layer_for_marlin", "apply_fp8_marlin_linear")),
            (self.moe, ("fused_marlin_moe",)),
        ):
            for name in names:
                if not hasattr(module, name):
                    raise CannotTest(f"this vLLM has no {name} in {module.__name__}")
        self.random = self.torch.Generator(device=self.device)
        self.random.manual_seed(20_260_000 + device)

    def describe(self) -> dict[str, Any]:
        properties = self.torch.cuda.get_device_properties(self.device)
        return {
            "device": self.device.index,
            "name": properties.name,
            "capability": [properties.major, properties.minor],
            "torch": self.torch.__version__,
            "vllm": _module("vllm.version").__version__,
        }

    def plant_wrong_pad(self) -> None:
        """Put the zeros before the weights, and leave everything else as it is."""
        pad = self.torch.nn.functional.pad

        def dense(weight: Any, size_n: int, size_k: int, padded_n: int, padded_k: int) -> Any:
            pack = size_k // weight.size(0)
            return pad(weight, (padded_n - size_n, 0, (padded_k - size_k) // pack, 0))

        def experts(values: Any, n: int, padded_n: int) -> Any:
            return pad(values, (padded_n - n, 0))

        for name, function in (("marlin_pad_qweight", dense), ("_moe_pad_last", experts)):
            if not hasattr(self.fp8, name):
                raise CannotTest(f"this vLLM has no {name}: the fault cannot be planted")
            setattr(self.fp8, name, function)

    def compare(self, case: Case) -> dict[str, Any]:
        """Run one case. Raises whatever the kernels raise."""
        run: Callable[[Case], tuple[Any, Any, int, int]] = self._dense if case.kind == "dense" else self._experts
        got, wanted, padded_n, padded_k = run(case)
        self.torch.cuda.synchronize()
        got = got.float()
        finite = bool(self.torch.isfinite(got).all())
        error = float((got - wanted).norm() / wanted.norm()) if finite else float("inf")
        limit = DENSE_LIMIT if case.kind == "dense" else MOE_LIMIT
        expected = self._expected_padding(case)
        fields: dict[str, Any] = {
            "padded": [padded_n, padded_k],
            "error": error if finite else None,
            "limit": limit,
            "ok": finite and error <= limit and (padded_n, padded_k) == expected,
        }
        if (padded_n, padded_k) != expected:
            fields["message"] = f"padded to {padded_n} x {padded_k}, {expected[0]} x {expected[1]} was expected"
        elif not finite:
            fields["message"] = "the result holds values that are no numbers"
        return fields

    def _expected_padding(self, case: Case) -> tuple[int, int]:
        if case.kind == "dense":
            n, k = shapes().marlin_dense_pad(case.n, case.k)
            return int(n), int(k)
        return case.n, int(shapes().marlin_moe_pad(case.k))

    def _dense(self, case: Case) -> tuple[Any, Any, int, int]:
        torch = self.torch
        weight, scale = self._quantised(case.n, case.k)
        inputs = self._normal(case.rows, case.k).to(torch.bfloat16)
        wanted = inputs.float() @ self._unpacked(weight, scale).T
        layer = torch.nn.Module()
        layer.weight = torch.nn.Parameter(weight.T, requires_grad=False)
        layer.weight_scale = torch.nn.Parameter(scale, requires_grad=False)
        layer.output_size_per_partition, layer.input_size_per_partition = case.n, case.k
        layer.logical_widths = [case.n]
        layer.orig_dtype, layer.weight_block_size = torch.bfloat16, None
        self.fp8.prepare_fp8_layer_for_marlin(layer, True)
        got = self.fp8.apply_fp8_marlin_linear(
            input=inputs,
            weight=layer.weight,
            weight_scale=layer.weight_scale,
            workspace=self._workspace(),
            size_n=case.n,
            size_k=case.k,
            bias=None,
        )
        # A packed weight has 16 rows of the matrix in one of its own, and four values in an int32.
        return got, wanted, layer.weight.size(1) * 4 // 16, layer.weight.size(0) * 16

    def _experts(self, case: Case) -> tuple[Any, Any, int, int]:
        torch, hidden, width = self.torch, case.n, case.k
        up = [self._quantised(2 * width, hidden) for _ in range(self.experts)]
        down = [self._quantised(hidden, width) for _ in range(self.experts)]
        inputs = self._normal(case.rows, hidden).to(torch.bfloat16)
        shares, chosen = self._routing(case.rows)
        layer = SimpleNamespace(
            num_experts=self.experts,
            local_num_experts=self.experts,
            hidden_size=hidden,
            intermediate_size_per_partition=width,
            orig_dtype=torch.bfloat16,
            weight_block_size=None,
        )
        packed_up, packed_down, scale_up, scale_down = self.fp8.prepare_fp8_moe_layer_for_marlin(
            layer,
            self._stacked([weight for weight, _ in up]),
            self._stacked([weight for weight, _ in down]),
            torch.stack([scale for _, scale in up]),
            torch.stack([scale for _, scale in down]),
        )
        got = self.moe.fused_marlin_moe(
            hidden_states=inputs,
            w1=packed_up,
            w2=packed_down,
            bias1=None,
            bias2=None,
            w1_scale=scale_up,
            w2_scale=scale_down,
            topk_weights=shares,
            topk_ids=chosen,
            quant_type_id=self.quant_type,
            global_num_experts=self.experts,
            activation=self.moe.MoEActivation.GELU_TANH,
        )
        wanted = self._experts_reference(inputs, up, down, shares, chosen)
        return got, wanted, packed_down.size(2) * 4 // 16, packed_down.size(1) * 16

    def _experts_reference(
        self, inputs: Any, up: Sequence[tuple[Any, Any]], down: Sequence[tuple[Any, Any]], shares: Any, chosen: Any
    ) -> Any:
        """The same in float32, expert by expert: gate and up, tanh GELU, down, weighted sum."""
        torch = self.torch
        wanted = torch.zeros(inputs.shape, dtype=torch.float32, device=self.device)
        for expert in range(self.experts):
            rows, slots = (chosen == expert).nonzero(as_tuple=True)
            if rows.numel() == 0:
                continue
            gate, linear = (inputs[rows].float() @ self._unpacked(*up[expert]).T).chunk(2, dim=-1)
            middle = torch.nn.functional.gelu(gate, approximate="tanh") * linear
            product = middle @ self._unpacked(*down[expert]).T
            wanted.index_add_(0, rows, product * shares[rows, slots].unsqueeze(1))
        return wanted

    def _routing(self, rows: int) -> tuple[Any, Any]:
        count = min(shapes().EXPERTS_PER_TOKEN, self.experts)
        scores, chosen = self._normal(rows, self.experts).topk(count, dim=-1)
        return scores.softmax(dim=-1).float(), chosen.to(self.torch.int32)

    def _quantised(self, n: int, k: int) -> tuple[Any, Any]:
        """(FP8 weight of shape (n, k), float32 scale of shape (n, 1))."""
        weight = self._normal(n, k) / k**0.5
        scale = weight.abs().amax(dim=1, keepdim=True) / FP8_MAX
        # The layer keeps its scales in bfloat16, so that rounding is no error of the kernel.
        scale = scale.to(self.torch.bfloat16).float()
        return (weight / scale).clamp(-FP8_MAX, FP8_MAX).to(self.torch.float8_e4m3fn), scale

    def _stacked(self, weights: Sequence[Any]) -> Any:
        """As bytes: not every torch stacks FP8."""
        return self.torch.stack([weight.view(self.torch.uint8) for weight in weights]).view(self.torch.float8_e4m3fn)

    def _unpacked(self, weight: Any, scale: Any) -> Any:
        return weight.float() * scale

    def _normal(self, *shape: int) -> Any:
        return self.torch.randn(*shape, generator=self.random, device=self.device, dtype=self.torch.float32)

    def _workspace(self) -> Any:
        if hasattr(self.utils, "get_marlin_workspace"):
            return None  # the kernel takes its own
        return self.utils.marlin_make_workspace_new(self.device, 4)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CannotTest(f"cannot import {name}: {error}") from error


def _first_module(names: Sequence[str]) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise CannotTest(f"this vLLM has none of {', '.join(names)}")


def run(arguments: argparse.Namespace, say: Callable[[dict[str, Any]], None]) -> int:
    """All cases on one card. Returns the exit status."""
    bench = Bench(arguments.device, arguments.experts)
    say({"event": "start", **bench.describe(), "planted": arguments.plant})
    if arguments.plant:
        bench.plant_wrong_pad()
    count = failed = 0
    for case in cases(arguments.tensor_parallel, arguments.rows):
        fields: dict[str, Any] = {
            "event": "shape",
            "kind": case.kind,
            "name": case.name,
            "tensor_parallel": case.tensor_parallel,
            "n": case.n,
            "k": case.k,
            "rows": case.rows,
        }
        try:
            fields |= bench.compare(case)
        except Exception as error:  # noqa: BLE001  # a kernel that refuses a shape is the finding; the others go on
            fields |= {"ok": False, "message": f"{type(error).__name__}: {error}"}
        count, failed = count + 1, failed + (not fields["ok"])
        say(fields)
    say({"event": "done", "compared": count, "failed": failed, "ok": failed == 0})
    return FAILED if failed else PASSED


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Marlin FP8 against float32 at every shard shape of DiffusionGemma.")
    parser.add_argument("--tensor-parallel", type=_numbers, default=(1, 2, 4), metavar="N,N")
    parser.add_argument("--rows", type=_numbers, default=ROWS, metavar="N,N", help="tokens at once")
    parser.add_argument("--device", type=int, default=0, help="number of the card among the visible ones")
    parser.add_argument("--experts", type=int, default=16, help="experts of the test; the model has 128")
    parser.add_argument("--plant", choices=("wrong-pad",), help="a fault that must be found")
    return parser.parse_args(arguments)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def main(arguments: Sequence[str] | None = None) -> int:
    """Keeps stdout for the JSON lines: vLLM logs to stdout, so everything else is led to stderr."""
    parsed = parse(arguments)
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as lines:
        os.dup2(2, 1)

        def say(fields: dict[str, Any]) -> None:
            lines.write(json.dumps(fields) + "\n")
            lines.flush()

        try:
            return run(parsed, say)
        except CannotTest as error:
            say({"event": "error", "message": str(error)})
            return NOT_RUN
        except Exception as error:  # noqa: BLE001  # the caller reads JSON, not a traceback
            say({"event": "error", "message": f"{type(error).__name__}: {error}"})
            return NOT_RUN


if __name__ == "__main__":
    sys.exit(main())
