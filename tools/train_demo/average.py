"""The weighted mean of two checkpoints of one training line, parameter by parameter.

    python -m tools.train_demo.average FIRST SECOND OUT --share 0.65 --first-temperature 1.5

The second one must have been trained from the first one (or both from a third), with the same vocabulary: only then
does the mean of the weights keep what both can do.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from transformers import DiffusionGemmaForBlockDiffusion

from tools.train_demo.model import text_parameters

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


@torch.no_grad()
def average(
    first: Path, second: Path, share: float, first_temperature: float = 1.0, second_temperature: float = 1.0
) -> DiffusionGemmaForBlockDiffusion:
    """A model whose weights are ``1 - share`` of the first one's and ``share`` of the second one's.

    Args:
        first: folder of a checkpoint.
        second: folder of a checkpoint with the same vocabulary and sizes.
        share: of the second one, 0 to 1 (beyond means to extrapolate).
        first_temperature: what ``export`` divided the first one's last norm by; it is taken out again.
        second_temperature: the same of the second one.

    Raises:
        ValueError: the two differ in vocabulary or in a parameter's shape.
    """
    if (first / TOKENIZER_FILES[0]).read_bytes() != (second / TOKENIZER_FILES[0]).read_bytes():
        raise ValueError(f"{first} and {second} have different vocabularies")
    models = []
    for folder, temperature in ((first, first_temperature), (second, second_temperature)):
        model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32)
        model.model.decoder.norm.weight.mul_(temperature)
        models.append(model)
    result, other = models
    others = text_parameters(other)
    for name, parameter in text_parameters(result).items():
        if parameter.shape != others[name].shape:
            raise ValueError(f"{name} is {tuple(parameter.shape)} and {tuple(others[name].shape)}")
        parameter.lerp_(others[name], share)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, required=True)
    parser.add_argument("--first-temperature", type=float, default=1.0)
    parser.add_argument("--second-temperature", type=float, default=1.0)
    a = parser.parse_args()
    average(a.first, a.second, a.share, a.first_temperature, a.second_temperature).save_pretrained(a.out)
    for name in TOKENIZER_FILES:
        shutil.copyfile(a.first / name, a.out / name)


if __name__ == "__main__":
    main()
