"""A tried row for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from engine.reads.reader import ReadPreview
from engine.reads.trial import RowTried, WayTried


def row_json(tried: RowTried) -> dict[str, Any]:
    """Everything that was seen of the row, both ways."""
    return {"alone": _way_json(tried.alone), "joint": _way_json(tried.joint) if tried.joint is not None else None}


def row_lines(tried: RowTried) -> Iterator[str]:
    """Alone and jointly side by side, question by question, with the exact prompt and canvas."""
    joint = tried.joint
    for at, alone in enumerate(tried.alone.questions):
        yield f"{alone.reading.question_id}"
        yield f"  alone: {_answer(alone)}"
        if joint is not None and joint.questions:
            yield f"  joint: {_answer(joint.questions[at])}"
        yield from _sent(alone)
    for name, way in (("alone", tried.alone), ("joint", joint)):
        if way is None:
            continue
        yield f"{name}: {way.canvases} canvases, {1000 * way.latency_s:.0f} ms" if not way.refusal else way.refusal
    if joint is not None:
        for prompt in dict.fromkeys(preview.prompt for preview in joint.questions):
            yield "a joint canvas:"
            yield from _sent(*(preview for preview in joint.questions if preview.prompt == prompt))


def _way_json(way: WayTried) -> dict[str, Any]:
    return {
        "method": way.method.name,
        "canvases": way.canvases,
        "latency_s": way.latency_s,
        "refusal": way.refusal,
        "questions": [asdict(preview) for preview in way.questions],
    }


def _answer(preview: ReadPreview) -> str:
    reading = preview.reading
    if reading.status == "error":
        return f"error: {reading.error}"
    value = reading.status if reading.value is None else reading.value
    shown = f"{value:.4f}" if isinstance(value, float) else str(value)
    spread = f", stderr {reading.stderr:.4f}, agreement {reading.agreement:.2f}" if reading.stderr is not None else ""
    mass = 0.0 if reading.label_mass is None else reading.label_mass
    return (
        f"{shown} (label mass {mass:.4f}, argmax {'is' if reading.argmax_is_label else 'is no'} label, entropy "
        f"{reading.entropy or 0.0:.4f}, {reading.draws} draw{'s' * (reading.draws != 1)}{spread})"
    )


def _sent(*shared: ReadPreview) -> Iterator[str]:
    """The prompt and the canvas that questions share, their label slots in brackets."""
    if not shared[0].canvas:
        return
    for line in shared[0].prompt.splitlines():
        yield f"  | {_plain(line)}"
    marked = {preview.slot for preview in shared}
    canvas = enumerate(shared[0].canvas)
    yield f"  > {' '.join(f'[[{_plain(text)}]]' if at in marked else _plain(text) for at, text in canvas)}"


def _plain(text: str) -> str:
    """What a terminal would obey is spelled."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
