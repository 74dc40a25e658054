"""Our package as the engine's interpreter sees it: the name ``engine`` and where its rooms lie, and nothing else.

Our own folder must not be on the engine's path: installed, it is a ``site-packages`` with our versions of the engine's
libraries. This folder holds one module; with a ``__path__`` it is a package, so ``engine.vllm_plugin`` is found beside
it.
"""

from __future__ import annotations

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2])]
