"""Trains the demo model from nothing.

    python -m tools.train_demo.train --out OUT --seconds 540 --device cuda

Writes the checkpoint (safetensors, configuration, tokenizer), ``state.pt`` (to resume) and ``log.jsonl`` into OUT every
minute. With ``--steps`` instead of ``--seconds`` the run depends on the seed alone. With ``--began`` (seconds since the
epoch) the time before the first step counts as training time.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import DiffusionGemmaForBlockDiffusion

from tools.train_demo import evaluate, mixture, tokenizer
from tools.train_demo.data import Batch, Stream, Workers
from tools.train_demo.generation import GENERATION
from tools.train_demo.gradients import Gradients, Masters
from tools.train_demo.losses import Targets, prompt_mask
from tools.train_demo.model import (
    Size,
    build_config,
    denoise,
    encode,
    initialise,
    text_parameters,
    use_traceable_kernels,
)
from tools.train_demo.optimiser import Optimiser
from tools.train_demo.passes import Passes
from tools.train_demo.sample import Random
from tools.train_demo.warm_start import start_from

UNUSED_TOKENS = 12  # room that the vocabulary keeps above the tokenizer (image tokens stand at its end)
WARM_UP = 100  # steps
CONSTANT = 0.4  # of the run at full rate, then linear decay
LAST_RATE = 0.02
CLIP = 1.0


@dataclass(frozen=True)
class Settings:
    """How to train; the names of the command line."""

    out: Path
    seconds: float = 0.0
    steps: int = 0
    device: str = "cpu"
    seed: int = 1
    batch: int = 192
    tokens: int = 24_000
    workers: int = 2
    easy_samples: int = 0
    tokenizer_samples: int = 60_000
    muon_rate: float = 0.02
    adam_rate: float = 2e-3
    graphs: int = 0
    update_graph: int = 1
    half: int = 0
    stop_after: float = 0.0
    evaluate_every: float = 90.0
    resume: int = 0
    compile: int = 0
    start: str = ""
    start_temperature: float = 1.0
    keep_vocabulary: int = 0
    began: float = 0.0
    save_every: float = 60.0
    keep_state: int = 1
    evaluate: int = 1
    shares: str = ""
    prompts: int = 1


def learn_tokenizer(settings: Settings, size: Size) -> Tokenizer:
    """The vocabulary of the training texts, or that of the earlier model, written into the output folder."""
    if settings.keep_vocabulary:
        kept = Tokenizer.from_file(str(Path(settings.start) / "tokenizer.json"))
        tokenizer.save(kept, settings.out)
        return kept
    r = Random(settings.seed)
    texts = (mixture.text_of(mixture.draw(r)) for _ in range(settings.tokenizer_samples))
    learned = tokenizer.build(texts, size.vocabulary - UNUSED_TOKENS, mixture.WHOLE_WORDS)
    tokenizer.save(learned, settings.out)
    return learned


def to_device(batch: Batch, device: str) -> Targets:
    """A batch's arrays as tensors."""
    pinned = device.startswith("cuda")

    def move(array: NDArray[Any], kind: torch.dtype) -> torch.Tensor:
        tensor = torch.from_numpy(array)
        return (tensor.pin_memory() if pinned else tensor).to(device, non_blocking=True).to(kind)

    return Targets(
        move(batch.prompts, torch.int64),
        move(batch.lengths, torch.int64),
        move(batch.canvases, torch.int64),
        move(batch.labels, torch.bool),
        move(batch.weights, torch.float32),
    )


