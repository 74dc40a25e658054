"""The embedded engine over HTTP: the subset of vLLM 0.33.0's server that the program uses, on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import os
import signal
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from engine.embedded.engine import EmbeddedEngine
from engine.embedded.handlers import chat, decisions, status, tokens
from engine.embedded.handlers.serving import SERVING, Serving
from engine.embedded.refusals import Refused, error_response
from engine.errors import EngineError, EngineUnreachable, InputError, UserError

logger = logging.getLogger(__name__)

MODEL_ID = "diffusion-desk-demo"
LOOPBACK = "127.0.0.1"
MAX_BODY = 2**20  # bytes; a full window of text is a tenth of it, and tokenizing more would take seconds
GUARDED = ("/v1", "/v2", "/inference")  # the paths that vLLM asks a key for
_SHUTDOWN_S = 2.0  # for running requests to learn that they end


def create_app(
    engine: EmbeddedEngine, *, api_key: str | None = None, model_id: str = MODEL_ID, force_usage: bool = True
) -> web.Application:
    """The application. It starts ``engine`` when it starts and closes it when it is cleaned up.

    Run it with ``handler_cancellation=True``: a client that leaves must end its request.

    Args:
        api_key: asked for on /v1 and /inference when it is given.
        force_usage: streams report usage even unasked, as our vLLM servers do.
    """
    app = web.Application(client_max_size=MAX_BODY, middlewares=[_errors_as_json, _guard(api_key)])
    app[SERVING] = Serving(engine, model_id, force_usage)
    app.add_routes(
        [
            web.get("/health", status.health),
            web.get("/metrics", status.metrics),
            web.get("/v1/models", status.models),
            web.post("/v1/chat/completions", chat.complete),
            web.post("/v1/chat/completions/render", tokens.render),
            web.post("/v1/systemone", decisions.decide),
            web.post("/inference/v1/generate", tokens.generate),
            web.post("/tokenize", tokens.tokenize),
            web.post("/detokenize", tokens.detokenize),
        ]
    )
    app.on_startup.append(_start)
    app.on_shutdown.append(_close)
    app.on_response_prepare.append(_name_server)
    return app


async def run_server(
    engine: EmbeddedEngine,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    sock: socket.socket | None = None,
    api_key: str | None = None,
    model_id: str = MODEL_ID,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then ends running requests and returns.

    Args:
        host, port: where to listen; loopback and a free port unless told otherwise.
        sock: a listening socket, TCP or Unix, that somebody else has bound; host and port are not looked at then.
        on_ready: called with the base URL once /health answers.

    Raises:
        UserError: the port is in use or may not be taken; names it.
    """
    app = create_app(engine, api_key=api_key, model_id=model_id)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S, access_log=None)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        await runner.setup()
        address = await _listen(runner, host, port, sock)
        logger.info("embedded engine at %s", address)
        if on_ready is not None:
            on_ready(address)
        await stop.wait()
    finally:
        await runner.cleanup()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _listen(runner: web.AppRunner, host: str, port: int, sock: socket.socket | None) -> str:
    site: web.BaseSite = web.SockSite(runner, sock) if sock is not None else web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError as error:
        raise UserError(
            "embedded.port_in_use",
            "cannot listen on {host}:{port}: {reason}",
            remedy="choose another port, or stop the program that holds it",
            host=host,
            port=port,
            reason=os.strerror(error.errno) if error.errno else str(error),
        ) from error
    return _address(runner.addresses[0])


def _address(bound: Any) -> str:
    """The base URL of a socket's name: a path (Unix), or host, port and more."""
    if isinstance(bound, str):
        return f"unix:{bound}"
    host, port = bound[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _guard(api_key: str | None) -> Middleware:
    expected = hashlib.sha256(api_key.encode()).digest() if api_key else None

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if expected is not None and request.path.startswith(GUARDED) and not _holds_key(request, expected):
            return web.json_response({"error": "Unauthorized"}, status=401)  # a bare string, as vLLM answers
        return await handler(request)

    return guard


def _holds_key(request: web.Request, expected: bytes) -> bool:
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    given = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
    return scheme.lower() == "bearer" and hmac.compare_digest(given, expected)


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every failure in vLLM's error shape. What is nobody's fault but ours is logged and says no more than that."""
    try:
        return await handler(request)
    except Refused as refused:
        return refused.response()
    except InputError as error:
        return error_response(400, "BadRequestError", str(error))
    except web.HTTPException as error:
        return error_response(error.status, HTTPStatus(error.status).phrase, error.reason)
    except EngineUnreachable as error:
        return error_response(503, "ServiceUnavailableError", str(error))
    except EngineError as error:
        return error_response(500, "InternalServerError", str(error))
    except Exception:
        logger.exception("%s %s failed", request.method, request.path)
        return error_response(500, "InternalServerError", "the engine failed; its log says why")


async def _start(app: web.Application) -> None:
    app[SERVING].engine.start()


async def _close(app: web.Application) -> None:
    await asyncio.to_thread(app[SERVING].engine.close)


async def _name_server(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Server"] = status.OWNER
