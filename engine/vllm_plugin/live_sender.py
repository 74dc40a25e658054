"""Frames on their way out of a worker: a few buffers, one thread, one Unix datagram socket. Never in a step's way."""

from __future__ import annotations

import errno
import logging
import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.vllm_plugin.parts import LOGGER
from engine.vllm_plugin.protocol import DECIMALS, frame

BUFFERS = 64  # steps on their way; a reader that is further behind does not want them
PATIENCE_S = 0.05  # a datagram waits for room; the kernel may hold as few as 10 of them (net.unix.max_dgram_qlen)
REPORT_S = 60.0  # between two lines on what was lost
EXTRA = 4
"""Numbers beside argmax and entropy: the step counter, whether the canvas commits next, tokens emitted, and all tokens
that the request had before the step."""
GONE = {errno.ECONNREFUSED, errno.ENOENT, errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE}

logger = logging.getLogger(LOGGER)


@dataclass(slots=True)
class Watched:
    """A request that gets frames.

    With asynchronous scheduling a request whose last canvas is committed may be in one more step, which vLLM throws
    away: nobody in the worker is told. So what ends it is looked for here.

    Attributes:
        end: tokens, those of the prompt too, at which it ends; None for no end.
        stops: token ids that end it.
        before: denoise steps of its canvases before this one.
        step: the last one of this canvas that was seen.
        over: all that it commits is committed, or will be with the next pass; what it denoises then is nothing.
        off: a fault has ended its frames.
    """

    live_id: str
    end: int | None = None
    stops: Collection[int] = ()
    before: int = 0
    step: int = 0
    over: bool = False
    off: bool = False

    def number(self, step: int) -> int:
        """The 1-based number of the frame, which counts steps whose frames were lost too.

        Args:
            step: the sampler's counter after the step, from 1 in each canvas.
        """
        if step <= self.step:  # another canvas, whose predecessor's end was not seen
            self._next_canvas()
        self.step = step
        return self.before + step

    def has(self, tokens: int) -> None:
        """So many it had when the step began."""
        self.over = self.over or (self.end is not None and tokens >= self.end)

    def end_canvas(self, canvas: Sequence[int]) -> None:
        """It converged, or is committed; where neither was seen, only the number of its tokens tells the end."""
        self.over = self.over or any(token in self.stops for token in canvas)
        self._next_canvas()

    def _next_canvas(self) -> None:
        self.before += self.step
        self.step = 0


def stops_of(sampling_params: Any) -> frozenset[int]:
    """The token ids that a request stops at.

    As ``check_stop`` of vLLM 0.32 and 0.33 looks at them; ids that are ignored are in neither field. Stop strings are
    not known here: behind one, the frames of the step that vLLM throws away are sent.
    """
    stops = {*(getattr(sampling_params, "stop_token_ids", None) or ()), getattr(sampling_params, "eos_token_id", None)}
    return frozenset(stops - {None})


@dataclass(slots=True)
class Counts:
    """What has become of frames and requests.

    Attributes:
        sent: frames that a listener has taken.
        dropped: frames for which there was no buffer, or no room at the listener in time.
        failed: requests whose frames were switched off by a fault.
    """

    sent: int = 0
    dropped: int = 0
    failed: int = 0


@dataclass(slots=True)
class Buffer:
    """Room for one step of one request.

    Attributes:
        device: [2 * canvas + 4] int32, written on the step's own stream.
        host: the same, page-locked where the device is a GPU; the same tensor where there is none.
        event: recorded behind the copy; None where there is no GPU.
        watched, width: what it holds, and for whom.
    """

    device: Any
    host: Any
    event: Any = None
    watched: Watched = field(default_factory=lambda: Watched(""))
    width: int = 0


