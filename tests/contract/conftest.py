"""One wire, several engines: every test of this folder that takes ``served`` meets the embedded engine and vLLM's CPU
build, the latter started by our own launcher once with one worker and once with two (tensor parallel).

``DESK_CONTRACT_URL`` (with ``DESK_CONTRACT_KEY``) points the tests at a running vLLM instead, which serves a
DiffusionGemma and was started as the program starts it; ``DESK_CONTRACT_FOLDER`` is its checkpoint, for the two
numbers that no endpoint tells. docs/contract.md says more.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from engine import paths
from engine.domain.plan import EnvVar
from engine.embedded.engine import EmbeddedEngine
from engine.embedded.live import LivePublisher
from engine.embedded.model import DemoModel
from engine.embedded.server import create_app
from engine.embedded.tokenizer import DemoTokenizer

sys.path.insert(0, str(Path(__file__).parent))
from cpu_server import LIVE, cpu_engine  # the folder is no package

KEY = "contract-key"
HELLO = [{"role": "user", "content": "Hello!"}]
THOUGHT = "<|channel>thought\n<channel|>"
START_S = 600.0  # 50 on a quiet machine with two cores
SLOW_S = 900  # for a test, with the start of the server
AHEAD = (EnvVar("DESK_TEST_ASYNC", "1", "steps are scheduled ahead, as on a GPU; with two ranks they are not"),)
SERVER = pytest.StashKey[ExitStack]()
"""Ends the vLLM that runs now; may be closed twice."""


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
    """A server under test and what it serves.

    Attributes:
        live: where it sends canvas frames, for a test to listen; None where nobody knows.
    """

    url: str
    key: str
    session: aiohttp.ClientSession
    vocab_size: int
    canvas_length: int
    embedded: bool
    live: Path | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def needs(self, version: str, what: str) -> None:
        """Skips the test on a vLLM that is older than ``version``; the embedded engine has it all."""
        if self.embedded:
            return
        has = (await self.get("/version")).body["version"]
        if _numbers(has) < _numbers(version):
            pytest.skip(f"vLLM {has} has no {what}; {version} has")

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


@dataclass(frozen=True)
class Running:
    """A vLLM that runs for the whole session.

    Attributes:
        folder: its checkpoint.
        phases: of its start, as our supervisor told them; empty when it ran already.
        workers: how many we have started.
        live: where it sends canvas frames.
    """

    url: str
    key: str
    folder: Path
    phases: tuple[str, ...] = ()
    workers: int = 0
    live: Path | None = None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:3])


def _engines() -> list[Any]:
    if os.environ.get("DESK_CONTRACT_URL"):
        return [pytest.param("url", id="url")]
    marks = (pytest.mark.vllm_cpu, pytest.mark.timeout(SLOW_S))
    sizes = [pytest.param(size, id=f"vllm-cpu-tp{size}", marks=marks) for size in (1, 2)]
    return [pytest.param("embedded", id="embedded"), *sizes]


@pytest.fixture(scope="session", params=_engines())
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running | None]:
    """The vLLM of this round of tests; None for the embedded engine, of which every test has its own."""
    if request.param == "embedded":
        yield None
    elif request.param == "url":
        folder = Path(os.environ["DESK_CONTRACT_FOLDER"])
        live = os.environ.get("DG_LIVE_SOCK")
        yield Running(
            os.environ["DESK_CONTRACT_URL"],
            os.environ.get("DESK_CONTRACT_KEY", ""),
            folder,
            live=Path(live) if live else None,
        )
    else:
        with ExitStack() as stack:
            request.config.stash[SERVER] = stack
            yield _vllm_cpu(request.param, tmp_path_factory.mktemp("vllm-cpu"), stack)


def _vllm_cpu(size: int, folder: Path, stack: ExitStack) -> Running:
    """Started, and stopped when the stack is closed."""
    # A loop of its own: the server lives longer than any test's.
    loop = asyncio.new_event_loop()
    stack.callback(loop.close)
    phases: list[str] = []
    engine = cpu_engine(size, folder, variables=AHEAD if size == 1 else ())
    engine.on_progress = lambda progress: phases.append(progress.phase)

    def stop() -> None:
        assert loop.run_until_complete(engine.stop()).clean
        assert not list(folder.glob("group-*.json"))

    stack.callback(stop)
    handle = loop.run_until_complete(engine.start(timeout_s=START_S))
    return Running(handle.base_url, handle.api_key, paths.demo_model_dir(), tuple(phases), size, handle.live_socket)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A server ends with the last test that asks it: the session goes on for minutes, and idle workers take cores."""
    if "running" not in getattr(nextitem, "fixturenames", ()) and SERVER in item.config.stash:
        item.config.stash[SERVER].close()


@pytest.fixture(scope="session")
def loaded() -> tuple[DemoModel, DemoTokenizer]:
    folder = paths.demo_model_dir()
    return DemoModel(folder), DemoTokenizer(folder)


@asynccontextmanager
async def _embedded(
    loaded: tuple[DemoModel, DemoTokenizer], session: aiohttp.ClientSession, folder: Path
) -> AsyncIterator[Served]:
    live = folder / LIVE
    app = create_app(EmbeddedEngine(*loaded, LivePublisher(str(live))), api_key=KEY)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    config = loaded[0].config
    yield Served(f"http://{host}:{port}", KEY, session, config.vocab_size, config.canvas_length, True, live)
    await runner.cleanup()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    # vLLM closes a connection that was idle for 5 s; one that it closes as it is used again would fail a test.
    connector = aiohttp.TCPConnector(keepalive_timeout=2)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=240), connector=connector) as session:
        yield session


@pytest.fixture
async def only_embedded(
    loaded: tuple[DemoModel, DemoTokenizer], session: aiohttp.ClientSession, tmp_path: Path
) -> AsyncIterator[Served]:
    """The embedded engine, for what is its own."""
    async with _embedded(loaded, session, tmp_path) as served:
        yield served


@pytest.fixture
async def served(
    running: Running | None,
    loaded: tuple[DemoModel, DemoTokenizer],
    session: aiohttp.ClientSession,
    tmp_path: Path,
) -> AsyncIterator[Served]:
    """Every engine in turn."""
    if running is None:
        async with _embedded(loaded, session, tmp_path) as served:
            yield served
    else:
        config = json.loads((running.folder / "config.json").read_text())
        size, length = config["text_config"]["vocab_size"], config["canvas_length"]
        yield Served(running.url, running.key, session, size, length, False, running.live)
