"""Pictures of the chat with pictures in it: ``python -m tools.screenshots_pictures [folder]``.

Beside the window runs a small stand-in of an engine that sees, and later of one that does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web
from PySide6.QtCore import QMimeData, QPointF, QUrl
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter, QPolygonF

from app.theme import apply_theme
from app.widgets.chat.picture_window import PictureWindow
from app.windows.desk import Desk
from tools.pictures import LARGE, SETTLE_S, SIZE, once, opened, run

WAIT_S = 60.0
PICTURE_TOKENS = 260
ANSWER = "The first picture is a lake below a mountain at dusk, the second a chart of three rising bars."
LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützen-Urlaubsaufnahme (endgültig, nachbearbeitet).jpg"


class Engine:
    """What the window asks of an engine, and no more."""

    def __init__(self) -> None:
        self.sees = True

    async def models(self, _request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "DiffusionGemma-26B", "max_model_len": 131_072, "owned_by": "vllm"}]})

    async def render(self, request: web.Request) -> web.Response:
        shown = b"image_url" in await request.read()
        if shown and not self.sees:
            return web.json_response({"error": {"message": "At most 0 image(s) may be provided"}}, status=400)
        places = [{"offset": 0, "length": PICTURE_TOKENS}] if shown else []
        return web.json_response({"token_ids": [1], "features": {"mm_placeholders": {"image": places}}})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.read()
        count = PICTURE_TOKENS * body.count(b"image_url") // 2 + len(body.split())
        return web.json_response({"tokens": [1] * min(count, 20), "count": count})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for choice in ({"delta": {"content": ANSWER}}, {"delta": {}, "finish_reason": "stop"}):
            chunk = json.dumps({"choices": [{"index": 0, **choice}]})
            await response.write(f"data: {chunk}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    async def started(self) -> tuple[web.AppRunner, str]:
        """The server and its address."""
        app = web.Application(client_max_size=2**26)
        app.add_routes(
            [
                web.get("/health", lambda _request: _ok()),
                web.get("/v1/models", self.models),
                web.post("/v1/chat/completions/render", self.render),
                web.post("/tokenize", self.tokenize),
                web.post("/v1/chat/completions", self.chat),
            ]
        )
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        return runner, f"http://{host}:{port}"


async def _ok() -> web.Response:
    return web.Response()


def lake(path: Path, width: int, height: int) -> Path:
    """Something like a photo."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    sky = QLinearGradient(0, 0, 0, height)
    for place, color in ((0.0, "#22345f"), (0.45, "#e08a5b"), (0.6, "#f2c98a"), (0.61, "#31506e"), (1.0, "#0f1c2c")):
        sky.setColorAt(place, QColor(color))
    painter.fillRect(image.rect(), sky)
    painter.setBrush(QColor("#2b2f3f"))
    ridge = [(0, 0.6), (0.2, 0.35), (0.35, 0.5), (0.6, 0.2), (0.85, 0.48), (1, 0.4), (1, 0.6)]
    painter.drawPolygon(QPolygonF([QPointF(x * width, y * height) for x, y in ridge]))
    painter.end()
    image.save(str(path))
    return path


def chart(path: Path) -> Path:
    """Something like a drawing."""
    image = QImage(640, 480, QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    painter = QPainter(image)
    for place, (high, color) in enumerate(((120, "#4c78a8"), (220, "#f58518"), (340, "#54a24b"))):
        painter.fillRect(80 + place * 180, 420 - high, 120, high, QColor(color))
    painter.end()
    image.save(str(path))
    return path


async def shoot(desk: Desk, folder: Path) -> None:
    """Chips, a message, the larger view, the refusal and the choice."""
    engine = Engine()
    runner, url = await engine.started()
    files = Path(desk.window.state_file.fileName()).parent
    pictures = [lake(files / LONG, 4000, 3000), chart(files / "sales.png"), lake(files / "tall.jpg", 300, 900)]
    try:
        await opened(desk)
        assert desk.engine is not None
        assert desk.settings is not None
        assert desk.chat is not None
        desk.settings.update(engine="url", engine_url=url)
        await desk.engine.restart_now()
        await desk.chat.sight.known()
        await give(desk, pictures)
        page = desk.window.page("chat")
        page.composer.put("Was ist auf den Bildern zu sehen? Bitte kurz.")  # type: ignore[attr-defined]
        await all_looks(desk, folder, "pictures-chips")
        ended = once(desk.chat.finished.connect)
        page.composer.text.submitted.emit()  # type: ignore[attr-defined]
        await asyncio.wait_for(ended, WAIT_S)
        await give(desk, pictures[1:2])
        await all_looks(desk, folder, "pictures-message")
        page.transcript.pictures_opened.emit(desk.chat.store.page(desk.chat.tip)[0].pictures, 0)  # type: ignore[attr-defined]
        window = page.findChild(PictureWindow)
        assert window is not None
        await asyncio.sleep(SETTLE_S * 3)
        window.grab().save(str(folder / "pictures-window.png"))
        window.close()
        engine.sees = False
        await desk.engine.restart_now()
        await desk.chat.sight.known()
        page.composer.text.insertFromMimeData(dropped(pictures[1:2]))  # type: ignore[attr-defined]
        page.composer.put("Und jetzt?")  # type: ignore[attr-defined]
        await all_looks(desk, folder, "pictures-refused")
        asked = once(desk.chat.unseen.connect)
        page.composer.text.submitted.emit()  # type: ignore[attr-defined]
        await asyncio.wait_for(asked, WAIT_S)
        await all_looks(desk, folder, "pictures-unseen")
    finally:
        await runner.cleanup()


def dropped(paths: Sequence[Path]) -> QMimeData:
    """What is dropped on the composer."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


async def give(desk: Desk, paths: Sequence[Path]) -> None:
    """Drops pictures and waits until they are chips."""
    assert desk.chat is not None
    chat = desk.chat
    count = len(chat.pictures) + len(paths)
    taken = once(chat.pictures_changed.connect, lambda: len(chat.pictures) == count)
    desk.window.page("chat").composer.text.insertFromMimeData(dropped(paths))  # type: ignore[attr-defined]
    await asyncio.wait_for(taken, WAIT_S)


async def all_looks(desk: Desk, folder: Path, name: str) -> None:
    """Both themes, in the usual size and with large text in the smallest window."""
    for theme in ("light", "dark"):
        for scale, suffix in ((1.0, ""), (LARGE, "-150")):
            apply_theme(desk.app, theme, scale)
            desk.window.resize(*SIZE) if scale == 1.0 else desk.window.resize(desk.window.minimumSize())
            await asyncio.sleep(SETTLE_S)
            desk.window.grab().save(str(folder / f"{name}-{theme}{suffix}.png"))
    apply_theme(desk.app, "light", 1.0)
    desk.window.resize(*SIZE)


if __name__ == "__main__":
    run(shoot)
