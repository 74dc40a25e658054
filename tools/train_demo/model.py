"""The demo model's architecture: configuration, initial weights, and its two passes as plain functions.

The weights belong to transformers' ``DiffusionGemmaForBlockDiffusion``. Its own ``forward`` builds masks and caches
that depend on the data, which neither the ONNX exporter nor a captured CUDA graph can follow, so ``encode`` and
``denoise`` here call the same layers directly. ``tests/parity`` proves that they equal the stock forward.

Letters in shapes: B batch, P prompt tokens, C canvas tokens, V vocabulary, H hidden, E experts, I expert width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

MASKED = -1e9  # added to the attention score of a forbidden key


@dataclass(frozen=True)
class Size:
    """The numbers that decide how large the demo model is (defaults: what ships)."""

    vocabulary: int = 4096
    hidden: int = 192
    layers: int = 6
    heads: int = 6
    head_width: int = 32  # of sliding layers
    global_head_width: int = 64  # of full layers
    mlp: int = 256
    experts: int = 4
    experts_per_token: int = 2
    expert_width: int = 96
    window: int = 512
    canvas: int = 64


def build_config(size: Size) -> DiffusionGemmaConfig:
    """The transformers configuration; sliding and full attention layers alternate and the last one is full.

    The vision tower is demanded by the architecture; it is as small as it can be and is never used.
    """
    kinds = ["sliding_attention" if i % 2 == 0 else "full_attention" for i in range(size.layers)]
    text = {
        "vocab_size": size.vocabulary,
        "hidden_size": size.hidden,
        "intermediate_size": size.mlp,
        "num_hidden_layers": size.layers,
        "layer_types": kinds,
        "num_attention_heads": size.heads,
        "num_key_value_heads": 2,
        "head_dim": size.head_width,
        "global_head_dim": size.global_head_width,
        "num_global_key_value_heads": 1,
        "sliding_window": size.window,
        "num_experts": size.experts,
        "top_k_experts": size.experts_per_token,
        "moe_intermediate_size": size.expert_width,
        "max_position_embeddings": 8192,
        "use_bidirectional_attention": "vision",
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "patch_size": 16,
        "position_embedding_size": 64,
    }
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        canvas_length=size.canvas,
        boi_token_id=size.vocabulary - 3,
        eoi_token_id=size.vocabulary - 2,
        image_token_id=size.vocabulary - 1,
    )


def dense_experts(module: Any, hidden: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Tensor:
    """All experts on every token, weighted by a dense [tokens, E] routing matrix.

    With four experts this is faster than gathering, and it has no data-dependent shape, so it can be exported and
    captured.

    Args:
        module: transformers' experts module.
        hidden: [tokens, H].
        top_k_index: [tokens, K], the chosen experts.
        top_k_weights: [tokens, K], their weights.
    """
    tokens, width = hidden.shape
    experts, inner = module.num_experts, module.intermediate_dim
    gates = torch.zeros(tokens, experts, dtype=top_k_weights.dtype, device=hidden.device)
    gates = gates.scatter(1, top_k_index, top_k_weights)
    up_weights = module.gate_up_proj.reshape(experts * 2 * inner, width)
    gate, up = torch.nn.functional.linear(hidden, up_weights).view(tokens, experts, 2 * inner).chunk(2, dim=-1)
    mixed = module.act_fn(gate) * up * gates.unsqueeze(-1).to(hidden.dtype)
    down_weights = module.down_proj.transpose(1, 2).reshape(experts * inner, width)
    result: Tensor = torch.matmul(mixed.reshape(tokens, experts * inner), down_weights)
    return result


ALL_EXPERTS_FUNCTIONS.register("dense", dense_experts)


def use_traceable_kernels(model: DiffusionGemmaForBlockDiffusion, attention: str) -> None:
    """Dense experts and the named attention ("eager" for export, "sdpa" for training)."""
    model.set_experts_implementation("dense")
    model.set_attn_implementation(attention)


def text_parameters(model: DiffusionGemmaForBlockDiffusion) -> dict[str, torch.nn.Parameter]:
    """The parameters that text goes through: everything but the vision tower and its embedder."""
    return {name: p for name, p in model.named_parameters() if "vision" not in name}


@torch.no_grad()
def initialise(model: DiffusionGemmaForBlockDiffusion, post_norm: float = 0.5) -> None:
    """Weights that can be trained from scratch.

    transformers' defaults are meant to be overwritten by a checkpoint: with attention scaling fixed at 1 and norms of
    1 the first attention scores have a standard deviation of sqrt(head width) and the post-norms drown the embeddings.
    """
    width = model.config.text_config.hidden_size
    model.model.decoder.embed_tokens.weight.normal_(0, width**-0.5)
    for name, p in text_parameters(model).items():
        if name.endswith(("q_norm.weight", "k_norm.weight")):
            p.fill_(p.shape[0] ** -0.25)
        elif name.endswith(("post_attention_layernorm.weight", "post_feedforward_layernorm.weight")):
            p.fill_(post_norm)
        elif p.dim() >= 2 and "embed" not in name and "lm_head" not in name:
            p.normal_(0, p.shape[-1] ** -0.5)
    for kind, layer in zip(model.config.text_config.layer_types, model.model.decoder.layers, strict=True):
        if kind == "full_attention":  # mostly position-free: start with queries close to keys, so that equals attract
            key, query = layer.self_attn.k_proj.weight, layer.self_attn.q_proj.weight
            query.copy_(0.8 * key.repeat(query.shape[0] // key.shape[0], 1) + 0.6 * query)


class _Layer:
    keys: Tensor
    values: Tensor


class Prefix:
    """Stands in for transformers' cache: the encoder writes keys and values of all layers, the decoder reads them."""

    is_compileable = False

    def __init__(self, layers: int) -> None:
        self.layers = [_Layer() for _ in range(layers)]

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """What the encoder's attention calls to store its keys and values [B, heads, P, width]."""
        self.layers[layer].keys, self.layers[layer].values = keys, values
        return keys, values

    def get_seq_length(self, *_: Any, **__: Any) -> int:
        """Always 0: a prompt is encoded in one piece."""
        return 0


