"""Who is served next: chats and reads take turns, so that neither a wide run nor a long answer starves the other."""

from __future__ import annotations

from collections import deque


class FairQueue[T]:
    """Two lanes served in turn, one unit of work at a time.

    A read keeps its turn in the read lane until it is done (it is short, and half-done reads would only hold memory).
    A chat keeps its turn in the chat lane for one canvas; then the next chat has it.
    """

    def __init__(self) -> None:
        self._chats: deque[T] = deque()
        self._reads: deque[T] = deque()
        self._chat_was_last = False

    def __len__(self) -> int:
        return len(self._chats) + len(self._reads)

    def add(self, job: T, *, is_read: bool) -> None:
        (self._reads if is_read else self._chats).append(job)

    def next(self) -> T:
        """The job whose unit of work is due; it stays queued.

        Raises:
            IndexError: nothing is queued.
        """
        if not self._chats or (self._chat_was_last and self._reads):
            self._chat_was_last = False
            return self._reads[0]
        self._chat_was_last = True
        return self._chats[0]

    def rotate(self, job: T) -> None:
        """The job has committed a canvas but is not done: the next chat has the turn."""
        if self._chats and self._chats[0] is job:
            self._chats.rotate(-1)

    def remove(self, job: T) -> None:
        """Forgets a job that is done or was given up."""
        for lane in (self._chats, self._reads):
            if job in lane:
                lane.remove(job)
