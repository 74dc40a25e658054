"""Requests come and go by the step, not one by one: what stock writes into a slot's state is written for all at once.

Stock resets a slot with about twenty small kernels when a request comes in and three when it goes
(``DiffusionGemmaRequestStates.add_request``, ``set_seed_canvas``, ``remove_request``). With reads, which live for two
steps, that is a good part of a step's time on the host. Here the writes of a step wait until the runner says that all
its requests are there (``apply_staged_writes``), before anything reads them, and are made with one kernel for each
field. The random canvas that stock draws at this point is left out: another is drawn when the prompt has been taken in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from vllm.utils.torch_utils import async_tensor_h2d

from engine.vllm_plugin.parts import HookedSampler

_SLOT, _STEPS, _SEEDED, _READ_ONLY, _SEED = range(5)
"""Columns of what is sent to the device for each slot: its number, its fields, and the seed canvas from the last on."""


class SlotWrites:
    """Stands in for the writing methods of the sampler's request states."""

    def __init__(self, sampler: HookedSampler) -> None:
        self._sampler: Any = sampler
        self._states = sampler.diffusion_states
        self._rows: dict[int, Any] = {}
        self._pins: dict[int, list[int]] = {}
        self._gone: set[int] = set()
        self._apply, self._set_pins = self._sampler.apply_staged_writes, self._states.set_pins

    def hang_in(self) -> None:
        """From now on writes wait."""
        states: Any = self._states
        states.add_request, states.remove_request = self.add_request, self.remove_request
        states.set_seed_canvas, states.set_read_only = self.set_seed_canvas, self.set_read_only
        states.set_pins = self.set_pins
        self._sampler.apply_staged_writes = self.apply_staged_writes
        self._sampler.on_add.append(self.added)

    def add_request(self, slot: int) -> None:
        """As stock, in the end."""
        states = self._states
        row = np.zeros(_SEED + states.canvas_length, dtype=np.int64)
        row[_SLOT], row[_STEPS] = slot, states.max_denoising_steps
        self._rows[slot] = row
        self._gone.discard(slot)
        self._forget(slot)
        states.canvas_width_np[slot] = states.canvas_length

    def added(self, slot: int, params: Any) -> None:
        """After stock has taken a request in: the step cap, which stock writes by itself and the reset would undo."""
        cap = (params.extra_args or {}).get("diffusion_max_steps")
        if cap is not None and slot in self._rows:
            self._rows[slot][_STEPS] = max(1, min(int(cap), self._states.max_denoising_steps))

    def remove_request(self, slot: int) -> None:
        """As stock, in the end."""
        self._rows.pop(slot, None)
        self._gone.add(slot)
        self._forget(slot)

    def set_seed_canvas(self, slot: int, ids: list[int]) -> None:
        """As stock, in the end."""
        row = self._rows[slot]
        row[_SEED : _SEED + len(ids)] = ids
        row[_SEEDED] = 1
        self._states.seeded_slots.add(slot)

    def set_read_only(self, slot: int) -> None:
        """As stock, in the end."""
        self._rows[slot][_READ_ONLY] = 1
        self._states.read_only_slots.add(slot)

    def set_pins(self, slot: int, positions: list[int]) -> None:
        """As stock, in the end."""
        self._pins[slot] = positions

    def apply_staged_writes(self) -> None:
        """All requests of the step are there."""
        self._write()
        self._apply()

    def _forget(self, slot: int) -> None:
        states = self._states
        self._pins.pop(slot, None)
        for slots in (states.seeded_slots, states.read_only_slots, states.single_step_slots):
            slots.discard(slot)
        states.constrained.pop(slot, None)

    def _write(self) -> None:
        states, device = self._states, self._states.device
        if self._gone:
            slots = async_tensor_h2d(np.array(sorted(self._gone), dtype=np.int64), device=device)
            self._gone.clear()
            self._clear(slots, encoder_phase=False)
        if not self._rows:
            return
        sent = async_tensor_h2d(np.stack(list(self._rows.values())), device=device)
        self._rows.clear()
        slots = sent[:, _SLOT]
        self._clear(slots, encoder_phase=True)
        states.step.index_fill_(0, slots, 0)
        states.pin_mask.index_fill_(0, slots, False)
        states.max_steps[slots] = sent[:, _STEPS].to(states.max_steps.dtype)
        states.has_seed[slots] = sent[:, _SEEDED].bool()
        states.read_only[slots] = sent[:, _READ_ONLY].bool()
        states.seed_canvas[slots] = sent[:, _SEED:]
        for slot, positions in self._pins.items():
            self._set_pins(slot, positions)
        self._pins.clear()

    def _clear(self, slots: torch.Tensor, *, encoder_phase: bool) -> None:
        states = self._states
        states.is_encoder_phase.index_fill_(0, slots, encoder_phase)
        states.accepted_canvas_history_len.index_fill_(0, slots, 0)
        states.self_conditioning_embeds.index_fill_(0, slots, 0.0)
