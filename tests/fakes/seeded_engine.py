"""A stand-in engine whose answers follow from what it is asked, whoever starts it: ``seeded_engine.py PORT DELAY_S``.

Token ids are hashes of the pieces, label masses hashes of prompt and canvas: so a run that was killed and resumed any
number of times must give what an undisturbed one gives.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
import re
import socket
import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from engine.bench import stand_in

_PIECES = re.compile(r"<[^<>\s]*>|\w+|\s|.")
FIRST, COUNT = 1000, 200_000  # ids stay below the released checkpoint's vocabulary


def tokens(text: str) -> list[int]:
    return [FIRST + zlib.crc32(piece.encode()) % COUNT for piece in _PIECES.findall(text)]


def answer(path: bytes, body: bytes) -> tuple[int, bytes]:
    match path:
        case b"/tokenize":
            return 200, json.dumps({"tokens": tokens(json.loads(body)["prompt"])}).encode()
        case b"/v1/chat/completions/render":
            text = "".join(message["content"] for message in json.loads(body)["messages"])
            return 200, json.dumps({"token_ids": tokens(text)}).encode()
        case b"/inference/v1/generate":
            return read(json.loads(body))
        case _:
            return stand_in.answer(path, body)


def read(request: dict[str, Any]) -> tuple[int, bytes]:
    params = request["sampling_params"]
    seed, ids = params["extra_args"]["diffusion_seed_canvas"], params["logprob_token_ids"]
    if max(seed) >= stand_in.VOCABULARY or max(ids) >= stand_in.VOCABULARY or len(seed) > stand_in.CANVAS:
        return 400, b'{"error": {"message": "out of range", "type": "BadRequestError", "code": 400}}'
    dice = random.Random(hashlib.sha256(json.dumps([request["token_ids"], seed]).encode()).digest())
    shares = [dice.random() ** 3 + 1e-6 for _ in ids]
    # Now and then next to nothing is on the labels: an unreadable answer.
    mass = 0.05 if dice.random() < 0.1 else 0.9
    logprobs = [math.log(mass * share / sum(shares)) for share in shares]
    best = ids[logprobs.index(max(logprobs))] if mass > 0.5 else 5
    top = [{"token_id": token, "logprob": value} for token, value in zip(ids, logprobs, strict=True)]
    slot = {"token_id": best, "logprob": -0.1, "top_logprobs": top}
    choice = {"token_ids": [best] * params["max_tokens"], "logprobs": {"content": [slot] * params["max_tokens"]}}
    return 200, json.dumps({"choices": [choice]}).encode()


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    asyncio.run(stand_in.serve(listener, answer, float(sys.argv[2])))
