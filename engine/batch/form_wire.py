"""The form file's shape (format version 1): pydantic models, unknown fields forbidden. docs/form-file.md."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

FORMAT_VERSION = 1
MAX_DRAWS = 32

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


def _options(value: object) -> object:
    """One message for both shapes; a union would report its last branch."""
    named = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    listed = isinstance(value, list) and all(isinstance(text, str) for text in value)
    if not named and not listed:
        raise PydanticCustomError("options", "must be an object of names and descriptions, or a list of names")
    return value


def _draws(value: object) -> object:
    counted = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_DRAWS
    if value != "auto" and not counted:
        raise PydanticCustomError("draws", 'must be "auto" or a whole number from 1 to 32')
    return value


class Wire(BaseModel):
    """What all parts share: nothing unknown, nothing converted silently ("1" is no number)."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoulCriteria(Wire):
    """What yes and no mean, in System One's words."""

    true: str = ""
    false: str = ""


class WireQuestion(Wire):
    """What every question has."""

    id: str
    instructions: Text
    gold: Text | None = None


class WireNoul(WireQuestion):
    type: Literal["noul"]
    criteria: NoulCriteria = Field(default_factory=NoulCriteria)


class WireChoice(WireQuestion):
    """``criteria``: options with descriptions, or a list of option names."""

    type: Literal["choice"]
    criteria: Annotated[dict[str, str] | list[str], BeforeValidator(_options)]


class WireScore(WireQuestion):
    """``criteria``: the levels, lowest first."""

    type: Literal["score"]
    criteria: list[str]


class WireMethod(Wire):
    """How the questions are read; what is left out follows the program's own default."""

    draws: Annotated[Literal["auto"] | int, BeforeValidator(_draws)] = "auto"
    joint: bool = False
    wire: Literal["canvas", "native"] = "canvas"
    min_mass: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    unsure_entropy: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.1
    canvas_length: Annotated[int, Field(ge=16, le=256)] = 16
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class WireForm(Wire):
    """The whole file."""

    version: Literal[1]
    name: Text
    state: Text
    questions: Annotated[
        list[Annotated[WireNoul | WireChoice | WireScore, Field(discriminator="type")]], Field(min_length=1)
    ]
    group: Text | None = None
    method: WireMethod = Field(default_factory=WireMethod)