def first_slot(
    model: DiffusionGemmaForBlockDiffusion, device: str, size: int, at_once: int = 256
) -> evaluate.FirstSlot:
    """Reads through torch, many at once, padded."""

    @torch.no_grad()
    def read(prompts: list[list[int]], canvases: list[list[int]]) -> NDArray[np.float32]:
        out = []
        for start in range(0, len(prompts), at_once):
            chunk = prompts[start : start + at_once]
            width = max(map(len, chunk))
            ids = torch.tensor([[*p, *[tokenizer.PAD] * (width - len(p))] for p in chunk], device=device)
            lengths = torch.tensor([len(p) for p in chunk], device=device)
            canvas = torch.tensor(canvases[start : start + at_once], device=device)
            prefix, hidden = encode(model, ids)
            nothing = torch.zeros(*canvas.shape, size, device=device)
            mask = prompt_mask(lengths, width, canvas.shape[1]).to(hidden.dtype)
            out.append(denoise(model, canvas, nothing, lengths, prefix, mask)[:, 0].float().cpu().numpy())
        return np.concatenate(out)

    return read


def rate_at(progress: float, step: int) -> float:
    """Learning rate relative to its peak: warm-up, constant, linear decay."""
    warm = min(1.0, (step + 1) / WARM_UP)
    return warm * min(1.0, max(LAST_RATE, (1 - progress) / (1 - CONSTANT)))