class FrameSender:
    """Builds and sends frames on a thread of its own.

    Args:
        path: the listener's socket.
        buffers: all that there are.
        entropy_bound: of the sampler, in nats.
    """

    def __init__(self, path: str, buffers: Sequence[Buffer], entropy_bound: float) -> None:
        self.counts = Counts()
        self.listened = False
        self._path, self._bound = path, entropy_bound
        self._free = deque(buffers)
        self._full: queue.SimpleQueue[Buffer | None] = queue.SimpleQueue()
        self._socket: socket.socket | None = None
        self._failing = threading.Lock()
        self._reported, self._report_at = (0, 0), 0.0
        self._thread = threading.Thread(target=self._run, daemon=True, name="desk live canvas")
        self._thread.start()

    def look(self) -> bool:
        """Whether somebody listens now; asked when a request wants frames."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(self._path)
            except OSError:
                return False
        self.listened = True
        return True

    def buffer(self) -> Buffer | None:
        """A free one, or None (counted): the frame is lost."""
        try:
            return self._free.popleft()
        except IndexError:
            self.counts.dropped += 1
            return None

    def give(self, buffer: Buffer) -> None:
        """A filled buffer, to be sent when its event is over."""
        self._full.put(buffer)

    def take_back(self, buffer: Buffer) -> None:
        """A buffer that could not be filled."""
        self._free.append(buffer)

    def failed(self, watched: Watched, what: str) -> None:
        """Switches a request off and counts it once; for the handler of an exception. The first has its traceback."""
        with self._failing:  # the step's thread and ours
            if watched.off:
                return
            watched.off = True
            self.counts.failed += 1
        logger.warning("live canvas off for a request: %s", what, exc_info=self.counts.failed == 1)

    def close(self) -> None:
        """Sends what waits and ends the thread."""
        self._full.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (buffer := self._full.get()) is not None:
            try:
                if buffer.event is not None:
                    buffer.event.synchronize()  # sleeps; the GIL is free
                if self.listened and not buffer.watched.off:
                    self._send(buffer)
            except Exception:  # noqa: BLE001  # whatever it is, it costs the frames of a request and nothing else
                self.failed(buffer.watched, "a frame could not be built")
            finally:
                self._free.append(buffer)
            self._report()
        if self._socket is not None:
            self._socket.close()

    def _send(self, buffer: Buffer) -> None:
        datagram = datagram_of(buffer, self._bound)
        if datagram is None:
            return
        for last in (False, True):
            try:
                self._connected().send(datagram)
            except OSError as error:  # a timeout is one
                gone = error.errno in GONE
                if gone and self._socket is not None:
                    self._socket.close()
                    self._socket = None
                if last or not gone:
                    self.counts.dropped += 1
                    self.listened = not gone
                    return
            else:
                self.counts.sent += 1
                return

    def _connected(self) -> socket.socket:
        """The socket, connected to whoever listens at the path now; a listener may have come back since."""
        if self._socket is None:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                made.settimeout(PATIENCE_S)
                made.connect(self._path)
            except OSError:
                made.close()
                raise
            self._socket = made
        return self._socket

    def _report(self, clock: Callable[[], float] = time.monotonic) -> None:
        now, counts = clock(), self.counts
        if (counts.dropped, counts.failed) != self._reported and now >= self._report_at:
            self._reported, self._report_at = (counts.dropped, counts.failed), now + REPORT_S
            logger.info(
                "live canvas: %d frames sent, %d dropped, %d requests switched off",
                *(counts.sent, counts.dropped, counts.failed),
            )


def datagram_of(buffer: Buffer, entropy_bound: float) -> bytes | None:
    """The frame that a buffer holds; None for the pass that commits a canvas, which denoises nothing, and for a step
    behind the last canvas."""
    width, watched = buffer.width, buffer.watched
    numbers = buffer.host.numpy()
    step, commits, emitted, tokens = numbers[2 * width : 2 * width + EXTRA].tolist()
    argmax = numbers[:width].tolist()
    watched.has(tokens)
    if step == 0:
        watched.end_canvas(argmax)
        return None
    if watched.over:
        return None
    entropy = numbers[width : 2 * width].view("float32").astype("float64")
    converged = bool(commits or emitted)
    number = watched.number(step)
    if converged:
        watched.end_canvas(argmax)
    kept = accepted(entropy.tolist(), entropy_bound)
    return frame(watched.live_id, number, step, converged, argmax, kept, entropy.round(DECIMALS).tolist())


def accepted(entropy: Sequence[float], bound: float) -> list[bool]:
    """Which slots the sampler keeps: the surest first, while the entropies before one sum up to at most ``bound`` nats.

    The rule of vLLM 0.33.0, ``diffusion_gemma.py``, ``_compiled_sample_step``. It is worked out again here, since the
    sampler tells nobody its mask and a copy of the entropies is needed anyway.
    """
    kept, before = [False] * len(entropy), 0.0
    for slot in sorted(range(len(entropy)), key=entropy.__getitem__):
        if not before <= bound:  # NaN keeps nothing
            break
        kept[slot] = True
        before += entropy[slot]
    return kept
