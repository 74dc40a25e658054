"""Reads about pictures over both wires, against a stand-in that checks the shapes of vLLM 0.33's wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.seeing_engine import SeeingEngine, png, seeing_engine

from engine.client.http import EngineClient
from engine.domain.picture import PicturedState, PictureUse
from engine.domain.question import Choice, Noul, Option, Question
from engine.domain.reading import Method, Reading, Wire
from engine.errors import EngineRefused, InputError, UserError
from engine.pictures import read_picture
from engine.reads.interference import measure_interference
from engine.reads.order import OrderEffect, measure_order
from engine.reads.pictured import collapsed
from engine.reads.reader import Reader, shortened
from engine.reads.trial import try_row, try_rows

QUESTIONS: tuple[Question, ...] = (
    Noul("red", "Is the picture red?", "it is red", "it has another colour"),
    Choice("colour", "Which colour is it?", (Option("red"), Option("green"), Option("blue"))),
)
WIRES: tuple[Wire, ...] = ("canvas", "native")


@pytest.fixture
async def seeing() -> AsyncIterator[SeeingEngine]:
    async with seeing_engine() as found:
        yield found


@pytest.fixture
async def client(seeing: SeeingEngine) -> AsyncIterator[EngineClient]:
    async with EngineClient(seeing.url) as made:
        yield made


def picture(folder: Path, colour: str, name: str | None = None) -> str:
    path = folder / (name or f"{colour}.png")
    path.write_bytes(png(colour))
    return str(path)


def method(wire: Wire, **fields: object) -> Method:
    """Every read is readable by its mass, whatever the toy has learnt, so that shares can be compared."""
    return Method(draws=1, wire=wire, min_mass=0.0, **fields)  # type: ignore[arg-type]


def shares(readings: tuple[Reading, ...]) -> list[float]:
    return [share for reading in readings for share in (reading.shares or (reading.label_mass or 0.0,))]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("joint", [False, True])
async def test_what_is_shown_decides_and_the_same_picture_gives_the_same_read(
    client: EngineClient, tmp_path: Path, wire: Wire, joint: bool
) -> None:
    reader = await Reader.open(client, QUESTIONS, method(wire, joint=joint), pictures=True)
    red, blue = picture(tmp_path, "red"), picture(tmp_path, "blue")
    copy = picture(tmp_path, "red", "copy.jpg")  # what a file is says its content, not its name
    first, other, same, again = [
        await reader.read(PicturedState("A square.", (path,)), row_key="1") for path in (red, blue, copy, red)
    ]
    assert shares(first) == pytest.approx(shares(again), abs=1e-6)
    assert shares(first) == pytest.approx(shares(same), abs=1e-6)
    assert shares(first) != pytest.approx(shares(other), abs=1e-3)
    assert first[0].pictures == (PictureUse(red, read_picture(Path(red)).sha256),)
    assert same[0].pictures[0].sha256 == first[0].pictures[0].sha256
    assert same[0].pictures[0].path == copy


@pytest.mark.parametrize("wire", WIRES)
async def test_several_pictures_stand_in_their_order_before_the_text(
    client: EngineClient, seeing: SeeingEngine, tmp_path: Path, wire: Wire
) -> None:
    paths = (picture(tmp_path, "red"), picture(tmp_path, "blue"))
    reader = await Reader.open(client, QUESTIONS, method(wire), pictures=True)
    seeing.asked.clear()
    readings = await reader.read(PicturedState("Two squares.", paths), row_key="1")
    assert [use.path for use in readings[0].pictures] == list(paths)
    urls = [read_picture(Path(path)).data_url for path in paths]
    if wire == "native":
        (body,) = [body for path, body in seeing.asked if path == "/v1/systemone"]
        assert body["images"] == urls
    else:
        bodies = [body for path, body in seeing.asked if path.endswith("/render")]
        assert len(bodies) == len(QUESTIONS)
        for body in bodies:
            (message,) = body["messages"]
            assert [part["type"] for part in message["content"]] == ["image_url", "image_url", "text"]
            assert [part["image_url"]["url"] for part in message["content"][:2]] == urls


async def test_no_tensors_are_asked_for_and_every_read_brings_its_pictures(
    client: EngineClient, seeing: SeeingEngine, tmp_path: Path
) -> None:
    reader = await Reader.open(client, QUESTIONS, Method(draws=2, min_mass=0.0, rotate=True), pictures=True)
    path = picture(tmp_path, "red")
    seeing.asked.clear()
    await reader.read(PicturedState("A square.", (path,)), row_key="1")
    url = read_picture(Path(path)).data_url
    reads = [body["content_parts"] for path, body in seeing.asked if path == "/inference/v1/generate"]
    assert reads == [[{"type": "image_url", "url": url}]] * 8  # one yes/no, three rotations, two draws each
    assert seeing.tensors == 0


def test_a_prompt_is_sent_back_with_one_token_for_each_picture() -> None:
    ids = (1, 90, 7, 7, 7, 91, 2, 3, 90, 7, 91, 4)
    assert collapsed(ids, [(1, 5), (8, 3)], 2) == (1, 7, 2, 3, 7, 4)
    assert collapsed((7, 7, 5), [(0, 2)], 1) == (7, 5)
    for ranges, pictures in (([(1, 5)], 2), ([], 1)):
        with pytest.raises(EngineRefused, match="put"):
            collapsed(ids, ranges, pictures)
    for strange in ([(1, 7)], [(10, 5)], [(0, 0)]):
        with pytest.raises(EngineRefused, match="not known"):
            collapsed(ids, strange, 1)
    with pytest.raises(EngineRefused, match="not known"):
        collapsed(ids, [(1, 5), (4, 3)], 2)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_picture_that_cannot_be_read_is_that_rows_error(
    client: EngineClient, seeing: SeeingEngine, tmp_path: Path, wire: Wire
) -> None:
    reader = await Reader.open(client, QUESTIONS, method(wire), pictures=True)
    missing = str(tmp_path / "missing.png")
    text = tmp_path / "text.png"
    text.write_text("no picture")
    broken = picture(tmp_path, "green")
    seeing.breaks.add(read_picture(Path(broken)).sha256)
    expected = {missing: "No such file", str(text): "no picture that can be sent", broken: "cannot identify image file"}
    for path, words in expected.items():
        readings = await reader.read(PicturedState("A square.", (path,)), row_key="1")
        assert [reading.question_id for reading in readings] == ["red", "colour"]
        assert {reading.status for reading in readings} == {"error"}
        assert all(words in reading.error for reading in readings), readings
    good = await reader.read(PicturedState("A square.", (picture(tmp_path, "red"),)), row_key="1")
    assert {reading.status for reading in good} <= {"ok", "unreadable"}


async def test_a_changed_file_is_read_again(client: EngineClient, tmp_path: Path) -> None:
    reader = await Reader.open(client, QUESTIONS, method("canvas"), pictures=True)
    path = picture(tmp_path, "red")
    state = PicturedState("A square.", (path,))
    before = await reader.read(state, row_key="1")
    picture(tmp_path, "blue", "other.png")
    (tmp_path / "other.png").replace(path)
    after = await reader.read(state, row_key="1")
    assert before[0].pictures[0].sha256 != after[0].pictures[0].sha256
    assert shares(before) != pytest.approx(shares(after), abs=1e-3)


async def test_the_checks_before_a_run_show_pictures_too(client: EngineClient, tmp_path: Path) -> None:
    red = PicturedState("A square.", (picture(tmp_path, "red"),))
    tried = await try_row(client, QUESTIONS, method("canvas"), red)
    assert tried.joint is not None
    for way in (tried.alone, tried.joint):
        assert [preview.pictures[0].path for preview in way.questions] == list(red.paths) * 2
    prompt = tried.alone.questions[0].prompt
    assert prompt.index("<|image|>") < prompt.index("A square.")
    effect = await measure_order(client, QUESTIONS, method("canvas"), [("1", red), ("2", red)])
    assert effect.rows == 2
    reader = await Reader.open(client, QUESTIONS, method("canvas"), pictures=True)
    some = await try_rows(reader, [("1", red), ("2", PicturedState("x", (str(tmp_path / "gone.png"),)))])
    assert [row[0].status == "error" for row in some.readings] == [False, True]
    assert "1 of 2 rows failed, first row 2: " in some.sentence(100)
    assert "gone.png: No such file" in some.sentence(100)
    with pytest.raises(InputError, match=r"gone\.png"):
        await reader.preview(PicturedState("x", (str(tmp_path / "gone.png"),)), "red")


async def test_the_checks_say_which_pictures_cannot_be_read(client: EngineClient, tmp_path: Path) -> None:
    """Missing, or no picture: such rows failed, and are not counted as unreadable ones."""
    (tmp_path / "notes.png").write_text("no picture")
    shown = {"3": picture(tmp_path, "red"), "8": str(tmp_path / "gone.png"), "9": str(tmp_path / "notes.png")}
    rows = [(key, PicturedState("A square.", (path,))) for key, path in shown.items()]
    effect = await measure_order(client, QUESTIONS, method("canvas"), rows)
    price = await measure_interference(client, QUESTIONS, method("canvas"), rows)
    for found in (effect, price):
        assert (found.rows, found.failed) == (3, 2)
        assert found.first_failure.startswith(f"row 8: {shown['8']}: No such file")
        assert "2 of 3 rows failed, first row 8: " in found.sentence
    (order,) = effect.questions
    assert (order.rows + order.unreadable, order.failed) == (1, 2)
    assert OrderEffect.from_json(effect.to_json()) == effect
    before = {key: value for key, value in effect.to_json().items() if key not in ("failed", "first_failure")}
    assert OrderEffect.from_json(before) == replace(effect, failed=0, first_failure="")


async def test_a_blind_engine_is_refused_before_any_row(seeing: SeeingEngine, tmp_path: Path) -> None:
    from engine.supervise.embedded import embedded_engine

    engine = embedded_engine()
    try:
        handle = await engine.start()
        async with EngineClient(handle.base_url, api_key=handle.api_key) as client:
            for wire in WIRES:
                with pytest.raises(UserError, match="sees no pictures") as caught:
                    await Reader.open(client, QUESTIONS, method(wire), pictures=True)
                assert caught.value.code == "engine.blind"
            with pytest.raises(UserError, match="sees no pictures"):
                await try_row(client, QUESTIONS, method("canvas"), PicturedState("x", (picture(tmp_path, "red"),)))
    finally:
        await engine.stop()


def test_the_places_of_a_picture_are_counted_in_a_shown_prompt() -> None:
    assert shortened("a" + "<|image|>" * 256 + "b <|x|><|x|>") == "a<|image|> x 256b <|x|><|x|>"
