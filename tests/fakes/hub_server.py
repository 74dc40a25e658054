"""A model hub on loopback that misbehaves on request: a hub address and a "CDN" address, each its own port.

    python hub_server.py ROOT

serves every file under ``ROOT/<owner>/<name>/`` as a repository at one commit. Prints one JSON line ``{"hub": url,
"cdn": url}`` and runs until its stdin ends. Large files (``.safetensors``, or over a megabyte) are redirected to the
CDN with a signature, small ones are served by the hub itself, as the real one does.

Control, on the hub's port:
    POST /_control/reset   {"root": folder}: as if it had just been started with that folder
    POST /_control/plan    {"path": [fault, ...], ...}: the faults of a file, one used up by each request for its bytes
    POST /_control/settings  {"gated": token or null, "rate": bytes/s or null, "list_hashes": bool, "api": [fault, ...],
                            "hold": bytes of files, of all together, after which everything waits, or null}
    GET  /_control/counts  {"served": {path: bytes}, "requests": [{"server", "path", "range", "authorization"}]}
    GET  /_control/wait?served=N   answers once N bytes of files were served

Faults: {"kind": "no_range"} | {"kind": "status", "status": n, "retry_after": s, "where": "hub" or "cdn"} | {"kind":
"expire", "after": n} (n bytes, then the connection ends and that signature is dead) | {"kind": "truncate", "after": n}
| {"kind": "wrong", "at": n} (one byte is another) | {"kind": "html"} | {"kind": "slow", "rate": bytes/s} | {"kind":
"dead", "after": n} (then silence) | {"kind": "shift"} (another range than asked for) | {"kind": "size"} (half of it) |
{"kind": "ok"}.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import socket
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

COMMIT = hashlib.sha1(b"the only commit").hexdigest()
CHUNK = 1 << 16
LARGE = 1_000_000


class TestHub:
    """The state of both servers."""

    def __init__(self, root: Path) -> None:
        self.progressed = asyncio.Condition()
        self.hub = self.cdn = ""
        self.reset(root)

    def reset(self, root: Path) -> None:
        """Forgets everything."""
        self.root = root
        self.plans: dict[str, list[dict[str, Any]]] = {}
        self.settings: dict[str, Any] = {"gated": None, "rate": None, "list_hashes": True, "api": [], "hold": None}
        self.served: dict[str, int] = {}
        self.requests: list[dict[str, Any]] = []
        self.signatures: dict[str, tuple[Path, bool]] = {}  # signature -> file, still alive
        self._tags: dict[Path, dict[str, Any]] = {}

    def fault(self, path: str) -> dict[str, Any]:
        plan = self.plans.get(path, [])
        return plan[0] if plan else {"kind": "ok"}

    def use_up(self, path: str) -> dict[str, Any]:
        plan = self.plans.get(path, [])
        return plan.pop(0) if plan else {"kind": "ok"}

    def describe(self, file: Path, name: str) -> dict[str, Any]:
        """The sibling object of the list."""
        if file not in self._tags:
            data = file.read_bytes()
            sibling: dict[str, Any] = {"rfilename": name, "size": len(data)}
            sibling["blobId"] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            if name.endswith(".safetensors") or len(data) > LARGE:
                sha256 = hashlib.sha256(data).hexdigest()
                sibling["lfs"] = {"sha256": sha256, "size": len(data), "pointerSize": 134}
            self._tags[file] = sibling
        return self._tags[file]

    def log(self, server: str, path: str, request: web.Request) -> None:
        headers = request.headers
        self.requests.append(
            {
                "server": server,
                "path": path,
                "range": headers.get("Range"),
                "authorization": headers.get("Authorization"),
            }
        )

    # --- the hub -----------------------------------------------------------------------------------------------

    async def list(self, request: web.Request) -> web.StreamResponse:
        repo = self.root / request.match_info["repo"]
        self.log("hub", "api", request)
        if self.settings["api"]:
            return await self.refuse(self.settings["api"].pop(0), request)
        if not repo.is_dir():
            return web.json_response({"error": "Repository not found"}, status=404)
        files = sorted(path for path in repo.rglob("*") if path.is_file())
        siblings = [dict(self.describe(file, file.relative_to(repo).as_posix())) for file in files]
        if not self.settings["list_hashes"]:
            siblings = [{"rfilename": sibling["rfilename"]} for sibling in siblings]
        return web.json_response({"sha": COMMIT, "siblings": siblings, "later": 1})

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["file"]
        file = self.root / request.match_info["repo"] / name
        self.log("hub", name, request)
        token = self.settings["gated"]
        if token is not None and request.headers.get("Authorization") != f"Bearer {token}":
            return web.json_response({"error": "gated"}, status=401)
        if request.match_info["commit"] != COMMIT or not file.is_file():
            return web.json_response({"error": "Entry not found"}, status=404)
        fault = self.fault(name)
        if fault["kind"] == "status" and fault.get("where") == "hub":
            return await self.refuse(self.use_up(name), request)
        sibling = self.describe(file, name)
        tag = sibling["lfs"]["sha256"] if "lfs" in sibling else sibling["blobId"]
        headers = {"X-Repo-Commit": COMMIT, "X-Linked-Etag": f'"{tag}"', "X-Linked-Size": str(sibling["size"])}
        if "lfs" not in sibling:
            return await self.send(request, file, name, {**headers, "ETag": f'"{tag}"'}, None)
        signature = secrets.token_hex(8)
        self.signatures[signature] = (file, True)
        location = f"{self.cdn}/{name}?sig={signature}%2Bx&Expires=3600"
        return web.Response(status=302, headers={**headers, "Location": location})

    async def refuse(self, fault: dict[str, Any], request: web.Request) -> web.StreamResponse:
        if fault["kind"] == "html":
            return web.Response(text="<html>please log in</html>", content_type="text/html")
        headers = {"Retry-After": str(fault["retry_after"])} if "retry_after" in fault else {}
        return web.json_response({"error": "no"}, status=fault["status"], headers=headers)

    # --- the CDN -----------------------------------------------------------------------------------------------

    async def signed(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["file"]
        self.log("cdn", name, request)
        raw = request.query.get("sig", "")
        signature = raw.removesuffix("+x")  # a client that spoils the escapes sends a space here
        file, alive = self.signatures.get(signature, (self.root, False))
        if not alive or not raw.endswith("+x"):
            return web.Response(status=403, text="expired")
        return await self.send(request, file, name, {}, signature)

    async def send(
        self, request: web.Request, file: Path, name: str, headers: dict[str, str], signature: str | None
    ) -> web.StreamResponse:
        if request.method == "HEAD":
            return web.Response(headers={**headers, "Content-Length": str(self.describe(file, name)["size"])})
        fault = self.use_up(name)
        kind = fault["kind"]
        if kind in ("status", "html"):
            return await self.refuse(fault, request)
        size = self.describe(file, name)["size"]
        match = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        start = int(match[1]) if match and kind != "no_range" else 0
        if start >= size > 0:
            return web.Response(status=416, headers={"Content-Range": f"bytes */{size}"})
        response = web.StreamResponse(status=206 if match and kind != "no_range" else 200, headers=headers)
        length = size - start
        if response.status == 206:
            said = start + 1 if kind == "shift" else start
            response.headers["Content-Range"] = f"bytes {said}-{size - 1}/{size}"
        response.content_length = length // 2 if kind == "size" else length
        await response.prepare(request)
        try:
            whole = await self.stream(response, file, name, start, response.content_length, fault)
        except ConnectionResetError:  # it was killed, or gave up
            return response
        if not whole:
            if kind == "expire" and signature is not None:
                self.signatures[signature] = (file, False)
            if request.transport is not None:
                request.transport.close()
        return response

    async def stream(
        self, response: web.StreamResponse, file: Path, name: str, start: int, length: int, fault: dict[str, Any]
    ) -> bool:
        """Sends the bytes; whether all of them."""
        sent, stop = 0, fault.get("after", length)
        rate = fault.get("rate") or self.settings["rate"]
        began = asyncio.get_running_loop().time()
        with file.open("rb") as source:
            source.seek(start)
            while sent < min(length, stop):
                step = min(CHUNK, length - sent, stop - sent, int(rate / 10) + 1 if rate else CHUNK)
                chunk = bytearray(source.read(step))
                at = fault.get("at", -1) - start - sent
                if fault["kind"] == "wrong" and 0 <= at < len(chunk):
                    chunk[at] ^= 0xFF
                await self.turn(name, len(chunk))
                await response.write(bytes(chunk))
                sent += len(chunk)
                if rate:
                    await asyncio.sleep(max(0.0, began + sent / rate - asyncio.get_running_loop().time()))
        if fault["kind"] == "dead":
            await asyncio.Event().wait()
        return sent == length

    async def turn(self, name: str, count: int) -> None:
        """Waits until these bytes of a file may go, and counts them."""

        def may() -> bool:
            hold = self.settings["hold"]
            return hold is None or sum(self.served.values()) + count <= hold

        async with self.progressed:
            await self.progressed.wait_for(may)
            self.served[name] = self.served.get(name, 0) + count
            self.progressed.notify_all()

    # --- control -----------------------------------------------------------------------------------------------

    async def start_anew(self, request: web.Request) -> web.Response:
        self.reset(Path((await request.json())["root"]))
        return web.json_response({})

    async def set_plan(self, request: web.Request) -> web.Response:
        self.plans = await request.json()
        return web.json_response({})

    async def set_settings(self, request: web.Request) -> web.Response:
        self.settings.update(await request.json())
        async with self.progressed:
            self.progressed.notify_all()
        return web.json_response({})

    async def counts(self, request: web.Request) -> web.Response:
        return web.json_response({"served": self.served, "requests": self.requests, "plans": self.plans})

    async def wait(self, request: web.Request) -> web.Response:
        goal = int(request.query["served"])
        async with self.progressed:
            await self.progressed.wait_for(lambda: sum(self.served.values()) >= goal)
        return web.json_response({"served": sum(self.served.values())})

    def hub_app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/api/models/{repo:[^/]+/[^/]+}/revision/{revision}", self.list)
        app.router.add_get("/{repo:[^/]+/[^/]+}/resolve/{commit}/{file:.+}", self.resolve)
        app.router.add_post("/_control/reset", self.start_anew)
        app.router.add_post("/_control/plan", self.set_plan)
        app.router.add_post("/_control/settings", self.set_settings)
        app.router.add_get("/_control/counts", self.counts)
        app.router.add_get("/_control/wait", self.wait)
        return app

    def cdn_app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/{file:.+}", self.signed)
        return app


def listening() -> socket.socket:
    """A socket whose connections inherit a small send buffer: what waits there would count as served."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 17)
    made.bind(("127.0.0.1", 0))
    return made


async def main(root: Path) -> None:
    hub = TestHub(root)
    runners = []
    for name, app in (("hub", hub.hub_app()), ("cdn", hub.cdn_app())):
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        sock = listening()
        await web.SockSite(runner, sock).start()
        setattr(hub, name, f"http://127.0.0.1:{sock.getsockname()[1]}")
        runners.append(runner)
    sys.stdout.write(json.dumps({"hub": hub.hub, "cdn": hub.cdn}) + "\n")
    sys.stdout.flush()
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()
    for runner in runners:
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
