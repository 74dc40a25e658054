"""The same reads on every engine: what transformers, the embedded engine and vLLM (one worker, two) say to the same
token ids is the same number, and vLLM's own endpoint is vLLM's canvas wire with vLLM's words."""

from __future__ import annotations

import asyncio
import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from engine.client.http import EngineClient
from engine.client.wire import GenerateResponse, QuestionSpec, SystemOneRequest
from engine.domain.chat import Message
from engine.domain.question import Choice, Noul, Option, Question, Score
from engine.paths import demo_model_dir
from engine.reads.draws import slot_draw
from engine.reads.labels import find_specials
from engine.reads.native import system_one_request
from engine.reads.noise import prompt_noise
from engine.reads.served import Served, find_served
from engine.reads.sheet import alone_sheets

sys.path.insert(0, str(Path(__file__).parent))
from cpu_server import python  # the folder is no package
from held_out_reads import ALONE_WIDTH, READS, HeldOut, held_out

# Each engine against transformers, so that any two of them agree to twice as much: 1e-3 in share, 1e-2 in logprob.
SHARE, LOGPROB = 5e-4, 5e-3
AT_ONCE = 4


@pytest.fixture(scope="session")
def expected(loaded: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, list[HeldOut]]:
    """The reads and transformers' answers, alone (False) and joint (True)."""
    loop = asyncio.new_event_loop()
    try:
        folder = tmp_path_factory.mktemp
        return {
            joint: loop.run_until_complete(held_out(*loaded, folder("held-out"), joint=joint))
            for joint in (False, True)
        }
    finally:
        loop.close()


def logprobs(response: GenerateResponse, slots: Sequence[int], labels: Sequence[int]) -> Any:
    """[slots, labels] of an engine's answer."""
    content = response.choices[0].logprobs
    assert content is not None
    assert content.content is not None
    found = [{entry.token_id: entry.logprob for entry in content.content[slot].top_logprobs} for slot in slots]
    return np.array([[slot[label] for label in labels] for slot in found])


def shares(values: Any, groups: Sequence[Sequence[int]], labels: Sequence[int]) -> Any:
    """Of a slot's labels, each label by its likeliest token."""
    at = {label: place for place, label in enumerate(labels)}
    masses = np.array([max(math.exp(values[at[token]]) for token in group) for group in groups])
    return masses / masses.sum()


@pytest.mark.parity
@pytest.mark.parametrize("joint", [False, True], ids=["alone", "joint"])
async def test_held_out_reads_agree_with_transformers(
    running: Any, served: Any, expected: dict[bool, list[HeldOut]], joint: bool
) -> None:
    if running is not None and running.folder.resolve() != demo_model_dir().resolve():
        pytest.skip("the server has another checkpoint than the demo model")
    reads = expected[joint]
    assert sum(len(read.sheet.questions) for read in reads) >= READS
    free = asyncio.Semaphore(AT_ONCE)
    async with EngineClient(served.url, api_key=served.key, timeout_s=240) as client:
        specials = await find_specials(client.tokenize)
        facts = await find_served(client, specials, at_least=ALONE_WIDTH, joint=True)
        assert (facts.vocab_size, facts.canvas_length) == (served.vocab_size, served.canvas_length)

        async def differences(read: HeldOut) -> tuple[float, float]:
            async with free:
                assert await client.render([Message("user", read.message)]) == read.prompt_ids
                response = await client.generate(read.sheet.request(read.input_ids, read.noise, facts.spare_id))
            labels = read.sheet.label_ids
            seen = logprobs(response, read.sheet.canvas.slots, labels)
            gaps = [
                np.abs(shares(mine, groups, labels) - shares(theirs, groups, labels)).max()
                for mine, theirs, groups in zip(seen, read.logprobs, read.sheet.groups, strict=True)
            ]
            return float(max(gaps)), float(np.abs(seen - read.logprobs).max())

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(differences(read)) for read in reads]
    worst_share, worst_logprob = (max(task.result()[n] for task in tasks) for n in (0, 1))
    assert worst_share <= SHARE
    assert worst_logprob <= LOGPROB


QUESTIONS: tuple[Question, ...] = (
    Noul("moved", "Was the meeting moved?", "moved"),
    Noul("late", "Is anybody late?"),
    Choice("day", "Which day is it?", (Option("Monday"), Option("Friday", "a weekday"))),
    Choice("team", "Which team?", tuple(Option(name) for name in ("billing", "delivery", "sales", "legal"))),
    Score("urgency", "How urgent is it?", ("not", "somewhat", "very")),
)
STATES = ("The hall is closed. The meeting was moved to Friday.", "Nobody came.", "Where is my invoice? \u00fc\u20ac")


def vllm_questions() -> ModuleType:
    """vLLM's own wording of questions: a module of its package that needs nothing but the standard library."""
    package = python().parents[1] / "lib"
    (file,) = package.glob("python3*/site-packages/vllm/entrypoints/generate/structured_decisions/question_types.py")
    spec = importlib.util.spec_from_file_location("vllm_question_types", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def words(module: ModuleType, spec: QuestionSpec) -> str:
    """What vLLM makes of a question of /v1/systemone."""
    criteria = list(spec.criteria) if isinstance(spec.criteria, tuple) else spec.criteria
    question = module.build_question("q", spec.type, spec.instructions, criteria, 26)
    return str(question.type.prompt(question))


@pytest.mark.vllm_cpu
@pytest.mark.parametrize("state", STATES)
async def test_the_canvas_wire_with_vllms_own_prompt_is_vllms_own_endpoint(served: Any, state: str) -> None:
    """vLLM's words, rendered by vLLM, read with our noise rule and our canvas: /v1/systemone to five digits."""
    if served.embedded:
        pytest.skip("about vLLM; the embedded engine's words are ours on both wires")
    module = vllm_questions()
    request: SystemOneRequest = system_one_request(state, QUESTIONS)
    async with EngineClient(served.url, api_key=served.key, timeout_s=240) as client:
        native = await client.systemone(request)
        specials = await find_specials(client.tokenize)
        facts: Served = await find_served(client, specials, at_least=ALONE_WIDTH, joint=False)
        sheets = await alone_sheets(client.tokenize, QUESTIONS, specials, ALONE_WIDTH)
        for (name, spec), sheet in zip(request.questions.items(), sheets, strict=True):
            ids = await client.render([Message("user", f"{state}\n\n{words(module, spec)}")])
            noise = prompt_noise(ids, 1, served.vocab_size)
            response = await client.generate(sheet.request(ids + specials.thought, noise, facts.spare_id))
            draw = slot_draw(response, 0, sheet.groups[0])
            mass = math.fsum(draw.masses)
            found = native.answers[name].probabilities
            assert [share / mass for share in draw.masses] == pytest.approx(list(found.values()), abs=1e-5)
            assert mass == pytest.approx(native.diagnostics[name].label_mass, rel=1e-4)
            assert draw.argmax_is_label == native.diagnostics[name].argmax_is_label
