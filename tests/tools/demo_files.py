"""Where the shipped model and the examples lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = ROOT / "resources"
DEMO = RESOURCES / "demo_model"
EXAMPLES = RESOURCES / "examples"
