"""Answers that say no: the statuses and the error shape of vLLM 0.33.0, in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from engine.errors import InputError

MAX_REPORTED = 5  # problems of one body


class Refused(InputError):
    """A request that is not served.

    Args:
        param: the request's field that is at fault, as vLLM names it; None where it names none.
        status: of the HTTP answer.
        kind: ``error.type`` of the answer.
    """

    def __init__(
        self, message: str, *, param: str | None = None, status: int = 400, kind: str = "BadRequestError", **params: Any
    ) -> None:
        super().__init__("embedded.refused", message, **params)
        self.param = param
        self.status = status
        self.kind = kind

    def response(self) -> web.Response:
        return error_response(self.status, self.kind, str(self), self.param)


def error_response(status: int, kind: str, message: str, param: str | None = None) -> web.Response:
    """``{"error": {message, type, param, code}}`` with the status as its code."""
    return web.json_response({"error": error_body(status, kind, message, param)}, status=status)


def error_body(status: int, kind: str, message: str, param: str | None = None) -> Mapping[str, Any]:
    return {"message": message, "type": kind, "param": param, "code": status}


def from_validation(error: ValidationError) -> Refused:
    """The refusal for a body of the wrong shape; ``param`` is the first field at fault, with ``body.`` before it."""
    problems = error.errors(include_url=False, include_input=False)
    where = [".".join(("body", *(str(part) for part in problem["loc"]))) for problem in problems]
    lines = [f"{place}: {problem['msg']}" for place, problem in zip(where, problems, strict=True)][:MAX_REPORTED]
    if len(problems) > MAX_REPORTED:
        lines.append(f"and {len(problems) - MAX_REPORTED} more")
    # The text holds the client's own words, so it must not pass as a template.
    return Refused("{problems}", param=where[0], kind=HTTPStatus.BAD_REQUEST.phrase, problems="; ".join(lines))


def model_not_found(name: str, served: str) -> Refused:
    return Refused(
        "model: there is no {name!r} here; {served!r} is served",
        param="model",
        status=404,
        kind="NotFoundError",
        name=name,
        served=served,
    )
