"""Lets vLLM's CPU build run DiffusionGemma. On PYTHONPATH of that engine only, so every process of its tree imports it.

vLLM's second model runner wants Triton, and on a CPU it believes in Triton only when a backend named ``cpu`` is there.
Triton's wheel has none; with ``TRITON_INTERPRET=1`` it needs none either, because its interpreter runs the kernels. So
a backend that says no more than "I am here" is enough.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

with contextlib.suppress(ImportError):  # helper processes of other interpreters inherit the path too
    from triton.backends import backends

    backends["cpu"] = SimpleNamespace(compiler=None, driver=SimpleNamespace(is_active=lambda: True))
