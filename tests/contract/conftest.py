"""One engine's HTTP wire, whoever answers: the embedded engine here, or the server named by DESK_CONTRACT_URL.

``DESK_CONTRACT_URL`` (and ``DESK_CONTRACT_KEY``) point the same tests at a running vLLM that serves a DiffusionGemma,
started as the program starts it (--enable-scale-out, --max-logprobs 128, --enable-force-include-usage). Its
``DESK_CONTRACT_FOLDER`` is the checkpoint, for the two numbers that no endpoint tells.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from engine import paths
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.model import DemoModel
from engine.embedded.server import create_app
from engine.embedded.tokenizer import DemoTokenizer

KEY = "contract-key"
HELLO = [{"role": "user", "content": "Hello!"}]
THOUGHT = "<|channel>thought\n<channel|>"


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any

    @property
    def error(self) -> dict[str, Any]:
        """The error of a refusal, in the one shape that all refusals have."""
        error = self.body["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["code"] == self.status
        assert error["message"]
        return error


@dataclass(frozen=True)
class Served:
    """A server under test and what it serves."""

    url: str
    key: str
    session: aiohttp.ClientSession
    vocab_size: int
    canvas_length: int
    embedded: bool

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def get(self, path: str, **headers: str) -> Answer:
        async with self.session.get(self.url + path, headers=headers or self.headers) as answer:
            text = await answer.text()
            return Answer(answer.status, json.loads(text) if text.startswith("{") else text)

    async def post(self, path: str, body: Any, **options: Any) -> Answer:
        options = {"json": body, "headers": self.headers, **options}
        async with self.session.post(self.url + path, **options) as answer:
            return Answer(answer.status, await answer.json(content_type=None))

    async def chat(self, **body: Any) -> Answer:
        return await self.post("/v1/chat/completions", {"messages": HELLO, "max_tokens": 8, **body})

    async def stream(self, **body: Any) -> list[dict[str, Any]]:
        """The chunks of a streamed chat; the last event is [DONE]."""
        sent = {"messages": HELLO, "stream": True, **body}
        async with self.session.post(f"{self.url}/v1/chat/completions", json=sent, headers=self.headers) as answer:
            assert answer.status == 200
            assert answer.content_type == "text/event-stream"
            events = (await answer.text()).split("\n\n")
        assert events[-2:] == ["data: [DONE]", ""]
        return [json.loads(event.removeprefix("data: ")) for event in events[:-2]]

    async def metrics(self) -> dict[str, float]:
        """Every sample of /metrics by its name without labels, summed."""
        text = (await self.get("/metrics")).body
        sums: dict[str, float] = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                sums[name.partition("{")[0]] = sums.get(name.partition("{")[0], 0.0) + float(value)
        return sums

    async def tokens(self, text: str) -> list[int]:
        body = {"prompt": text, "add_special_tokens": False}
        return (await self.post("/tokenize", body)).body["tokens"]

    async def rendered(self, messages: Sequence[dict[str, Any]] = HELLO) -> list[int]:
        return (await self.post("/v1/chat/completions/render", {"messages": list(messages)})).body["token_ids"]

    def seed(self, width: int) -> list[int]:
        """Noise for a canvas, the same on every run."""
        source = random.Random(width)
        return [source.randrange(self.vocab_size) for _ in range(width)]

    async def look(self, prompt_ids: Sequence[int], canvas: Sequence[int], labels: Sequence[int], slots: int) -> Answer:
        """A read-only look at a seeded canvas: log-probabilities of ``labels`` at the first ``slots`` positions."""
        return await self.post(
            "/inference/v1/generate",
            {
                "token_ids": list(prompt_ids),
                "sampling_params": {
                    "max_tokens": slots,
                    "logprobs": len(labels),
                    "logprob_token_ids": list(labels),
                    "extra_args": {
                        "diffusion_seed_canvas": list(canvas),
                        "diffusion_canvas_length": len(canvas),
                        "diffusion_max_steps": 1,
                        "diffusion_read_only": 1,
                    },
                },
            },
        )


@pytest.fixture(scope="session")
def loaded() -> tuple[DemoModel, DemoTokenizer]:
    folder = paths.demo_model_dir()
    return DemoModel(folder), DemoTokenizer(folder)


@pytest.fixture
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=240)) as session:
        if url := os.environ.get("DESK_CONTRACT_URL"):
            config = json.loads((Path(os.environ["DESK_CONTRACT_FOLDER"]) / "config.json").read_text())
            size, length = config["text_config"]["vocab_size"], config["canvas_length"]
            yield Served(url, os.environ.get("DESK_CONTRACT_KEY", ""), session, size, length, embedded=False)
            return
        model, tokenizer = request.getfixturevalue("loaded")
        app = create_app(EmbeddedEngine(model, tokenizer), api_key=KEY)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        config = model.config
        yield Served(f"http://{host}:{port}", KEY, session, config.vocab_size, config.canvas_length, embedded=True)
        await runner.cleanup()


@pytest.fixture
def only_embedded(served: Served) -> Served:
    if not served.embedded:
        pytest.skip("about the embedded engine")
    return served
