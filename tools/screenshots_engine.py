"""Pictures of the Engine page's states: ``python -m tools.screenshots_engine [folder]``.

Ours ready, its log with earlier starts, lost; a server elsewhere chosen, in use, lost; in both themes, and in the
smallest window with large text. The server elsewhere is an embedded engine of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from app.pages.engine import EnginePage
from app.presenters.engine import EngineChoice
from app.theme import apply_theme
from app.windows.desk import Desk
from engine import paths
from engine.supervise.embedded import embedded_engine
from engine.supervise.logs import rotate
from tools.pictures import LARGE, SIZE, both, enlarge, once, opened, run, take

OLD = (
    "2026-11-28 21:14:07,310 INFO engine.embedded.server: embedded engine at http://127.0.0.1:40211\n",
    "(APIServer pid=7) INFO 11-29 09:30:00 [api_server.py:1] Resolved architecture: X\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.\n",
)


async def phase(desk: Desk, name: str) -> None:
    """Wait until the engine is in it."""
    assert desk.engine is not None
    if desk.engine.state.phase != name:
        await asyncio.wait_for(once(desk.engine.state_changed.connect, lambda state: state.phase == name), 60)


async def shoot(desk: Desk, folder: Path) -> None:
    """All pictures."""
    log = paths.logs_dir() / "engine-embedded.log"
    for text in OLD:
        rotate(log)
        log.write_text(text)
    await opened(desk)
    assert desk.engine is not None
    await phase(desk, "ready")
    page = desk.window.page("engine")
    assert isinstance(page, EnginePage)
    desk.window.show_page("engine")
    for number, name in enumerate(("overview", "log", "programs", "elsewhere")):
        page.tabs.setCurrentIndex(number)
        await asyncio.sleep(1.5)  # the page looks once a second
        await pictures(desk, folder, name)
    page.elsewhere.address.setText("http://192.168.1.20:8000")
    page.elsewhere.show_test("no engine answers at http://192.168.1.20:8000: no route to host", good=False)
    await pictures(desk, folder, "elsewhere-bad")
    page.elsewhere.show_test("diffusiongemma, 262,144 tokens of context", good=True)
    await pictures(desk, folder, "elsewhere-good")
    page.tabs.setCurrentIndex(0)
    assert desk.engine.state.pid is not None
    os.kill(desk.engine.state.pid, signal.SIGKILL)
    await phase(desk, "lost")
    await pictures(desk, folder, "lost")
    await remote(desk, page, folder)


async def remote(desk: Desk, page: EnginePage, folder: Path) -> None:
    """A server at an address, in use and lost."""
    server = embedded_engine()
    server.log_path = paths.logs_dir() / "elsewhere.log"
    handle = await server.start()
    try:
        page.choice_made.emit(EngineChoice("url", handle.base_url, handle.api_key))
        await phase(desk, "ready")
        await pictures(desk, folder, "url")
    finally:
        await server.stop()
    await phase(desk, "lost")
    await pictures(desk, folder, "url-lost")


async def pictures(desk: Desk, folder: Path, name: str) -> None:
    """Both themes, and both in the smallest window with large text."""
    await both(desk, folder, f"engine-{name}")
    enlarge(desk)
    for theme in ("light", "dark"):
        apply_theme(desk.app, theme, LARGE)
        await take(desk, folder, f"engine-{name}-large-{theme}")
    apply_theme(desk.app, "light")
    desk.window.resize(*SIZE)


if __name__ == "__main__":
    run(shoot)
