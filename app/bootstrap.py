"""How the window comes up: paint first, import the heavy rooms afterwards, stop the engine before leaving.

Until the first paint only Qt, asyncio and small modules of ours are imported; aiohttp, pydantic and the presenters
follow in ``Desk.load``. No engine library (torch, vllm, transformers, onnxruntime) is ever imported here.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
import sys
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from app.collector import GuiCollector
from app.language import install_language
from app.notify import NotificationSink
from app.single_instance import SingleInstance
from app.theme import apply_theme
from app.windows.desk import Desk
from app.windows.ui_state import UiState
from engine import paths

DESKTOP_FILE = "diffusion-desk"  # must equal the .desktop file's name, or Wayland shows a generic icon
BENCH_VARIABLE = "DIFFUSION_DESK_BENCH"
LOG_BYTES = 1_000_000
CRASH_LOG = "crash.log"
BAD_FOLDER = 2
NO_FOLDER = """\
error: cannot use {path}: {why}
  set DIFFUSION_DESK_HOME to a folder that can be written
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Opens the window and runs until it is closed; the exit status.

    Args:
        argv: the program's name and files to open.
    """
    arguments = list(sys.argv if argv is None else argv)
    app = _application(arguments)
    files = arguments[1:]
    try:
        instance = SingleInstance(paths.runtime_dir())
        if not instance.acquire():
            return _hand_over(instance, files)
        crash = _kept_crash()
        crash_log = _start_logs()
        ui_state = UiState(QSettings(str(paths.data_dir() / "window.ini"), QSettings.Format.IniFormat))
    except OSError as error:
        sys.stderr.write(NO_FOLDER.format(path=error.filename, why=error.strerror))
        return BAD_FOLDER
    apply_theme(app, ui_state.theme, ui_state.font_scale)
    notifier = NotificationSink()
    desk = Desk(app, ui_state, notifier)
    instance.raise_requested.connect(desk.take_over)
    desk.open_files([os.path.abspath(name) for name in files])
    if crash is not None:
        notifier.warning(
            app.tr("The program crashed the last time."),
            app.tr("What it did then is in {path}; stored runs can be resumed.").format(path=crash),
        )
    collector = GuiCollector(app)
    desk.loaded.connect(collector.settle)
    try:
        return _run(app, desk, notifier)
    finally:
        collector.stop()
        notifier.uninstall()
        instance.release()
        faulthandler.disable()
        crash_log.close()


def _hand_over(instance: SingleInstance, files: Sequence[str]) -> int:
    """A window is there already: it comes to the front and opens our files, and we leave."""
    if instance.raise_other(files):
        return 0
    sys.stderr.write("error: another Diffusion Desk holds the data folder and does not answer; end it first\n")
    return 1


def _application(arguments: list[str]) -> QApplication:
    # X's window class begins with the program's name; run as a module that would be "__main__.py".
    app = QApplication([DESKTOP_FILE, *arguments[1:]])
    app.setApplicationName("diffusion-desk")
    app.setApplicationDisplayName("Diffusion Desk")
    app.setDesktopFileName(DESKTOP_FILE)
    app.setStyle("Fusion")
    install_language(app)
    app.setQuitOnLastWindowClosed(False)  # the loop must outlive the window: it still stops the engine
    return app


def _run(app: QApplication, desk: Desk, notifier: NotificationSink) -> int:
    os.environ["QT_API"] = "pyside6"  # qasync would prefer another binding that happens to be installed
    import qasync

    async def live() -> int:
        loop = asyncio.get_running_loop()
        notifier.install(loop)
        for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl+C and a logout close the window in good order
            loop.add_signal_handler(number, desk.request_close)
        bench = os.environ.get(BENCH_VARIABLE, "")
        if bench:
            from app.bench_hooks import start_bench

            start_bench(bench, desk)
        return await desk.run()

    code: int = asyncio.run(live(), loop_factory=lambda: qasync.QEventLoop(app))
    return code


def _start_logs() -> TextIO:
    """The program's log, rotated, and the crash log that faulthandler writes to; the latter must stay open."""
    folder = paths.logs_dir()
    handler = RotatingFileHandler(folder / "window.log", maxBytes=LOG_BYTES, backupCount=2, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    crash_log = (folder / CRASH_LOG).open("a", encoding="utf-8")
    faulthandler.enable(crash_log)
    return crash_log


def _kept_crash() -> Path | None:
    """The trace of a crash of the last window, under a name of its own; None when it ended well."""
    path = paths.logs_dir() / CRASH_LOG
    if not path.exists() or not path.stat().st_size:
        return None
    kept = path.with_name("crash-last.log")
    path.replace(kept)
    return kept
