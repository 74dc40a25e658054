"""The two kinds of error, and no third.

    EngineError
     ├── UserError        the world's fault: input, disk, network, engine. Shown, with what to do next.
     │    ├── InputError      a file, form, table or setting is wrong; nothing has run
     │    ├── EngineUnreachable   no engine answers (connection refused, died, timed out); worth a retry
     │    │    └── EngineBusy       it says that it has too much to do; carries ``retry_after_s``
     │    └── EngineRefused   the engine answered with an error status; carries ``status`` (HTTP)
     └── BugError         ours: reported, never explained away

A message names the file, the row or field, the limit and the value, in lower case and without "error:".
``code`` is stable (``form.too_many_options``); ``params`` are the values that the message was made from, so a
front end can translate by code instead of parsing text.
"""

from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """Base of every error that the engine raises on purpose.

    Args:
        code: stable, dotted name, for instance ``table.empty``.
        message: ``str.format`` template over ``params``; English.
        remedy: what the user can do next, a template too; empty when the message already says it.
        params: the values in the message.
    """

    def __init__(self, code: str, message: str, *, remedy: str = "", **params: Any) -> None:
        self.code = code
        self.params = params
        self.message = message.format_map(params) if params else message
        self.remedy = remedy.format_map(params) if params else remedy
        super().__init__(code)

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class UserError(EngineError):
    """Something outside the program is wrong; the message says what, the remedy what to do."""


class InputError(UserError):
    """A file, form, table, setting or argument is wrong, found before anything ran."""


class EngineUnreachable(UserError):
    """No engine answers at the address (refused, died in the middle, timed out)."""


class EngineBusy(EngineUnreachable):
    """The engine has too much to do now (429, 503, 529), told to a caller that asks less and waits.

    Args:
        retry_after_s: the seconds that the engine names, or None.
    """

    def __init__(
        self, code: str, message: str, *, retry_after_s: float | None, remedy: str = "", **params: Any
    ) -> None:
        super().__init__(code, message, remedy=remedy, **params)
        self.retry_after_s = retry_after_s


class EngineRefused(UserError):
    """The engine answered with an error.

    Args:
        status: the HTTP status of the answer.
    """

    def __init__(self, code: str, message: str, *, status: int, remedy: str = "", **params: Any) -> None:
        super().__init__(code, message, remedy=remedy, status=status, **params)
        self.status = status


class BugError(EngineError):
    """A contract inside the program is broken; to be reported."""


def first_error(error: BaseException) -> BaseException:
    """The first failure inside nested groups; the tasks' other failures follow from it. Itself where it is no group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