def encode(model: DiffusionGemmaForBlockDiffusion, prompt_ids: Tensor) -> tuple[list[Tensor], Tensor]:
    """The causal pass over the prompt.

    Args:
        prompt_ids: [B, P] int64; padding, if any, at the right, where a causal pass cannot see it.

    Returns:
        Keys and values of all layers, [k0, v0, k1, v1, ...], each [B, heads, P, width] (sliding layers keep the last
        window - 1), and the last hidden state [B, P, H].
    """
    config = model.config.text_config
    position = torch.arange(prompt_ids.shape[1], device=prompt_ids.device)
    distance = position[:, None] - position[None, :]
    full = distance >= 0
    near = full & (distance < config.sliding_window)
    kind = model.lm_head.weight.dtype
    masks = {
        "full_attention": torch.where(full, 0.0, MASKED)[None, None].to(kind),
        "sliding_attention": torch.where(near, 0.0, MASKED)[None, None].to(kind),
    }
    prefix = Prefix(config.num_hidden_layers)
    hidden = model.model.encoder.language_model(
        input_ids=prompt_ids, attention_mask=masks, position_ids=position[None], past_key_values=prefix
    ).last_hidden_state
    kept: list[Tensor] = []
    for layer_type, layer in zip(config.layer_types, prefix.layers, strict=True):
        if layer_type == "sliding_attention":  # all that the decoder may see
            kept += [
                layer.keys[:, :, -(config.sliding_window - 1) :],
                layer.values[:, :, -(config.sliding_window - 1) :],
            ]
        else:
            kept += [layer.keys, layer.values]
    return kept, hidden


def denoise(
    model: DiffusionGemmaForBlockDiffusion,
    canvas_ids: Tensor,
    previous: Tensor,
    prompt_length: Tensor,
    prefix: Sequence[Tensor],
    mask: Tensor | None = None,
) -> Tensor:
    """One bidirectional pass over the canvas.

    Args:
        canvas_ids: [B, C] int64.
        previous: [B, C, V] probabilities of the step before (self-conditioning); zeros are exactly "no step before".
        prompt_length: [B] or [1] int64: canvas positions continue from here.
        prefix: what ``encode`` returned; a batch of 1 serves all B canvases.
        mask: None, or [B, 1, 1, P + C] added to attention scores (``MASKED`` at padded prompt positions).

    Returns:
        Soft-capped logits [B, C, V].
    """
    config, decoder = model.config.text_config, model.model.decoder
    batch, length = canvas_ids.shape
    store = Prefix(config.num_hidden_layers)
    for i, layer in enumerate(store.layers):
        layer.keys = prefix[2 * i].expand(batch, -1, -1, -1)
        layer.values = prefix[2 * i + 1].expand(batch, -1, -1, -1)
    scale = decoder.embed_tokens.embed_scale
    soft = torch.matmul(previous.to(decoder.embed_tokens.weight.dtype), decoder.embed_tokens.weight) * scale
    hidden = decoder.self_conditioning(decoder.embed_tokens(canvas_ids), soft.to(decoder.embed_tokens.weight.dtype))
    position = torch.arange(length, device=canvas_ids.device)[None] + prompt_length[:, None]
    rope = {kind: decoder.rotary_emb(hidden, position, kind) for kind in decoder.unique_layer_types}
    for kind, layer in zip(config.layer_types, decoder.layers, strict=True):
        hidden = layer(
            hidden,
            position_embeddings=rope[kind],
            attention_mask=mask,
            position_ids=position,
            past_key_values=store,
        )
    return head(model, decoder.norm(hidden))


def head(model: DiffusionGemmaForBlockDiffusion, hidden: Tensor) -> Tensor:
    """Soft-capped float32 logits [..., V] of hidden states [..., H] through the tied embedding."""
    cap = model.config.text_config.final_logit_softcapping
    logits = model.lm_head(hidden).float()
    return torch.tanh(logits / cap) * cap