class Run:
    """A training run: everything that is saved and resumed, and the loop."""

    def __init__(self, settings: Settings, size: Size) -> None:
        self.settings, self.size = settings, size
        settings.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)
        torch.set_float32_matmul_precision("high")
        resumed = settings.resume and (settings.out / "state.pt").exists()
        if resumed:
            self.tokenizer = Tokenizer.from_file(str(settings.out / "tokenizer.json"))
            self.model = DiffusionGemmaForBlockDiffusion.from_pretrained(settings.out, dtype=torch.float32)
        else:
            self.tokenizer = learn_tokenizer(settings, size)
            self.model = DiffusionGemmaForBlockDiffusion(build_config(size))
            initialise(self.model)
            if settings.start:
                start_from(self.model, self.tokenizer, Path(settings.start), settings.start_temperature)
        self.model.to(settings.device).train()
        use_traceable_kernels(self.model, "sdpa")
        named = text_parameters(self.model)
        for p in self.model.parameters():
            p.requires_grad_(False)
        for p in named.values():
            p.requires_grad_(True)
        self.masters = Masters(named, bool(settings.half))
        self.parameters = list(self.masters.parameters.values())
        if settings.half:
            for name, buffer in self.model.named_buffers():
                if name.endswith("layer_scalar"):
                    buffer.data = buffer.data.bfloat16()
        rates = (settings.muon_rate, settings.adam_rate)
        self.optimiser = Optimiser(
            self.masters.parameters, *rates, CLIP, bool(settings.graphs) and bool(settings.update_graph)
        )
        self.step, self.before, self.examples = 0, 0.0, 0
        if resumed:
            self._load_state()

    def _load_state(self) -> None:
        state = torch.load(self.settings.out / "state.pt", map_location=self.settings.device)
        self.step, self.before, self.examples = state["step"], state["seconds"], state["examples"]
        self.optimiser.load(state)

    def save(self, seconds: float) -> None:
        """The checkpoint and, if wanted, what resuming needs; a file is replaced only when the new one is whole."""
        out = self.settings.out / ".part"
        keeper = DiffusionGemmaForBlockDiffusion(build_config(self.size))
        with torch.no_grad():
            for name, p in text_parameters(keeper).items():
                p.copy_(self.masters.parameters[name])
        keeper.save_pretrained(out)
        (out / "generation_config.json").write_text(json.dumps(GENERATION, indent=2) + "\n", encoding="utf-8")
        state = {
            "step": self.step,
            "seconds": seconds,
            "examples": self.examples,
            **self.optimiser.state(),
        }
        if self.settings.keep_state:
            torch.save(state, out / "state.pt")
        for path in out.iterdir():
            path.replace(self.settings.out / path.name)
        out.rmdir()

    def log(self, entry: dict[str, Any]) -> None:
        """One line on the screen and in log.jsonl."""
        line = json.dumps(entry)
        print(line, flush=True)
        with (self.settings.out / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def measure(self) -> dict[str, str]:
        """Figures on fresh samples and on the validation part of the held-out questions."""
        if not self.settings.evaluate:
            return {}
        self.model.eval()
        read = first_slot(self.model, self.settings.device, self.size.vocabulary)
        found = evaluate.on_samples(self.tokenizer, read, self.size.vocabulary)
        unseen = evaluate.on_validation(self.tokenizer, read, self.size.vocabulary)
        self.model.train()
        return {
            part: " ".join(f"{name}={value:.3f}" for name, value in values.items())
            for part, values in (("fresh", found), ("validation", unseen))
        }

    def train(self) -> None:
        """Until the time or the steps are over."""
        s = self.settings
        tokens = s.out / "tokenizer.json"
        stream = Stream(tokens, s.seed + self.step, s.batch, s.tokens, s.easy_samples, self.examples, s.shares)
        workers = Workers(stream, s.workers)
        passes = Passes(self.model, bool(s.compile))
        gradients = Gradients(passes, self.size.vocabulary, self.masters, bool(s.graphs), bool(s.prompts))
        batches = iter(workers)
        batch = next(batches)
        start = time.monotonic()
        saved = measured = start
        if s.began:  # the clock of the whole command: what was used up before the first step counts too
            self.before += time.time() - s.began
        sums, since, waited = np.zeros(5), 0, 0.0
        self.log(
            {
                "parameters": sum(p.numel() for p in self.parameters),
                "settings": {k: str(v) for k, v in asdict(s).items()},
            }
        )
        while True:
            elapsed = self.before + time.monotonic() - start
            progress = elapsed / s.seconds if s.seconds else self.step / s.steps
            if progress >= 1 or (s.stop_after and elapsed >= s.stop_after):
                break
            scale = rate_at(progress, self.step)
            result = gradients(to_device(batch, s.device))
            self.examples += len(batch.prompts)
            self.optimiser.step(scale)
            self.masters.give_weights()
            asked = time.monotonic()
            batch = next(batches)
            waited += time.monotonic() - asked
            self.step += 1
            if self.step % 10 == 0:
                parts = (result.label, result.rest, result.next_token, result.first_token, result.accuracy)
                sums += torch.stack(parts).float().cpu().numpy()
                since += 1
            if self.step % 100 == 0:
                names = ("label", "rest", "next", "first", "accuracy")
                means = {name: round(float(x), 4) for name, x in zip(names, sums / since, strict=True)}
                self.log(
                    {
                        "step": self.step,
                        "seconds": round(elapsed, 1),
                        "examples": self.examples,
                        "rate": round(scale, 3),
                        "waited": round(waited, 2),
                        **means,
                    }
                )
                if not math.isfinite(float(sums.sum())):
                    raise RuntimeError("the loss is not finite")
                sums, since, waited = np.zeros(5), 0, 0.0
            now = time.monotonic()
            if now - measured > s.evaluate_every:
                measured = now
                self.log({"step": self.step, "seconds": round(elapsed, 1), **self.measure()})
            if now - saved > s.save_every:
                saved = now
                self.save(elapsed)
        workers.close()
        self.save(elapsed)
        self.log({"step": self.step, "seconds": round(elapsed, 1), "examples": self.examples, **self.measure()})


def parse() -> tuple[Settings, Size]:
    """The command line: one option per field of ``Settings`` and ``Size``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    converters: dict[str, Callable[[str], Any]] = {"Path": Path, "float": float, "int": int, "str": str}
    for kind in (Settings, Size):
        for field in fields(kind):
            required = field.name == "out"
            default = None if required else field.default
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=converters[str(field.type)],
                required=required,
                default=default,
            )
    values = vars(parser.parse_args())
    chosen = [kind(**{field.name: values[field.name] for field in fields(kind)}) for kind in (Settings, Size)]
    settings, size = chosen
    if not isinstance(settings, Settings) or not isinstance(size, Size):
        raise TypeError("the order of Settings and Size was changed")
    if not settings.seconds and not settings.steps:
        parser.error("say how long: --seconds or --steps")
    return settings, size


def main() -> None:
    settings, size = parse()
    Run(settings, size).train()


if __name__ == "__main__":
    main()
