"""The chat questions of ``bench demo-model``: asks them and checks the answers by their grammar."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.embedded.generate import Counters, Generation, GenerationRequest
from engine.embedded.model import DemoModel
from engine.embedded.tokenizer import DemoTokenizer

MAX_TOKENS = 256
WITHOUT_THOUGHT = 4  # every fourth question is asked without the empty thought block


@dataclass(frozen=True, slots=True)
class ChatResult:
    """One answer.

    Attributes:
        well_formed: the grammar of this kind of question could have written it.
        right: it is also the one right answer, where there is one (a sum, say).
        thought: the prompt ended with the empty thought block.
        steps: denoise steps of a canvas, the mean.
        seconds: of the whole answer.
    """

    kind: str
    well_formed: bool
    right: bool
    thought: bool
    steps: float
    canvases: int
    seconds: float
    answer: str


def ask_all(
    model: DemoModel, tokenizer: DemoTokenizer, entries: Sequence[Mapping[str, Any]], limit: int | None = None
) -> list[ChatResult]:
    """Asks every chat question, the noise seeded by its place among those of its kind.

    Args:
        entries: lines of the held-out file; those that are no chat are passed over.
        limit: so many questions of each kind at most; None for all.
    """
    grammars = {name: pattern for entry in entries for name, pattern in entry.get("grammars", {}).items()}
    asked: dict[str, int] = {}
    results = []
    for entry in entries:
        if "kind" not in entry:
            continue
        place = asked.get(entry["kind"], 0)
        asked[entry["kind"]] = place + 1
        if limit is None or place < limit:
            results.append(_ask(model, tokenizer, entry, grammars, place))
    return results


def _ask(
    model: DemoModel, tokenizer: DemoTokenizer, entry: Mapping[str, Any], grammars: Mapping[str, str], place: int
) -> ChatResult:
    thought = place % WITHOUT_THOUGHT != WITHOUT_THOUGHT - 1
    messages = [{"role": role, "content": content} for role, content in entry["messages"]]
    prompt = tokenizer.prompt_ids(messages)
    ids = (*prompt, *(tokenizer.thought_ids if thought else ()))
    counters = Counters()
    request = GenerationRequest(ids, MAX_TOKENS, model.config.canvas_length, random_seed=place)
    generation = Generation(model, tokenizer, request, counters=counters)
    parts: list[str] = []
    began = time.perf_counter()
    while True:
        committed = generation.advance()
        if committed is not None:
            parts.append(committed.text)
            if committed.finish_reason:
                break
    seconds = time.perf_counter() - began
    answer = "".join(parts).strip()
    canvases = max(1, counters.committed_tokens // model.config.canvas_length)
    steps = (counters.denoise_steps - canvases) / canvases
    formed = is_well_formed(entry, answer, grammars)
    right = formed and ("right" not in entry or re.fullmatch(entry["right"], answer) is not None)
    return ChatResult(entry["kind"], formed, right, thought, steps, canvases, seconds, answer)


def is_well_formed(entry: Mapping[str, Any], answer: str, grammars: Mapping[str, str]) -> bool:
    """Whether the grammar of the question could have written the answer.

    Args:
        entry: with ``members`` and ``count`` of a list, the name of a ``grammar``, or a ``pattern``.
    """
    if "members" in entry:
        return _is_list(answer, entry["members"], entry["count"])
    pattern = grammars[entry["grammar"]] if "grammar" in entry else entry["pattern"]
    return re.fullmatch(pattern, answer) is not None


def _is_list(answer: str, members: Sequence[str], count: int) -> bool:
    """So many different members, numbered on lines of their own or in a sentence."""
    if answer.startswith("1. "):
        lines = [line.partition(". ") for line in answer.split("\n")]
        if [number for number, _, _ in lines] != [str(i) for i in range(1, len(lines) + 1)]:
            return False
        found = [name for _, _, name in lines]
    else:
        found = re.split(r", | and ", answer.rstrip(".").partition(" are ")[2])
    return set(found) <= set(members) and len(set(found)) == len(found) == count
