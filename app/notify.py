"""One place where every message to the user and every unexpected error arrives.

Whatever nobody handled (Python's hooks, threads, the event loop, Qt's own messages) ends here too: it is logged with
its traceback and shown in the window's notice bar with what to do next.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from app.models.notice import Notice
from engine.errors import EngineError

log = logging.getLogger("app")


class NotificationSink(QObject):
    """Signals: noticed(Notice): to be shown; always emitted in the GUI's thread (queued from others)."""

    noticed = Signal(object)

    def show(self, notice: Notice) -> None:
        self.noticed.emit(notice)

    def info(self, text: str, remedy: str = "") -> None:
        self.noticed.emit(Notice("info", text, remedy))

    def success(self, text: str, remedy: str = "") -> None:
        self.noticed.emit(Notice("success", text, remedy))

    def warning(self, text: str, remedy: str = "") -> None:
        self.noticed.emit(Notice("warning", text, remedy))

    def error(self, text: str, remedy: str = "", details: str = "") -> None:
        self.noticed.emit(Notice("error", text, remedy, details))

    def report(self, error: BaseException, doing: str = "") -> None:
        """Shows an exception: a user's error by its own words, anything else as a fault of ours with its traceback.

        Args:
            doing: what was attempted, to begin the sentence with.
        """
        prefix = f"{doing}: " if doing else ""
        if isinstance(error, EngineError):
            log.warning("%s%s (%s)", prefix, error, error.code)
            self.error(f"{prefix}{error.message}", error.remedy)
            return
        details = "".join(traceback.format_exception(error))
        log.error("%sunexpected error\n%s", prefix, details)
        kind = type(error).__name__
        text = self.tr("Something went wrong inside the program ({kind}).").format(kind=kind)
        self.error(
            prefix + text,
            self.tr("Your data is safe. Copy the details into a bug report; restart the program if it misbehaves."),
            details,
        )

    def install(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Takes over Python's, the threads', the loop's and Qt's hooks."""
        sys.excepthook = self._on_exception
        sys.unraisablehook = self._on_unraisable
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(_log_qt_message)
        if loop is not None:
            loop.set_exception_handler(self._on_loop_exception)

    def uninstall(self) -> None:
        """Gives Python's and Qt's own hooks back."""
        sys.excepthook = sys.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def _on_exception(self, _kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            sys.__excepthook__(type(error), error, error.__traceback__)
            return
        self.report(error)

    def _on_unraisable(self, unraisable: Any) -> None:
        log.error("unraisable in %r", unraisable.object, exc_info=unraisable.exc_value)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self.report(args.exc_value)

    def _on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.report(error)
        else:
            log.error("event loop: %s", context.get("message"))


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str | None) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }
    logging.getLogger("qt").log(levels.get(kind, logging.INFO), "%s (%s)", message, context.category)
