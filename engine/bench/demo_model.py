"""``bench demo-model``: how good the shipped demo model is on questions that its training never saw.

Reads the bundled examples and ``held_out.jsonl`` of the model's folder, alone, on one look, as the application does;
asks the chat questions of that file; and takes times. What each line of the file means is said in
``tools/train_demo/held_out_set.py``.
"""

from __future__ import annotations

import asyncio
import csv
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.batch.analysis.measures import accuracy, auc, mean_absolute_error
from engine.batch.prepare import PreparedRun, prepare
from engine.bench.demo_chat import ChatResult, ask_all
from engine.bench.result import BenchResult, Figure, middle
from engine.domain.question import Choice, Noul, Option, Question
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.reads import LabelRead, NativeReader
from engine.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "demo_model"
EXAMPLES = ROOT / "resources" / "examples"
HELD_OUT = "held_out.jsonl"
LABELLED = ("contradictions", "tickets")  # examples with a gold answer to every question
READABLE_MASS = 0.5
BINS = 10
LOW_ENTROPY = ("small talk", "identity", "too hard", "definition", "name", "opposite", "code")
PROMPTS = (60, 300)  # tokens


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of known answer, read.

    Attributes:
        skill: what it tests; for an example its name and the question's.
        gold: index of the right label.
    """

    skill: str
    question: Question
    gold: int
    read: LabelRead

    @property
    def given(self) -> int:
        return int(np.argmax(self.read.shares))

    @property
    def readable(self) -> bool:
        return self.read.label_mass >= READABLE_MASS and self.read.argmax_is_label


async def measure(folder: Path = FOLDER, limit: int | None = None) -> BenchResult:
    """All figures of the model in ``folder``.

    Args:
        limit: so many rows of each example and questions of each skill and kind at most; None for all.

    Raises:
        InputError: the folder has no held-out questions.
        UserError: a file of the model is missing or broken.
    """
    entries = await asyncio.to_thread(load_entries, folder)
    engine = await asyncio.to_thread(EmbeddedEngine.load, folder)
    engine.start()
    try:
        reader = NativeReader(engine)
        alone, joint = await _examples(reader, limit)
        held_out = await _held_out(reader, [entry for entry in entries if "skill" in entry], limit)
        speed = await _speed(engine, reader)
    finally:
        engine.close()
    chats = await asyncio.to_thread(ask_all, engine.model, engine.tokenizer, entries, limit)
    figures = {**_reads_figures(alone + held_out), **_joint_figures(alone, joint), **_chat_figures(chats), **speed}
    return BenchResult("demo-model", figures)


def load_entries(folder: Path) -> list[dict[str, Any]]:
    """The lines of the held-out file.

    Raises:
        InputError: there is none.
    """
    path = folder / HELD_OUT
    if not path.exists():
        raise InputError("bench.held_out", "{path} is missing: there is nothing to measure with", path=str(path))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def _examples(reader: NativeReader, limit: int | None) -> tuple[list[Answered], list[Answered]]:
    """The bundled tables, every question alone, and those of a form with several on one canvas too."""
    alone: list[Answered] = []
    joint: list[Answered] = []
    for name in LABELLED:
        prepared = await asyncio.to_thread(
            prepare, EXAMPLES / name / "form.json", EXAMPLES / name / "table.csv", engine="embedded"
        )
        for row in _rows(EXAMPLES / name / "table.csv")[:limit]:
            alone += await _row(reader, name, prepared, row, joint=False)
            if len(prepared.form.questions) > 1:
                joint += await _row(reader, name, prepared, row, joint=True)
    return alone, joint


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


async def _row(
    reader: NativeReader, name: str, prepared: PreparedRun, row: Mapping[str, str], *, joint: bool
) -> list[Answered]:
    questions = prepared.form.questions
    state = prepared.template.render(row)
    canvases = await reader.read(questions, state, instructions=None, joint=joint)
    reads = [read for canvas in canvases for read in canvas.reads]
    raw = json.loads((EXAMPLES / name / "form.json").read_text(encoding="utf-8"))["questions"]
    return [
        Answered(f"{name}/{question.id}", question, question.answers.index(row[entry["gold"]].strip()), read)
        for question, entry, read in zip(questions, raw, reads, strict=True)
    ]


async def _held_out(reader: NativeReader, entries: Sequence[Mapping[str, Any]], limit: int | None) -> list[Answered]:
    found: list[Answered] = []
    taken: dict[str, int] = {}
    for entry in entries:
        skill = str(entry["skill"])
        taken[skill] = taken.get(skill, 0) + 1
        if limit is not None and taken[skill] > limit:
            continue
        question = _question(entry["question"])
        (canvas,) = await reader.read([question], entry["state"], instructions=None, joint=False)
        found.append(Answered(skill, question, question.answers.index(entry["gold"]), canvas.reads[0]))
    return found


def _question(raw: Mapping[str, Any]) -> Question:
    if raw["type"] == "noul":
        return Noul(raw["id"], raw["instructions"])
    return Choice(raw["id"], raw["instructions"], tuple(Option(*item) for item in raw["criteria"].items()))


def _reads_figures(answered: Sequence[Answered]) -> dict[str, Figure]:
    def of(skill: str) -> list[Answered]:
        return [each for each in answered if each.skill == skill]

    def skill_auc(skill: str) -> float:
        found = auc([each.read.shares[0] for each in of(skill)], [each.gold == 0 for each in of(skill)])
        return 0.0 if found is None else found

    def right(found: Sequence[Answered]) -> float:
        return accuracy([each.given for each in found], [each.gold for each in found]) or 0.0

    choices = [each for each in answered if isinstance(each.question, Choice)]
    urgency = of("tickets/urgency")
    expected = [float(np.dot(each.read.shares, np.arange(len(each.read.shares)))) for each in urgency]
    figures = {
        "contradictions_auc": Figure(skill_auc("contradictions/contradiction"), "", "at least", 0.95),
        "mention_auc": Figure(skill_auc("mention"), "", "at least", 0.97),
        "sentiment_auc": Figure(skill_auc("sentiment"), "", "at least", 0.95),
        "choice_accuracy": Figure(right(choices), "", "at least", 0.90, "tickets/team and topic together"),
        "calibration_error": Figure(calibration_error(answered), "", "at most", 0.05, "all reads together"),
        "unreadable": Figure(1 - sum(each.readable for each in answered) / len(answered), "", "at most", 0.01),
        "team_accuracy": Figure(right(of("tickets/team")), ""),
        "topic_accuracy": Figure(right(of("topic")), ""),
        "refund_auc": Figure(skill_auc("tickets/refund"), ""),
        "urgency_mean_error": Figure(mean_absolute_error(expected, [each.gold for each in urgency]) or 0.0, "levels"),
        "far_contradictions_auc": Figure(skill_auc("contradiction"), "", detail="unseen topics in unseen words"),
        "record_auc": Figure(skill_auc("record"), ""),
        "compare_auc": Figure(skill_auc("compare"), "", detail="which of two amounts is larger"),
    }
    for skill in dict.fromkeys(each.skill for each in answered):
        figures[f"calibration_error {skill}"] = Figure(calibration_error(of(skill)), "")
    return figures


def calibration_error(answered: Sequence[Answered]) -> float:
    """Expected calibration error of the likeliest answer in ten bins of equal width (Guo et al., 2017)."""
    top = np.array([max(each.read.shares) for each in answered])
    right = np.array([each.given == each.gold for each in answered])
    places = np.minimum((top * BINS).astype(int), BINS - 1)
    return float(
        sum(abs(top[places == b].mean() - right[places == b].mean()) * (places == b).mean() for b in set(places))
    )


def _joint_figures(alone: Sequence[Answered], joint: Sequence[Answered]) -> dict[str, Figure]:
    """What sharing a canvas changes on the same questions of the same rows."""
    same = [each for each in alone if each.skill in {other.skill for other in joint}]
    moved = [
        abs(a.read.shares[a.gold] - b.read.shares[b.gold])
        for a, b in zip(_by_skill(same), _by_skill(joint), strict=True)
    ]
    correct = {
        name: sum(each.given == each.gold for each in found) / len(found)
        for name, found in (("alone", same), ("joint", joint))
    }
    return {
        "joint_accuracy": Figure(correct["joint"], "", detail=f"alone {correct['alone']:.3f}"),
        "joint_shift": Figure(float(np.mean(moved)), "", detail="mean change of the right label's share"),
    }


def _by_skill(answered: Sequence[Answered]) -> Iterator[Answered]:
    return iter(sorted(answered, key=lambda each: each.skill))


def _chat_figures(results: Sequence[ChatResult]) -> dict[str, Figure]:
    def share(found: Sequence[bool]) -> float:
        return sum(found) / len(found) if found else 0.0

    def steps(kinds: Sequence[str]) -> float:
        return float(np.mean([each.steps for each in results if each.kind in kinds]))

    stories = [each for each in results if each.kind == "story"]
    figures = {
        "chat_well_formed": Figure(share([each.well_formed for each in results]), "", "at least", 0.95),
        "chat_right": Figure(share([each.right for each in results]), "", detail="where one answer is right"),
        "chat_without_thought": Figure(
            share([each.well_formed for each in results if not each.thought]), "", detail="prompts as vLLM writes them"
        ),
        "steps_ratio": Figure(
            steps(LOW_ENTROPY) / max(steps(("story",)), 1e-9),
            "",
            "at most",
            0.6,
            "steps of a canvas, plain answers to stories",
        ),
        "canvas": Figure(middle([each.seconds / each.canvases for each in stories]), "s", "at most", 2.0, "of a story"),
    }
    for kind in dict.fromkeys(each.kind for each in results):
        found = [each for each in results if each.kind == kind]
        detail = f"right {share([each.right for each in found]):.2f}, {steps((kind,)):.1f} steps a canvas"
        figures[f"chat {kind}"] = Figure(share([each.well_formed for each in found]), "", detail=detail)
    return figures


async def _speed(engine: EmbeddedEngine, reader: NativeReader) -> dict[str, Figure]:
    question = Noul("late", "Is the parcel late?")
    figures = {}
    for tokens, target in zip(PROMPTS, (30.0, 80.0), strict=True):
        words = ["The parcel was sent on Monday."]
        while len(engine.tokenizer.encode(" ".join(words))) < tokens - 25:  # the question and the turns take the rest
            words.append("It waits.")
        took = []
        for number in range(30):
            began = time.perf_counter()
            await reader.read([question], " ".join([*words, str(number)]), instructions=None, joint=False)
            took.append((time.perf_counter() - began) * 1000)
        figures[f"read_{tokens}_tokens"] = Figure(middle(took), "ms", "at most", target)
    return figures
