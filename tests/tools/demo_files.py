"""Where the shipped model and the examples lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources" / "demo_model"
EXAMPLES = ROOT / "resources" / "examples"
