"""A package index on loopback that can stop in the middle of a file: a slow line that a test holds in its hand."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web


class Index:
    """Serves a folder of wheels as a simple index (PEP 503).

    Attributes:
        held: names of wheels of which only the first half is sent until they are let go.
        reached: set when the first half of a held wheel has been sent.
        fetched: how often each wheel was sent from its first byte to its last.
    """

    def __init__(self, folder: Path) -> None:
        self.url = ""
        self.held: set[str] = set()
        self.reached = asyncio.Event()
        self.fetched: Counter[str] = Counter()
        self._folder = folder
        self._let_go = asyncio.Event()

    def let_go(self) -> None:
        """Hold nothing any more."""
        self.held.clear()
        self._let_go.set()

    async def listing(self, request: web.Request) -> web.Response:
        """The files of one package, with their hashes."""
        links = [
            f'<a href="/files/{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a>'
            for path in sorted(self._folder.glob(f"{request.match_info['name']}-*.whl"))
        ]
        return web.Response(text="<!DOCTYPE html>\n" + "\n".join(links), content_type="text/html")

    async def file(self, request: web.Request) -> web.StreamResponse:
        """A wheel, in two halves when it is held."""
        name = request.match_info["name"]
        if "Range" in request.headers or request.method == "HEAD":
            return web.FileResponse(self._folder / name)
        content = (self._folder / name).read_bytes()
        response = web.StreamResponse(headers={"Content-Length": str(len(content))})
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        if name in self.held:
            self.reached.set()
            await self._let_go.wait()
        await response.write(content[len(content) // 2 :])
        self.fetched[name] += 1
        return response


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Index]:
    """An index that is up."""
    index = Index(folder)
    app = web.Application()
    app.router.add_get("/simple/{name}/", index.listing)
    app.router.add_get("/files/{name}", index.file)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    index.url = f"http://{host}:{port}/simple"
    try:
        yield index
    finally:
        index.let_go()
        await runner.cleanup()
