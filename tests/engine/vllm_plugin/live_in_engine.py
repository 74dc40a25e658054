"""The part ``live`` on vLLM's own sampler. Prints one JSON object: what each of the checks has seen."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from engine_rig import BOUND, STEPS, Rig, operations
from vllm.sampling_params import SamplingParams

from engine.vllm_plugin import live, live_sender
from engine.vllm_plugin.protocol import PARTS_VARIABLE, SOCKET_VARIABLE


class Listener:
    """A bound socket and what has come to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(240)
        self.socket.bind(str(path))

    def take(self, count: int) -> list[Any]:
        return [json.loads(self.socket.recv(1 << 16)) for _ in range(count)]

    def waiting(self) -> int:
        self.socket.setblocking(False)
        count = 0
        try:
            while self.socket.recv(1 << 16):
                count += 1
        except BlockingIOError:
            return count
        return count

    def die(self) -> None:
        self.socket.close()
        self.path.unlink()


def parts(path: Path) -> dict[str, str]:
    return {PARTS_VARIABLE: "live", SOCKET_VARIABLE: str(path)}


def canvas_of(rig: Rig) -> Any:
    """The installed part."""
    return rig.sampler.step.__self__


def both(path: Path, asked: dict[int, dict[str, Any]], steps: int) -> dict[str, Any]:
    """The same steps on stock and with the part: operations and what is left behind, and the rig with the part."""
    told: dict[str, Any] = {}
    for name, variables in (("stock", None), ("part", parts(path))):
        rig = Rig(variables)
        torch.manual_seed(7)
        for slot, extra in asked.items():
            rig.add(slot, **extra)
        ran, left = [], []
        for number in range(steps):
            rows = sum(int(rig.states.canvas_width_np[slot]) for slot in asked)
            logits = rig.logits(rows, min(number, 2), sure=number >= 2)
            with operations() as names:
                out = rig.step(list(asked), logits)
            ran.append(list(names))
            left.append(rig.seen(out))
        told[name] = {"operations": ran, "left": left}
        told["rig"] = rig
    return told


def idle(folder: Path) -> Any:
    """Somebody listens, nobody asks."""
    listener = Listener(folder / "idle")
    told = both(listener.path, {0: {}, 2: {"other": 1}}, 4)
    return {"stock": told["stock"], "part": told["part"], "watched": len(canvas_of(told["rig"]).watched)}


def unheard(folder: Path) -> Any:
    """Somebody asks, nobody listens."""
    told = both(folder / "nobody", {0: {"dg_live": "a"}, 2: {"dg_live": "b"}}, 4)
    return {"stock": told["stock"], "part": told["part"], "watched": len(canvas_of(told["rig"]).watched)}


def frames(folder: Path) -> Any:
    """Two of three requests ask; their canvases have different widths."""
    listener = Listener(folder / "frames")
    asked = {3: {"dg_live": "wide"}, 0: {}, 1: {"dg_live": "narrow", "diffusion_canvas_length": 5}}
    told = both(listener.path, asked, STEPS)
    rig = told.pop("rig")
    truth = []
    for number in range(STEPS):
        logits = rig.logits(8 + 8 + 5, min(number, 2), sure=number >= 2)
        temperature = 0.4 + 0.4 * max(STEPS - number, 1) / STEPS
        spread = torch.distributions.Categorical(logits=logits / temperature).entropy()
        truth.append({"argmax": logits.argmax(-1).tolist(), "entropy": spread.tolist()})
    counts = canvas_of(rig)._sender.counts
    seen = listener.take(2 * 4)
    return told | {"frames": seen, "truth": truth, "sent": counts.sent, "bound": BOUND}


def next_canvas(folder: Path) -> Any:
    """The pass that commits sends nothing; the second canvas counts on."""
    listener = Listener(folder / "next")
    rig = Rig(parts(listener.path))
    rig.add(1, dg_live="x")
    for number in range(7):
        rig.step([1], rig.logits(8, 1 if number < 3 else 2, sure=True))
    return listener.take(5)


def over(folder: Path) -> Any:
    """What vLLM's own parameters say of a request's end; the step behind it sends nothing."""
    told: dict[str, Any] = {}
    for name, given, ignored in (("length", 8, True), ("stop", 99, False), ("ignored", 99, True)):
        listener = Listener(folder / name)
        rig = Rig(parts(listener.path))
        logits = rig.logits(8, 2, sure=True)
        canvas = logits.argmax(-1).tolist()
        absent, other = sorted({*range(rig.vocabulary)} - {*canvas})[:2]
        params = SamplingParams(max_tokens=given, ignore_eos=ignored, stop_token_ids=[absent])
        # Of the checkpoint's two ids the primary one is not in the canvas, the other one is.
        params.update_from_generation_config({"eos_token_id": [other, canvas[3]]}, eos_token_id=other)
        rig.add(1, params, dg_live=name)
        for _ in range(5):  # two steps that agree, the pass that commits, and two of another canvas
            rig.step([1], logits)
        canvas_of(rig)._sender.close()
        told[name] = [frame["converged"] for frame in listener.take(canvas_of(rig)._sender.counts.sent)]
    return told


def reads(folder: Path) -> Any:
    """A read-only request emits on the step that converges."""
    listener = Listener(folder / "reads")
    rig = Rig(parts(listener.path))
    rig.add(0, dg_live=17, diffusion_read_only=1, diffusion_max_steps=1)
    out = rig.step([0], rig.logits(8, 1))
    (frame,) = listener.take(1)
    return {"frame": frame, "emitted": out.sampled_token_ids[0].tolist()}


