"""What every handler needs: the served model, reading a body, naming a request."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ValidationError

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.reads import NativeReader
from engine.embedded.refusals import Refused, from_validation, model_not_found


@dataclass(frozen=True, slots=True)
class Serving:
    """The served model.

    Attributes:
        model_id: the name that clients use.
        created: seconds since the epoch.
        force_usage: every stream reports its usage, asked or not (vLLM's --enable-force-include-usage).
    """

    engine: EmbeddedEngine
    model_id: str
    force_usage: bool = True
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def reader(self) -> NativeReader:
        return NativeReader(self.engine)

    def check_model(self, name: str | None) -> None:
        """Refuses the name of a model that is not served; no name is always right."""
        if name and name != self.model_id:
            raise model_not_found(name, self.model_id)


SERVING = web.AppKey("serving", Serving)


async def read_body[Body: BaseModel](request: web.Request, kind: type[Body]) -> Body:
    """The request's JSON body as ``kind``.

    Raises:
        Refused: not JSON, or not of that shape; names the first field at fault.
    """
    if request.content_type != "application/json":
        raise Refused(
            "the content type is {type}, not application/json",
            kind=HTTPStatus.BAD_REQUEST.phrase,
            type=request.content_type,
        )
    try:
        return kind.model_validate_json(await request.read())
    except ValidationError as error:
        raise from_validation(error) from error


def request_id(request: web.Request, prefix: str, own: str | None = None) -> str:
    """``prefix-`` and the client's X-Request-Id, or the body's id, or a fresh one."""
    return f"{prefix}-{request.headers.get('X-Request-Id') or own or uuid.uuid4().hex}"


def usage(prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
