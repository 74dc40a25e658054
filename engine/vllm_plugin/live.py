"""The part ``live``: the canvas of requests that ask for it, after every denoise step, as datagrams to a listener.

Stock keeps the argmax canvas and the step counter of every slot on the device; the entropies exist inside a step only,
so they are noted as they are handed to the function that accepts tokens. What is to be sent is packed on the step's
stream (a few small kernels), copied to the host on a stream of its own and sent by a thread: no step waits for it.
Requests that do not ask, and all while nobody listens, run stock and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from vllm.model_executor.models import diffusion_gemma

from engine.vllm_plugin.live_sender import BUFFERS, EXTRA, Buffer, FrameSender, Watched, stops_of
from engine.vllm_plugin.parts import Config, HookedSampler, HookedState
from engine.vllm_plugin.protocol import SOCKET_VARIABLE, live_id

ACCEPT = "_compiled_sample_step"
"""The function there that gets a tile's entropies (third argument, [requests, width]) and slots (fifth)."""


def install(state: HookedState, sampler: HookedSampler, config: Config) -> str:
    """Hangs the part in, on the first rank and where there is a socket to send to."""
    path = config.variables.get(SOCKET_VARIABLE)
    if config.rank != 0:
        return "the first rank sends"
    if not path:
        return f"off: {SOCKET_VARIABLE} names no socket"
    device = torch.device(state.diffusion_states.device)
    if device.type not in ("cuda", "cpu"):
        raise ValueError(f"no way to copy beside a step on {device.type}")
    sender = FrameSender(path, _buffers(sampler.canvas_length, device), sampler.entropy_bound)
    LiveCanvas(sampler, sender, device).hang_in(state)
    return f"frames to {path}"


def _buffers(canvas: int, device: torch.device) -> list[Buffer]:
    size = (BUFFERS, 2 * canvas + EXTRA)
    there = torch.zeros(size, dtype=torch.int32, device=device)
    if device.type == "cpu":
        return [Buffer(row, row) for row in there]
    here = torch.zeros(size, dtype=torch.int32, pin_memory=True)
    return [Buffer(*rows, torch.cuda.Event(blocking=True)) for rows in zip(there, here, strict=True)]


class LiveCanvas:
    """Packs the steps of watched requests.

    Attributes:
        watched: slot -> request; empty means that everything is stock.
    """

    def __init__(self, sampler: HookedSampler, sender: FrameSender, device: torch.device) -> None:
        self.watched: dict[int, Watched] = {}
        self._sampler, self._sender = sampler, sender
        self._states = sampler.diffusion_states
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._entropy = torch.zeros(self._states.argmax_canvas.shape, dtype=torch.float32, device=device)
        self._noting = self._noted = False
        self._step = sampler.step

    def hang_in(self, state: HookedState) -> None:
        """From now on requests are watched."""
        self._sampler.step = self.step
        self._sampler.on_add.append(self.add)
        state.on_remove.append(self.remove)
        setattr(diffusion_gemma, ACCEPT, self._listening(getattr(diffusion_gemma, ACCEPT)))

    def add(self, slot: int, sampling_params: Any) -> None:
        """A request has come in."""
        self.watched.pop(slot, None)
        asked = live_id(getattr(sampling_params, "extra_args", None))
        if asked is not None and self._sender.look():
            end = int(self._sampler.req_states.max_seq_len[slot])
            self.watched[slot] = Watched(asked, end, stops_of(sampling_params))

    def remove(self, slot: int) -> None:
        """A request has gone."""
        self.watched.pop(slot, None)

    def step(self, logits: Any, batch: Any, draft_logits: Any) -> Any:
        """A call of the sampler, and the frames of it."""
        if not self.watched or not self._sender.listened:
            return self._step(logits, batch, draft_logits)
        self._noting, self._noted = True, False
        try:
            out = self._step(logits, batch, draft_logits)
        finally:
            self._noting = False
        if self._noted:  # otherwise the step denoised nothing, or another part took it over
            self._publish(batch)
        return out

    def _listening(self, accept: Any) -> Any:
        def heard(new_tokens: Any, argmax: Any, entropy: Any, probs: Any, slots: Any, *rest: Any, **named: Any) -> Any:
            if self._noting:
                self._note(entropy, slots)
            return accept(new_tokens, argmax, entropy, probs, slots, *rest, **named)

        return heard

    def _note(self, entropy: torch.Tensor, slots: torch.Tensor) -> None:
        try:
            self._entropy[slots, : entropy.shape[-1]] = entropy
            self._noted = True
        except Exception:  # noqa: BLE001  # a view of the step may never fail the step
            self._noting = self._noted = False
            self._give_up("its entropies could not be noted")

    def _publish(self, batch: Any) -> None:
        """Packs and copies the rows of this batch's watched requests."""
        try:
            count = batch.num_reqs
            slots = batch.idx_mapping_np[:count].tolist()
            widths = np.diff(batch.cu_num_logits_np[: count + 1]).tolist()
            rows = [(i, slot, widths[i]) for i, slot in enumerate(slots) if slot in self.watched and widths[i]]
        except Exception:  # noqa: BLE001  # a view of the step may never fail the step
            self._give_up("the batch could not be read")
            return
        for index, slot, width in rows:
            watched = self.watched[slot]
            buffer = None if watched.off else self._sender.buffer()
            if buffer is None:
                continue
            try:
                self._pack(buffer, index, slot, width)
                self._copy(buffer)
            except Exception:  # noqa: BLE001  # a view of the step may never fail the step
                self._sender.take_back(buffer)
                self._sender.failed(watched, "its canvas could not be copied")
            else:
                self._sender.give(buffer)

    def _give_up(self, why: str) -> None:
        for watched in self.watched.values():
            self._sender.failed(watched, why)
        self.watched.clear()

    def _pack(self, buffer: Buffer, index: int, slot: int, width: int) -> None:
        """Into the buffer, on the step's stream: the next step overwrites what is read here."""
        states, row = self._states, buffer.device
        row[:width].copy_(states.argmax_canvas[slot, :width])
        row[width : 2 * width].view(torch.float32).copy_(self._entropy[slot, :width])
        row[2 * width].copy_(states.step[slot])
        row[2 * width + 1].copy_(states.is_encoder_phase[slot])
        row[2 * width + 2].copy_(self._sampler._num_sampled[index])
        row[2 * width + 3].copy_(self._sampler.req_states.total_len.gpu[slot])
        buffer.watched, buffer.width = self.watched[slot], width

    def _copy(self, buffer: Buffer) -> None:
        if self._stream is None:
            return
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            buffer.host.copy_(buffer.device, non_blocking=True)
            buffer.event.record()
