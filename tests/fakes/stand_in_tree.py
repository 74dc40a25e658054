"""Stands in for the processes of a vLLM server at tensor parallel 2: a real tree that starts fast and can do nothing.

    python -I -S stand_in_tree.py serve ... --port P --served-model-name NAME

API server, ``VLLM::EngineCore``, ``VLLM::Worker_TP0`` and ``VLLM::Worker_TP1``; vLLM's log lines, key and wire, as far
as a start is proved by them. A chat that says "hang" gets one canvas and no more. Standard library only.

``STAND_IN_TREE`` in the environment is JSON: ``hold``, the phase to stay in for ever (one of PHASES), and ``modes``, of
``deaf`` (nobody hears TERM), ``leave`` (core and workers make sessions of their own), ``unmarked`` (they have no
environment, as after setproctitle), ``grandchild`` (a worker leaves a process without a parent), ``oblivious`` (nobody
minds the death of another).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from itertools import pairwise
from typing import NoReturn

PHASES = {
    "boot": "Resolved architecture: DiffusionGemmaForBlockDiffusion",
    "core": "Initializing a V1 LLM engine (v0.33.0) with config: ...",
    "workers": "Loading safetensors checkpoint shards:  42% Completed | 3/7 [00:04<00:05,  1.4s/it]",
    "memory": "Available KV cache memory: 4.41 GiB",
}
PROGRAM = os.readlink("/proc/self/exe")  # sys.executable is nothing under a title
LAST = ("Starting vLLM server on http://", "Application startup complete.")


def log(text: str) -> None:
    os.write(1, f"(APIServer pid={os.getpid()}) INFO 11-29 18:30:00 [stand_in.py:1] {text}\n".encode())


def spawn(title: str, role: str, options: dict[str, object], *, orphan: bool = False) -> int:
    """Start a process of the tree under a title, and wait until it is what it is to be; its number."""
    modes = options["modes"]
    assert isinstance(modes, list)
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        if orphan and os.fork():
            os._exit(0)
        if "leave" in modes or orphan:
            os.setsid()
        os.set_inheritable(told, True)
        env = {} if "unmarked" in modes else dict(os.environ)
        os.execve(PROGRAM, [title, "-I", "-S", __file__, role, str(told), json.dumps(options)], env)
    os.close(told)
    if not os.read(ready, 1):
        sys.exit(f"{title} did not start")
    os.close(ready)
    return pid


def be_part(role: str, told: int, options: dict[str, object]) -> None:
    """EngineCore, a worker, or what a worker leaves behind."""
    modes = options["modes"]
    assert isinstance(modes, list)
    if "deaf" in modes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    children = []
    if role == "core":
        children = [spawn(f"VLLM::Worker_TP{rank}", f"worker{rank}", options) for rank in options["workers"]]  # type: ignore[attr-defined]
    if role == "worker1" and "grandchild" in modes:
        os.waitpid(spawn("left-behind", "left", options, orphan=True), 0)
    os.write(told, b"!")
    os.close(told)
    live(children, modes)


def live(children: list[int], modes: list[str]) -> NoReturn:
    """Stay; end with the first child, as vLLM's do, or do not mind."""
    while True:
        if children and "oblivious" not in modes:
            os.wait()
            sys.exit(1)
        signal.pause()


def answer(connection: socket.socket, key: str, model: str) -> None:
    with connection, connection.makefile("rb") as stream:
        request = stream.readline().split()
        if len(request) < 2:
            return
        headers = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get(b"content-length", 0)))
        status, kind, text = "200 OK", "application/json", "{}"
        path = request[1].decode()
        if path.startswith("/v1") and headers.get(b"authorization") != f"Bearer {key}".encode():
            status, text = "401 Unauthorized", '{"error": {"message": "no", "type": "x", "code": 401}}'
        elif path == "/v1/models":
            text = json.dumps({"object": "list", "data": [{"id": model, "max_model_len": 2048, "root": "/"}]})
        elif path == "/v1/systemone":
            read = {"type": "noul", "probabilities": {"yes": 0.5, "no": 0.5}}
            told = {"label_mass": 1.0, "argmax_is_label": True}
            text = json.dumps({"answers": {"probe": read}, "diagnostics": {"probe": told}})
        elif path == "/v1/chat/completions":
            kind, text = "text/event-stream", canvas("Hello", None)
            if b"hang" not in body:
                text += canvas("", "stop") + "data: [DONE]\n\n"
        elif path != "/health":
            status = "404 Not Found"
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n"
        connection.sendall(f"{head}\r\n{text}".encode())
        if b"hang" in body:
            threading.Event().wait()


def canvas(text: str, finish: str | None) -> str:
    chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n"


def serve(argv: list[str]) -> NoReturn:
    given = dict(pairwise(argv))  # a flag without a value is passed over
    options = json.loads(os.environ["STAND_IN_TREE"])
    modes: list[str] = options["modes"]
    if "deaf" in modes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((given["--host"], int(given["--port"])))  # early and without listening, as vLLM does
    children = []
    for phase, text in PHASES.items():
        if phase == "core":
            workers = [] if options["hold"] == "core" else [0, 1]
            children = [spawn("VLLM::EngineCore", "core", {**options, "workers": workers})]
        log(text)
        if phase == options["hold"]:
            live(children, modes)
    listener.listen(16)
    for text in LAST:
        log(text)
    threading.Thread(target=accept, args=(listener, given["--served-model-name"]), daemon=True).start()
    live(children, modes)


def accept(listener: socket.socket, model: str) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, os.environ["VLLM_API_KEY"], model), daemon=True).start()


def main() -> None:
    if sys.argv[1] == "serve":
        serve(sys.argv[1:])
    be_part(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))


if __name__ == "__main__":
    main()
