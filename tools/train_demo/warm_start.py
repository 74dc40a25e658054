"""Starting from the weights of an earlier model, also when the vocabulary is another one."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import DiffusionGemmaForBlockDiffusion

from tools.train_demo.model import text_parameters

EMBEDDING = "embed_tokens.weight"
NOISE = 0.3  # of the spread of the old embeddings, on the mean of a new token's old pieces: else twins would stay twins


@torch.no_grad()
def start_from(
    model: DiffusionGemmaForBlockDiffusion, learned: Tokenizer, folder: Path, temperature: float = 1.0
) -> None:
    """Copies the weights of the model in ``folder`` into ``model``.

    A token that the old vocabulary has keeps its embedding; another one gets the mean of the old tokens that its text
    was cut into, and some noise.

    Args:
        temperature: what ``export`` divided the last norm by; training goes on from the undivided one.

    Raises:
        ValueError: the two models differ in more than the vocabulary.
    """
    old = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32)
    old_tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    sources = text_parameters(old)
    for name, parameter in text_parameters(model).items():
        if name.endswith(EMBEDDING):
            parameter.copy_(_embeddings(sources[name], parameter, old_tokenizer, learned))
        elif parameter.shape != sources[name].shape:
            raise ValueError(f"{folder}: {name} is {tuple(sources[name].shape)}, not {tuple(parameter.shape)}")
        else:
            parameter.copy_(sources[name])
    model.model.decoder.norm.weight.mul_(temperature)


def _embeddings(
    source: torch.Tensor, target: torch.Tensor, old_tokenizer: Tokenizer, learned: Tokenizer
) -> torch.Tensor:
    rows = target.clone()
    generator = torch.Generator().manual_seed(0)
    spread = source.std() * NOISE
    known = old_tokenizer.get_vocab()
    for token, i in learned.get_vocab().items():
        if token in known:
            rows[i] = source[known[token]]
            continue
        pieces = old_tokenizer.encode(token.replace("▁", " "), add_special_tokens=False).ids
        if pieces:
            noise = torch.randn(source.shape[1], generator=generator) * spread
            rows[i] = source[pieces].mean(0) + noise
    return rows
