"""A fake engine that serves just enough HTTP on an inherited socket, and misbehaves on request.

    python engine_misbehaving.py FD [MODE ...]

Modes: ``slow`` (answers 503 to the first three health checks), ``die`` (writes to its log and exits 3), ``mute``
(accepts nothing), ``deaf`` (ignores SIGTERM), ``grandchild`` (starts two deaf children, one in a session of its own),
``crash`` (is killed at the first POST), ``orderly`` (has a worker that it ends itself, before it goes).
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus

SLEEPER = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"

WORKER = """
import os, signal, sys
def heard(*_):
    os.write(2, b"the worker was told to end\\n")
    os._exit(1)
signal.signal(signal.SIGTERM, heard)
print("up", flush=True)
sys.stdin.read()
os.write(2, b"the worker has ended its step\\n")
"""


class Handler(http.server.BaseHTTPRequestHandler):
    modes: frozenset[str] = frozenset()
    refusals = 3

    def do_GET(self) -> None:
        if "slow" in self.modes and Handler.refusals > 0:
            Handler.refusals -= 1
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        card = {"id": "fake", "object": "model", "owned_by": "tests", "root": "fake", "max_model_len": 64}
        models = {"object": "list", "data": [card]}
        body = json.dumps({} if self.path == "/health" else models).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        if "crash" in self.modes:
            os.kill(os.getpid(), signal.SIGKILL)
        self.send_error(HTTPStatus.NOT_IMPLEMENTED)

    def log_message(self, format: str, *args: object) -> None:
        sys.stderr.write(f"{format % args}\n")


def start_family() -> None:
    """One deaf grandchild that leaves the session, one that stays."""
    for own_session in (True, False):
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=own_session
        )
        assert child.stdout is not None
        child.stdout.readline()


def start_worker() -> subprocess.Popen[bytes]:
    """Ends when its standard input does; says so, and says when a signal ends it."""
    command = [sys.executable, "-I", "-S", "-c", WORKER]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    worker.stdout.readline()
    return worker


def end_of(worker: subprocess.Popen[bytes]) -> Callable[[int, object], None]:
    """What a leader does at TERM that ends its worker before it goes."""

    def end(number: int, stack: object) -> None:
        worker.communicate()
        sys.exit(0)

    return end


def main(argv: list[str]) -> int:
    descriptor, modes = int(argv[1]), frozenset(argv[2:])
    sys.stderr.write(f"fake engine, modes: {sorted(modes)}\n")
    if "die" in modes:
        sys.stderr.write("no such weights\n")
        return 3
    if "deaf" in modes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "grandchild" in modes:
        start_family()
    if "orderly" in modes:
        signal.signal(signal.SIGTERM, end_of(start_worker()))
    if "mute" in modes:
        sys.stderr.write("saying nothing\n")
        signal.pause()
    Handler.modes = modes
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = socket.socket(fileno=descriptor)
    server.server_name, server.server_port = server.socket.getsockname()[:2]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