def _broken_pack(rig: Rig) -> None:
    part = canvas_of(rig)
    pack = part._pack

    def broken(buffer: Any, index: int, slot: int, width: int) -> None:
        if slot == 0:
            raise RuntimeError("no canvas today")
        pack(buffer, index, slot, width)

    part._pack = broken


def _broken_note(rig: Rig) -> None:
    canvas_of(rig)._entropy = torch.zeros(0, 0)


def _faulty(folder: Path, name: str, breaks: Callable[[Rig], None]) -> Any:
    listener = Listener(folder / name)
    rig = Rig(parts(listener.path))
    told = {"part": _two(rig, breaks), "stock": _two(Rig(), lambda rig: None)}
    sender = canvas_of(rig)._sender
    sender.close()
    ids = [frame["id"] for frame in listener.take(sender.counts.sent)]
    return told | {"ids": ids, "failed": sender.counts.failed, "buffers": len(sender._free)}


def _two(rig: Rig, breaks: Callable[[Rig], None]) -> list[Any]:
    """What three steps of two requests leave behind."""
    torch.manual_seed(3)
    rig.add(0, dg_live="bad")
    rig.add(1, dg_live="good")
    breaks(rig)
    return [rig.seen(rig.step([0, 1], rig.logits(16, number))) for number in range(3)]


def fault_of_one(folder: Path) -> Any:
    return _faulty(folder, "one", _broken_pack)


def fault_of_a_step(folder: Path) -> Any:
    return _faulty(folder, "step", _broken_note)


def fault_in_the_thread(folder: Path) -> Any:
    def breaks(rig: Rig) -> None:
        canvas_of(rig).watched[0].live_id = {1, 2}  # nothing that JSON can say

    return _faulty(folder, "thread", breaks)


def deaf(folder: Path) -> Any:
    """A listener that takes nothing: every step goes on, what does not fit is counted."""
    listener = Listener(folder / "deaf")
    live_sender.PATIENCE_S = 0.001
    rig = Rig(parts(listener.path))
    rig.add(0, dg_live="x", diffusion_max_steps=STEPS)
    steps = 120
    for number in range(steps):
        rig.step([0], rig.logits(8, number))
    sender = canvas_of(rig)._sender
    sender.close()
    passes = steps // (STEPS + 1)  # that commit a canvas
    counts = sender.counts
    return {
        "sent": counts.sent,
        "waiting": listener.waiting(),
        "all": counts.sent + counts.dropped,
        "denoised": [steps - passes, steps],
        "failed": counts.failed,
        "buffers": len(sender._free),
    }


def no_buffer(folder: Path) -> Any:
    """With every buffer on its way a step costs no tensor operation more than noting the entropies."""
    listener = Listener(folder / "none")
    rig = Rig(parts(listener.path))
    rig.add(0, dg_live="x")
    sender = canvas_of(rig)._sender
    sender._free.clear()
    with operations() as names:
        rig.step([0], rig.logits(8, 1))
    stock = Rig()
    stock.add(0)
    with operations() as plain:
        stock.step([0], stock.logits(8, 1))
    extra = list(names)
    for name in plain:
        extra.remove(name)
    copies = sum("copy_" in name for name in plain)
    return {"extra": extra, "dropped": sender.counts.dropped, "copies": copies}


def dies(folder: Path) -> Any:
    """The listener dies: nothing more is done for the request. One comes back: the next request is heard."""
    listener = Listener(folder / "dies")
    rig = Rig(parts(listener.path))
    sender = canvas_of(rig)._sender
    rig.add(0, dg_live="first")
    rig.step([0], rig.logits(8, 1))
    before = listener.take(1)
    listener.die()
    rig.step([0], rig.logits(8, 2))
    while sender.listened:
        pass
    with operations() as names:
        rig.step([0], rig.logits(8, 3))
    rig.add(1, dg_live="unheard")
    watched = sorted(canvas_of(rig).watched)
    again = Listener(folder / "dies")
    rig.add(2, dg_live="third")
    rig.step([0, 2], rig.logits(16, 4))
    after = again.take(2)
    rig.remove(0)
    rig.remove(2)
    return {
        "before": before,
        "quiet": sum("copy_" in name for name in names),
        "watched": watched,
        "after": after,
        "dropped": sender.counts.dropped,
        "left": len(canvas_of(rig).watched),
    }


def stands(folder: Path) -> Any:
    """Where the part is not hung in."""
    path = folder / "stands"
    told = {}
    for name, rig in {
        "other rank": Rig(parts(path), rank=1),
        "no socket": Rig({PARTS_VARIABLE: "live"}),
        "untested": Rig(parts(path), version="0.34.0"),
        "none": Rig({}),
    }.items():
        stock = getattr(rig.sampler.step, "__self__", None) is rig.sampler
        told[name] = {"stock": stock, "hooks": len(rig.sampler.on_add), "installed": rig.installed}
    live._buffers = lambda *args: 1 / 0
    told["fails"] = {"installed": Rig(parts(path)).installed}
    return told


CHECKS = (
    *(idle, unheard, frames, next_canvas, over, reads, fault_of_one, fault_of_a_step, fault_in_the_thread),
    *(deaf, no_buffer, dies, stands),
)

if __name__ == "__main__":
    where = Path(sys.argv[1])
    sys.stdout.write(json.dumps({check.__name__: check(where) for check in CHECKS}) + "\n")
