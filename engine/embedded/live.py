"""Frames of the denoising canvas, as datagrams to whoever watches, in the format of docs/architecture.md."""

from __future__ import annotations

import os
import socket

from engine.embedded.sampler import Step
from engine.vllm_plugin.protocol import DECIMALS, SOCKET_VARIABLE, frame


class LivePublisher:
    """Sends one JSON datagram per denoise step to a Unix socket. Never blocks; with no reader the frame is lost."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    @classmethod
    def from_environment(cls) -> LivePublisher | None:
        """A publisher to the socket named by ``DG_LIVE_SOCK``, or None when nobody asked for frames."""
        path = os.environ.get(SOCKET_VARIABLE)
        return cls(path) if path else None

    def send(self, live_id: str, number: int, step: Step) -> None:
        """Sends frame ``number`` (from 1) of the request that carried ``live_id``."""
        datagram = frame(
            live_id,
            number,
            step.number,
            step.converged,
            step.argmax.tolist(),
            step.accepted.tolist(),
            step.entropy.astype("float64").round(DECIMALS).tolist(),
        )
        try:
            self._socket.sendto(datagram, self._path)
        except OSError:
            return  # nobody listens, or the reader is behind: a frame is worth less than the answer

    def close(self) -> None:
        self._socket.close()
