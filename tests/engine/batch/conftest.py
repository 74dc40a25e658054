"""Property tests here touch the disk, and the machine may be busy: no deadline for an example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
