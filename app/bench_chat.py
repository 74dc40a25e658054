"""The chat's measurements inside the window; ``engine/bench/chat.py`` starts them and says what is good enough."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.widgets.message import MessageView
from app.windows.desk import Desk
from engine.bench.chat import LIVE_VARIABLE, SHARE_VARIABLE, URL_VARIABLE
from engine.domain.conversation import StoredMessage

UPDATES = 150
PIECE = 60  # characters of an update; a canvas brings more, and more seldom
SIZES = {"update_4k_ms": 4 * 1024, "update_64k_ms": 64 * 1024}
MESSAGES, OPENINGS = 5000, 5
SECONDS = 10.0
LAYOUT_ROUNDS = 4  # a layout asks its parent for one, and so on up to the scroll area
WARM, ANSWERS = 100, 1000
PARAGRAPH = """### What settles first

A canvas is denoised **step by step**: tokens that are sure are kept, the rest is drawn again. See `diffusion` and the
notes on [canvases](https://example.org/canvas), where $5 and $6 stay text.

- the first point, with a few words
- the second one, which is a little longer than the first

```python
def settle(canvas, steps):
    return [token for token in canvas if token.sure][:steps]
```

"""


async def measure(desk: Desk, lateness: Callable[[float], Any], rss: Callable[[], int]) -> dict[str, Any]:
    """All figures, one after the other.

    Args:
        lateness: seconds -> how late each tick of a 16 ms timer came.
        rss: resident bytes of this process.
    """
    from app.presenters.engine import EngineChoice
    from engine.client.live import LiveChannel

    assert desk.engine is not None
    desk.engine.configure(EngineChoice("url", os.environ[URL_VARIABLE]))
    await desk.engine.restart_now()
    desk.engine.live = await LiveChannel(Path(os.environ[LIVE_VARIABLE])).__aenter__()
    desk.window.show_page("chat")
    share = float(os.environ.get(SHARE_VARIABLE, "1"))
    told: dict[str, Any] = await _regenerated(
        desk, rss, round(WARM * share), round(ANSWERS * share)
    )  # first: memory that others have freed would hide a leak
    told |= {name: await _updates(desk, size, round(UPDATES * share)) for name, size in SIZES.items()}
    told["open_ms"] = await _openings(desk, round(MESSAGES * share))
    told |= await _streaming(desk, lateness, SECONDS * share)
    return told


async def _updates(desk: Desk, size: int, count: int) -> list[float]:
    """Milliseconds of GUI time of each of the last updates of an answer that becomes so long, paint included."""
    took: list[float] = []
    while len(took) < count:
        took += await _updates_once(desk, (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size])
    return took


async def _updates_once(desk: Desk, text: str) -> list[float]:
    """Of one answer: its last quarter, but at most ``UPDATES`` updates."""
    assert desk.chat is not None
    desk.chat.open(None)
    row = StoredMessage(-1, -2, 2, "assistant", "", state="streaming")
    desk.chat.shown.emit([StoredMessage(-2, None, 1, "user", "q"), row], False)
    view = desk.chat_page.transcript.view(-1)
    assert view is not None
    began = max(len(text) - UPDATES * PIECE, len(text) * 3 // 4)
    _timed(desk, view, text[:began])
    took = []
    for end in range(began + PIECE, len(text) + 1, PIECE):
        took.append(_timed(desk, view, text[:end]))
        await asyncio.sleep(0)
    return took


def _timed(desk: Desk, view: MessageView, text: str) -> float:
    began = time.thread_time()  # of the GUI's thread: what others do on the machine is not the window's cost
    view.set_text(text, final=False)
    view.flush()
    _paint(desk)
    return (time.thread_time() - began) * 1000


def _paint(desk: Desk) -> None:
    """Lays out and paints what has changed, as the event loop would, without a turn of the loop.

    A turn inside a task would run the steps of other tasks, which asyncio refuses: they would be lost.
    """
    for _ in range(LAYOUT_ROUNDS):
        QApplication.sendPostedEvents()
    QApplication.sendEvent(desk.window, QEvent(QEvent.Type.UpdateRequest))


async def _openings(desk: Desk, count: int) -> list[float]:
    """Milliseconds from the choice of a long conversation to its paint."""
    from engine.store.chats_exchange import FORMAT, VERSION, import_json

    assert desk.chat is not None
    messages = [
        {"id": n, "parent": n - 1 or None, "role": "user" if n % 2 else "assistant", "text": f"{n}\n\n{PARAGRAPH}"}
        for n in range(1, count + 1)
    ]
    data = {"format": FORMAT, "version": VERSION, "conversations": [{"messages": messages}]}
    [number] = import_json(desk.chat.store, json.dumps(data).encode(), "bench")
    took = []
    for _ in range(OPENINGS):
        desk.chat.open(None)
        await asyncio.sleep(0.2)
        began = time.perf_counter()
        desk.chat.open(number)
        _paint(desk)
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.5)
    return took


async def _streaming(desk: Desk, lateness: Callable[[float], Any], seconds: float) -> dict[str, Any]:
    """Ticks while canvases stream and are shown."""
    assert desk.chat is not None
    desk.chat.open(None)
    frames = 0

    def count(_picture: object) -> None:
        nonlocal frames
        frames += 1

    desk.chat.canvas_changed.connect(count)
    begun = _next(desk.chat.text_changed.connect)
    desk.chat.send("stream")
    await begun
    frames = 0
    late = await lateness(seconds)
    seen = frames
    ended = _next(desk.chat.finished.connect)
    desk.chat.stop()
    await ended
    return {"tick_ms": [16 + each for each in late], "frames": seen}


async def _regenerated(desk: Desk, rss: Callable[[], int], warm: int, answers: int) -> dict[str, Any]:
    """Growth of the resident memory over many answers to one question."""
    assert desk.chat is not None
    desk.chat.open(None)
    await _answered(desk, lambda: desk.chat.send("short"))  # type: ignore[union-attr]
    before = 0
    for number in range(warm + answers):
        if number == warm:
            before = rss()
        tip = desk.chat.tip
        assert tip is not None
        await _answered(desk, lambda tip=tip: desk.chat.answer_again(tip))  # type: ignore[misc]
    return {"growth_mb": (rss() - before) / 2**20, "answers": answers}


async def _answered(desk: Desk, begin: Callable[[], object]) -> None:
    assert desk.chat is not None
    idle = _next(desk.chat.answering_changed.connect, lambda answering: not answering)
    begin()
    await idle


def _next(
    connect: Callable[[Callable[..., None]], Any], when: Callable[..., bool] | None = None
) -> asyncio.Future[None]:
    """A future that is done with the signal's next emission that ``when`` agrees to; listens no longer then."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    link: list[Any] = []

    def arrived(*values: object) -> None:
        if not future.done() and (when is None or when(*values)):
            future.set_result(None)
            connect.__self__.disconnect(link[0])  # type: ignore[attr-defined]

    link.append(connect(arrived))
    return future
