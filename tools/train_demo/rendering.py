"""From a sample to token ids: the prompt exactly as the application sends it, and the canvas that is to come out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from engine.reads.prompt import alone_prompt, joint_prompt
from tools.train_demo.sample import Chat, Random, Read, Sample
from tools.train_demo.tokenizer import EMPTY_THOUGHT, END_OF_TURN, PAD, render

CANVAS = 64  # what the model generates at once
READ_CANVAS = 16  # what one question is read on
STEP = 16
REST_WEIGHT = 0.3  # of all non-label tokens of a read together
CHAT_WEIGHT, CHAT_POWER = 1.5, 0.75  # a token of a chat canvas with n tokens weighs 1.5 / n^0.75
PAD_WEIGHT = 0.1  # of a chat token
NARROW, NARROW_SHARE = 32, 0.4  # share of short chat answers that are trained on a narrow canvas (cheaper)
NO_THOUGHT = {"chat": 0.5, "read": 0.05}  # share of prompts without the empty thought block, as vLLM writes a chat


@dataclass(frozen=True)
class Example:
    """Token ids of one training example.

    Attributes:
        prompt: what the encoder sees.
        canvas: what the canvas shall become.
        labels: positions on the canvas that hold labels; empty for chat.
        weights: of each canvas position in the loss.
    """

    prompt: tuple[int, ...]
    canvas: tuple[int, ...]
    labels: tuple[int, ...]
    weights: tuple[float, ...]


def prompt_text(sample: Sample, thought: bool = True) -> str:
    """The prompt with the template and, unless told otherwise, the empty thought block."""
    messages = sample.messages if isinstance(sample, Chat) else (("user", user_message(sample)),)
    return render(messages) if thought else render(messages).removesuffix(EMPTY_THOUGHT)


def user_message(sample: Read) -> str:
    """A read's user message in the words of ``engine.reads.prompt``."""
    if len(sample.questions) == 1:
        return alone_prompt(sample.state, sample.questions[0])
    return joint_prompt(sample.state, sample.questions)


def to_example(r: Random, tokenizer: Tokenizer, sample: Sample) -> Example:
    """One training example of a sample; a long chat answer gives one of its canvases at random."""
    thought = r.random() >= NO_THOUGHT["chat" if isinstance(sample, Chat) else "read"]
    prompt = tokenizer.encode(prompt_text(sample, thought), add_special_tokens=False).ids
    if isinstance(sample, Chat):
        return _chat(r, tokenizer, sample, prompt)
    if len(sample.questions) == 1:
        label = tokenizer.encode(sample.questions[0].labels[sample.answers[0]], add_special_tokens=False).ids
        width = CANVAS if r.random() < 0.06 else READ_CANVAS
        return _labelled(prompt, _padded([*label, END_OF_TURN], width), [0])
    return _joint(r, tokenizer, sample, prompt)


def _chat(r: Random, tokenizer: Tokenizer, sample: Chat, prompt: Sequence[int]) -> Example:
    answer = [*tokenizer.encode(sample.answer, add_special_tokens=False).ids, END_OF_TURN]
    narrow = len(answer) < NARROW and r.random() < NARROW_SHARE
    block = r.randrange(-(-len(answer) // CANVAS))
    part = answer[block * CANVAS : (block + 1) * CANVAS]
    canvas = _padded(part, NARROW if narrow else CANVAS)
    each = CHAT_WEIGHT / len(part) ** CHAT_POWER
    weights = [PAD_WEIGHT * each if token == PAD else each for token in canvas]
    return Example((*prompt, *answer[: block * CANVAS]), tuple(canvas), (), tuple(weights))


def _joint(r: Random, tokenizer: Tokenizer, sample: Read, prompt: Sequence[int]) -> Example:
    """``k: label`` lines; mostly the width and the last newline of the application's canvas, sometimes others."""
    text = "\n".join(
        f"{k}: {question.labels[answer]}"
        for k, (question, answer) in enumerate(zip(sample.questions, sample.answers, strict=True), start=1)
    )
    tokens = tokenizer.encode(text + ("\n" if r.random() < 0.75 else ""), add_special_tokens=False).ids
    newline = tokenizer.encode("\n", add_special_tokens=False).ids[0]
    ends = [*(i for i, token in enumerate(tokens) if token == newline), len(tokens)]
    labels = sorted({end - 1 for end in ends if tokens[end - 1] != newline})
    tokens = [*tokens, END_OF_TURN]
    width = -(-(len(tokens) + 1) // STEP) * STEP
    if r.random() < 0.1:
        width = CANVAS
    return _labelled(prompt, _padded(tokens, width), labels)


def _labelled(prompt: Sequence[int], canvas: list[int], labels: list[int]) -> Example:
    rest = REST_WEIGHT / (len(canvas) - len(labels))
    each = (0.7 + 0.3 * len(labels)) / len(labels)
    weights = tuple(each if i in labels else rest for i in range(len(canvas)))
    return Example(tuple(prompt), tuple(canvas), tuple(labels), weights)


def _padded(tokens: Sequence[int], width: int) -> list[int]:
    return [*tokens, *[PAD] * (width - len(tokens))]
