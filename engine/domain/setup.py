"""The steps of the setup, in order."""

from __future__ import annotations

from typing import Literal, get_args

SetupStep = Literal["detect", "plan", "engine", "checkpoint", "preflight", "launch", "probe"]
SETUP_STEPS: tuple[SetupStep, ...] = get_args(SetupStep)
