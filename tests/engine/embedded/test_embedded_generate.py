"""One request: where an answer ends, what its text is, what it counts, what it shows while it denoises."""

from __future__ import annotations

import json
import math
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.embedded.generate import Committed, Counters, Generation, GenerationRequest
from engine.embedded.live import LivePublisher
from engine.embedded.model import DemoModel
from engine.embedded.tokenizer import DemoTokenizer

PROMPT = (2, 5, 300)
END, EOS = 6, 1


def run(model: Any, tokenizer: DemoTokenizer, **options: Any) -> tuple[list[Committed], Counters]:
    counters = Counters()
    live = options.pop("live", None)
    request = GenerationRequest(PROMPT, **{"max_tokens": 20, "width": 8, "random_seed": 3, **options})
    generation = Generation(model, tokenizer, request, counters=counters, live=live)
    pieces: list[Committed] = []
    while not pieces or pieces[-1].finish_reason is None:
        if (piece := generation.advance()) is not None:
            pieces.append(piece)
    return pieces, counters


def words(tokenizer: DemoTokenizer, text: str) -> list[int]:
    return tokenizer.encode(text)


def test_end_of_turn_ends_the_answer_and_is_not_text(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    script = [*words(demo_tokenizer, "no"), END, 100, 100]
    (piece,), _ = run(scripted(3, script), demo_tokenizer)
    assert piece.token_ids == tuple(script[:2])
    assert (piece.text, piece.finish_reason, piece.stop_reason) == ("no", "stop", END)


def test_the_primary_end_token_gives_no_stop_reason(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    (piece,), _ = run(scripted(3, [*words(demo_tokenizer, "no"), EOS]), demo_tokenizer)
    assert (piece.finish_reason, piece.stop_reason) == ("stop", None)


def test_an_answer_grows_canvas_by_canvas(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    script = words(demo_tokenizer, "yes no yes no yes no yes no yes no yes")
    model = scripted(3, [*script, END])
    pieces, _ = run(model, demo_tokenizer)
    assert [len(piece.token_ids) for piece in pieces] == [8, len(script) + 1 - 8]
    assert [piece.finish_reason for piece in pieces] == [None, "stop"]
    assert "".join(piece.text for piece in pieces) == "yes no yes no yes no yes no yes no yes"
    assert model.encoded == [PROMPT, (*PROMPT, *script[:8])]


def test_max_tokens_cuts_a_canvas(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    pieces, _ = run(scripted(3, []), demo_tokenizer, max_tokens=11)
    assert [len(piece.token_ids) for piece in pieces] == [8, 3]
    assert pieces[-1].finish_reason == "length"


def test_an_end_token_at_the_last_place_counts_as_the_end(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    (piece,), _ = run(scripted(3, [100, 100, END]), demo_tokenizer, max_tokens=3)
    assert piece.finish_reason == "stop"


def test_the_window_narrows_the_last_canvas(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    pieces, counters = run(scripted(3, [], max_model_len=14), demo_tokenizer, max_tokens=99)
    assert [len(piece.token_ids) for piece in pieces] == [8, 3]
    assert pieces[-1].finish_reason == "length"
    assert counters.committed_tokens == 11


def test_ignore_eos_goes_on(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    pieces, _ = run(scripted(3, [END, EOS, END]), demo_tokenizer, ignore_eos=True, max_tokens=9)
    assert sum(len(piece.token_ids) for piece in pieces) == 9


def test_a_stop_token_of_the_request(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    script = words(demo_tokenizer, "yes no")
    (piece,), _ = run(scripted(3, script), demo_tokenizer, stop_ids=frozenset({script[1]}))
    assert (piece.text, piece.stop_reason) == ("yes", script[1])


@pytest.mark.parametrize(("keep", "text"), [(False, "yes no "), (True, "yes no END")])
def test_a_stop_string_over_the_edge_of_a_canvas(
    demo_tokenizer: DemoTokenizer, scripted: Any, keep: bool, text: str
) -> None:
    script = words(demo_tokenizer, "yes no END yes")
    cut = len(words(demo_tokenizer, "yes no E"))
    pieces, _ = run(scripted(3, script, canvas_length=cut), demo_tokenizer, width=cut, stop=("END",), keep_stop=keep)
    assert "".join(piece.text for piece in pieces) == text
    assert (pieces[-1].finish_reason, pieces[-1].stop_reason) == ("stop", "END")
    assert "E" not in pieces[0].text


def test_half_a_stop_string_is_text_in_the_end(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    script = [*words(demo_tokenizer, "yes EN"), END]
    pieces, _ = run(scripted(3, script), demo_tokenizer, stop=("END",))
    assert "".join(piece.text for piece in pieces) == "yes EN"


def test_a_character_over_the_edge_of_a_canvas(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    script = words(demo_tokenizer, "yes \u00fc")
    assert len(script) >= 4, "the character is two byte tokens"
    width = len(script) - 1
    pieces, _ = run(scripted(3, [*script, END], canvas_length=width), demo_tokenizer, width=width)
    assert "".join(piece.text for piece in pieces) == "yes \u00fc"
    assert "\ufffd" not in pieces[0].text


def test_a_seeded_read_looks_once_and_counts_one_pass(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    (piece,), counters = run(
        scripted(3, [END, 100, 100]), demo_tokenizer, seed_canvas=(7,) * 8, max_steps=1, read_only=True,
        ignore_eos=True, max_tokens=2,
    )  # fmt: skip
    assert piece.token_ids == (END, 100)
    assert (counters.denoise_steps, counters.canvas_positions, counters.committed_tokens) == (1, 8, 8)
    assert (counters.prompt_tokens, counters.generation_tokens) == (3, 2)


def test_a_chat_canvas_counts_its_commit(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    _, counters = run(scripted(3, [100] * 9 + [END]), demo_tokenizer)
    # Two canvases of two steps and one commit each; whole canvases are committed, the part behind the end included.
    assert (counters.denoise_steps, counters.canvas_positions, counters.committed_tokens) == (6, 48, 16)
    assert counters.generation_tokens == 10


def log_share(margin: float, vocab: int = 3072) -> tuple[float, float]:
    """Log-probability of a token that stands ``margin`` above all others, and of one of the others."""
    total = math.log(math.exp(margin) + vocab - 1)
    return margin - total, -total


def test_a_read_reports_at_temperature_one(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    (piece,), _ = run(
        scripted(3, [40, 41], margin=4.0), demo_tokenizer, seed_canvas=(7,) * 8, max_steps=1, read_only=True,
        ignore_eos=True, max_tokens=1, logprob_ids=(50, 40, 60),
    )  # fmt: skip
    top, other = log_share(4.0)
    (row,) = piece.logprobs
    assert [entry.token_id for entry in row] == [40, 50, 60]
    assert [entry.logprob for entry in row] == pytest.approx([top, other, other])
    assert [entry.rank for entry in row] == [1, 2, 2]


def test_a_chat_reports_at_the_temperature_of_its_last_step(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    model = scripted(3, [40, END], margin=9.0)
    (piece,), _ = run(model, demo_tokenizer, max_steps=1, top_logprobs=1)
    assert piece.logprobs[0][0].logprob == pytest.approx(log_share(9.0 / model.config.sampler.t_max)[0], abs=1e-5)
    assert [len(row) for row in piece.logprobs] == [1, 1]


def test_no_logprobs_unless_asked(demo_tokenizer: DemoTokenizer, scripted: Any) -> None:
    (piece,), _ = run(scripted(3, [END]), demo_tokenizer)
    assert piece.logprobs == ()


def test_frames_end_in_what_is_committed(demo_model: DemoModel, demo_tokenizer: DemoTokenizer, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "live"))
        receiver.setblocking(False)
        publisher = LivePublisher(str(tmp_path / "live"))
        frames: list[dict[str, Any]] = []
        request = GenerationRequest((*PROMPT, 7, 8), 128, 64, ignore_eos=True, live_id="chat-1", random_seed=1)
        generation = Generation(demo_model, demo_tokenizer, request, live=publisher)
        committed: list[tuple[int, ...]] = []
        while len(committed) < 2:
            piece = generation.advance()
            if generation.frames > len(frames):
                frames.append(json.loads(receiver.recv(1 << 16)))
            if piece is not None:
                committed.append(piece.token_ids)
        publisher.close()
    assert [frame["n"] for frame in frames] == list(range(1, len(frames) + 1))
    assert {frame["id"] for frame in frames} == {"chat-1"}
    last = [frame for frame in frames if frame["converged"]]
    assert [tuple(frame["argmax"]) for frame in last] == committed
    assert frames[0]["step"] == 1
    assert all(len(frame["accepted"]) == len(frame["entropy"]) == 64 for frame in frames)


def test_frames_without_a_reader_cost_nothing(demo_tokenizer: DemoTokenizer, scripted: Any, tmp_path: Path) -> None:
    publisher = LivePublisher(str(tmp_path / "nobody"))
    (piece,), _ = run(scripted(3, [END]), demo_tokenizer, live=publisher, live_id="x")
    assert piece.finish_reason == "stop"
    publisher.close()


def test_the_cache_gives_identical_numbers(demo_folder: Path, demo_tokenizer: DemoTokenizer) -> None:
    cached, uncached = DemoModel(demo_folder), DemoModel(demo_folder, cache_bytes=0)
    ids = (*demo_tokenizer.prompt_ids([{"role": "user", "content": "Is it so?"}]), *demo_tokenizer.thought_ids)
    other = (*ids, 300)
    previous = np.zeros((16, cached.config.vocab_size), np.float32)
    looks = []
    for model in (cached, uncached):
        for noise in (11, 12, 11):
            canvas = np.array([noise, *[0] * 15])
            looks.append(model.denoise(model.encode(ids), canvas, previous))
            model.encode(other)
    assert len(cached.cache) == 2
    assert len(uncached.cache) == 1
    for first, second in ((0, 2), (0, 3), (1, 4), (2, 5)):
        np.testing.assert_array_equal(looks[first], looks[second])
    assert not np.array_equal(looks[0], looks[1])


def test_the_cache_forgets_what_was_used_longest_ago(demo_folder: Path) -> None:
    model = DemoModel(demo_folder)
    one = model.encode([2, 5, 300]).nbytes
    small = DemoModel(demo_folder, cache_bytes=2 * one)
    for ids in ([2, 5, 300], [2, 5, 301], [2, 5, 300], [2, 5, 302]):
        small.encode(ids)
    assert small.cache.get((2, 5, 301)) is None
    assert small.cache.get((2, 5, 300)) is not None
