"""GET /health, /v1/models, /metrics."""

from __future__ import annotations

from aiohttp import web

from engine.embedded.handlers.serving import SERVING

OWNER = "diffusion-desk-embedded"  # by this a client knows that the toy answers
_METRICS_TYPE = "text/plain; version=0.0.4"


async def health(request: web.Request) -> web.Response:
    """200 with no body while requests are served; needs no key."""
    return web.Response()


async def models(request: web.Request) -> web.Response:
    serving = request.app[SERVING]
    card = {
        "id": serving.model_id,
        "object": "model",
        "created": serving.created,
        "owned_by": OWNER,
        "root": str(serving.engine.model.folder),
        "parent": None,
        "max_model_len": serving.engine.model.config.max_model_len,
    }
    return web.json_response({"object": "list", "data": [card]})


async def metrics(request: web.Request) -> web.Response:
    """The counters of vLLM that are meaningful here, in Prometheus' text format."""
    serving = request.app[SERVING]
    engine, counters = serving.engine, serving.engine.counters
    values = (
        ("diffusion_num_denoising_steps_total", "counter", counters.denoise_steps, "Passes over a canvas."),
        ("diffusion_num_canvas_positions_total", "counter", counters.canvas_positions, "Canvas slots of those passes."),
        ("diffusion_num_committed_tokens_total", "counter", counters.committed_tokens, "Slots of committed canvases."),
        ("prompt_tokens_total", "counter", counters.prompt_tokens, "Prompt tokens of started requests."),
        ("generation_tokens_total", "counter", counters.generation_tokens, "Tokens of answers."),
        ("num_requests_running", "gauge", engine.running, "Requests being worked on."),
        ("num_requests_waiting", "gauge", engine.waiting, "Requests in the queue."),
    )
    labels = f'{{engine="0",model_name="{_escaped(serving.model_id)}"}}'
    lines = []
    for name, kind, value, help_text in values:
        lines += [
            f"# HELP vllm:{name} {help_text}",
            f"# TYPE vllm:{name} {kind}",
            f"vllm:{name}{labels} {float(value)}",
        ]
    return web.Response(body="\n".join([*lines, ""]).encode(), headers={"Content-Type": _METRICS_TYPE})


def _escaped(text: str) -> str:
    """A label value of the text format: backslash, quote and newline escaped."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
