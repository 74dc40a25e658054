"""Who works on a run: a process id with its creation time, since ids are used again after a process is gone."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass

import psutil

# psutil adds the boot time of the wall clock to the kernel's ticks, so a corrected clock moves the result a little.
TOLERANCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A claim on a run.

    Attributes:
        pid, started: the process and its creation time, seconds since 1970.
        token: tells two claims of one process apart.
    """

    pid: int
    started: float
    token: str

    @classmethod
    def mine(cls) -> Lease:
        """A new claim of this process."""
        return cls(os.getpid(), psutil.Process().create_time(), secrets.token_hex(8))

    def alive(self) -> bool:
        """Whether the process that made the claim still runs."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) <= TOLERANCE_S
            return same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:  # somebody else's process: not one of our workers
            return False
