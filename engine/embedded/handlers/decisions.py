"""POST /v1/systemone: typed questions about a state, answered as probabilities."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from engine.embedded.handlers.serving import SERVING, read_body, request_id
from engine.embedded.questions import answer, parse_questions
from engine.embedded.reads import CanvasRead
from engine.embedded.refusals import Refused
from engine.embedded.wire import SystemOneBody


async def decide(request: web.Request) -> web.Response:
    """Reads every question; a joint request with one question is read alone, as vLLM does."""
    serving = request.app[SERVING]
    body = await read_body(request, SystemOneBody)
    serving.check_model(body.model)
    for name in ("images", "audio", "videos"):
        if getattr(body, name):
            raise Refused("{name}: this model reads text only", name=name)
    if (body.chat_template_kwargs or {}).get("enable_thinking"):
        raise Refused("chat_template_kwargs: a read looks at the first token of the reply, so thinking stays off")
    questions = parse_questions(body.questions)
    joint = body.joint and len(questions) > 1
    canvases = await serving.reader.read(questions, body.state, instructions=body.instructions, joint=joint)
    reads = [read for canvas in canvases for read in canvas.reads]
    return web.json_response(
        {
            "id": request_id(request, "decision", body.request_id),
            "object": "structured_decision",
            "created": int(time.time()),
            "model": serving.model_id,
            "answers": {read.question.id: answer(read.question, read.shares, read.label_mass) for read in reads},
            "usage": {
                "input_tokens": sum(canvas.input_tokens for canvas in canvases),
                "output_tokens": sum(canvas.output_tokens for canvas in canvases),
            },
            "diagnostics": {
                read.question.id: {"label_mass": read.label_mass, "argmax_is_label": read.argmax_is_label}
                for read in reads
            },
            "joint": _joint(canvases) if joint else None,
        }
    )


def _joint(canvases: Sequence[CanvasRead]) -> dict[str, Any]:
    return {
        "canvases": [
            {
                "questions": [read.question.id for read in canvas.reads],
                "width": canvas.width,
                "slots": [read.position for read in canvas.reads],
            }
            for canvas in canvases
        ]
    }
