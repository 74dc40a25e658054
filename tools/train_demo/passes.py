"""The model's two passes for training: the same layers as ``model.encode`` and ``model.denoise``, in few kernels.

The passes are plain functions of tensors, so that torch.compile can fuse them (on a GPU a step takes half of the time).
``tests/tools`` proves that they equal the passes of ``model``.

Letters in shapes: B batch, P prompt tokens, C canvas tokens, V vocabulary, H hidden, E experts, I expert width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import DiffusionGemmaForBlockDiffusion

Function = Callable[..., Any]
VARIANTS = 64  # compiled forms of one function: two widths of heads, causal or not, with gradients or not, new shapes
WEIGHTS = (
    "input_layernorm.weight", "self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.q_norm.weight",
    "self_attn.k_norm.weight", "self_attn.o_proj.weight", "post_attention_layernorm.weight",
    "pre_feedforward_layernorm.weight", "mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight",
    "post_feedforward_layernorm_1.weight", "pre_feedforward_layernorm_2.weight", "router.scale", "router.proj.weight",
    "router.per_expert_scale", "experts.gate_up_proj", "experts.down_proj", "post_feedforward_layernorm_2.weight",
    "post_feedforward_layernorm.weight",
)  # fmt: skip


def _norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    return functional.rms_norm(x, (x.shape[-1],), weight, eps)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos.unsqueeze(2) + turned * sin.unsqueeze(2)


def _gelu(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def _experts(x: Tensor, weights: Sequence[Tensor], eps: float, chosen: int) -> Tensor:
    """Routing and all experts on flat tokens [T, H]; see ``model.dense_experts``."""
    norm, scale, project, per_expert, up_all, down_all = weights
    experts, double, width = up_all.shape
    routed = _norm(x, None, eps) * scale * width**-0.5
    probabilities = torch.softmax(functional.linear(routed, project), -1, dtype=torch.float32)
    top, index = torch.topk(probabilities, chosen, -1)
    top = top / top.sum(-1, keepdim=True) * per_expert[index]
    gates = torch.zeros_like(probabilities).scatter(1, index, top)
    both = functional.linear(_norm(x, norm, eps), up_all.reshape(experts * double, width))
    gate, up = both.view(-1, experts, double).chunk(2, dim=-1)
    mixed = _gelu(gate) * up * gates.unsqueeze(-1).to(x.dtype)
    return mixed.reshape(x.shape[0], -1) @ down_all.transpose(1, 2).reshape(-1, width)


def _layer(width: int, chosen: int, eps: float, causal: bool) -> Function:
    """One layer as a function of tensors; ``width`` of a head, ``chosen`` experts per token."""

    def run(
        hidden: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None, keys: Tensor | None, values: Tensor | None,
        value_weight: Tensor | None, w: Sequence[Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        batch, length, size = hidden.shape
        x = _norm(hidden, w[0], eps)
        q = functional.linear(x, w[1]).view(batch, length, -1, width)
        k = functional.linear(x, w[2]).view(batch, length, -1, width)
        v = k if value_weight is None else functional.linear(x, value_weight).view(batch, length, -1, width)
        q = _rotate(_norm(q, w[3], eps), cos, sin).transpose(1, 2)
        k = _rotate(_norm(k, w[4], eps), cos, sin).transpose(1, 2)
        v = _norm(v, None, eps).transpose(1, 2)
        own = (k, v)
        if keys is not None and values is not None:
            k, v = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        groups = q.shape[1] // k.shape[1]
        k, v = (t.unsqueeze(2).expand(-1, -1, groups, -1, -1).flatten(1, 2) for t in (k, v))
        attended = functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=1.0)
        attended = functional.linear(attended.transpose(1, 2).reshape(batch, length, -1), w[5])
        hidden = hidden + _norm(attended, w[6], eps)
        x = _norm(hidden, w[7], eps)
        dense = functional.linear(_gelu(functional.linear(x, w[8])) * functional.linear(x, w[9]), w[10])
        mixed = _experts(hidden.reshape(-1, size), w[12:18], eps, chosen).view(batch, length, size)
        both = _norm(dense, w[11], eps) + _norm(mixed, w[18], eps)
        return hidden + _norm(both, w[19], eps), *own

    return run


def _soft_embedding(cap: float) -> Function:
    def run(hidden: Tensor, embedding: Tensor, temperature: Tensor, used: Tensor) -> Tensor:
        logits = functional.linear(hidden, embedding).float()
        p = torch.softmax(torch.tanh(logits / cap) * (cap / temperature), -1) * used
        return p.to(embedding.dtype) @ embedding

    return run


def _cross_entropy(cap: float) -> Function:
    def run(hidden: Tensor, embedding: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.tanh(functional.linear(hidden, embedding).float() / cap) * cap
        losses = torch.logsumexp(logits, -1) - logits.gather(1, targets.unsqueeze(1)).squeeze(1)
        return losses, (logits.detach().argmax(-1) == targets).float()

    return run


def _condition(eps: float, scale: float) -> Function:
    def run(embedded: Tensor, soft: Tensor, pre: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
        x = _norm(soft * scale, pre, eps)
        signal = functional.linear(_gelu(functional.linear(x, gate)) * functional.linear(x, up), down)
        return _norm(embedded + signal, None, eps)

    return run


class Passes:
    """The passes of one model; ``compiled`` fuses their kernels.

    Padding of prompts stands at the right; the causal pass cannot see it and ``decode`` is told by a mask.
    """

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, compiled: bool = False) -> None:
        if compiled:
            torch._dynamo.config.recompile_limit = VARIANTS
        config = model.config.text_config
        self.model, self.config, self.decoder = model, config, model.model.decoder
        make: Callable[[Function], Function] = (
            (lambda f: torch.compile(f, dynamic=True, fullgraph=True)) if compiled else (lambda f: f)
        )
        eps, cap = config.rms_norm_eps, config.final_logit_softcapping
        widths = {
            kind: layer.self_attn.head_dim for kind, layer in zip(config.layer_types, self.decoder.layers, strict=True)
        }
        self._layers = {
            (kind, causal): make(_layer(width, config.top_k_experts, eps, causal))
            for kind, width in widths.items()
            for causal in (True, False)
        }
        self._soft = make(_soft_embedding(cap))
        self._losses = make(_cross_entropy(cap))
        self._scale = float(config.hidden_size**0.5)
        self._embedding_scale = float(torch.tensor(self._scale).to(model.lm_head.weight.dtype))
        self._condition = make(_condition(eps, self._scale))
        self._eps = eps
        named = [dict(layer.named_parameters()) for layer in self.decoder.layers]
        self._weights = [tuple(parameters[name] for name in WEIGHTS) for parameters in named]
        self._values = [parameters.get("self_attn.v_proj.weight") for parameters in named]

    def _rope(self, hidden: Tensor, position: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        return {kind: self.decoder.rotary_emb(hidden, position, kind) for kind in self.decoder.unique_layer_types}

    def embed(self, ids: Tensor) -> Tensor:
        """[.., H]"""
        weight = self.decoder.embed_tokens.weight
        return functional.embedding(ids, weight) * self._embedding_scale

    def encode(self, prompt_ids: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """Keys and values of all layers, and the last hidden state [B, P, H]; P is at most the sliding window."""
        hidden = self.embed(prompt_ids)
        rope = self._rope(hidden, torch.arange(prompt_ids.shape[1], device=prompt_ids.device)[None])
        prefix = []
        for kind, weights, value in zip(self.config.layer_types, self._weights, self._values, strict=True):
            hidden, k, v = self._layers[kind, True](hidden, *rope[kind], None, None, None, value, weights)
            prefix.append((k, v))
        return prefix, _norm(hidden, self.model.model.encoder.language_model.norm.weight, self._eps)

    def decode(
        self, canvas: Tensor, soft: Tensor, lengths: Tensor, prefix: Sequence[tuple[Tensor, Tensor]], mask: Tensor
    ) -> Tensor:
        """The canvas' last hidden state [B, C, H].

        Args:
            soft: [B, C, H], what ``soft_embedding`` returned, or zeros.
            lengths: [B]: canvas positions continue from here.
            mask: [B, 1, C, P + C], added to attention scores.
        """
        own = self.decoder.self_conditioning
        hidden = self._condition(
            self.embed(canvas),
            soft,
            own.pre_norm.weight,
            own.gate_proj.weight,
            own.up_proj.weight,
            own.down_proj.weight,
        )
        rope = self._rope(hidden, torch.arange(canvas.shape[1], device=canvas.device)[None] + lengths[:, None])
        for i, kind in enumerate(self.config.layer_types):
            hidden, _, _ = self._layers[kind, False](
                hidden, *rope[kind], mask, *prefix[i], self._values[i], self._weights[i]
            )
        return _norm(hidden, self.decoder.norm.weight, self._eps)

    def soft_embedding(self, hidden: Tensor, temperature: Tensor, used: Tensor) -> Tensor:
        """What a canvas that was predicted from ``hidden`` [B, C, H] feeds back, without the embedding's scale."""
        shown: Tensor = self._soft(hidden, self.model.lm_head.weight, temperature, used)
        return shown

    def losses(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy and whether the most likely token is right, [B, C] each, of hidden states [B, C, H]."""
        flat = self._losses(hidden.flatten(0, -2), self.model.lm_head.weight, targets.flatten())
        loss, right = (part.view(targets.shape) for part in flat)
        return loss, right
