"""The form file's shape (format version 3): pydantic models, unknown fields forbidden. docs/form-file.md.

``docs/form.schema.json`` is made from these models (``form_schema``), so what a field is for stands here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema
from pydantic_core import PydanticCustomError

from engine.domain.question import MAX_LEVELS, MAX_OPTIONS, MAX_QUESTIONS, MIN_LEVELS, MIN_OPTIONS

FORMAT_VERSION = 3
MAX_DRAWS = 32
MAX_STEPS = 48  # denoise steps of a canvas, the released model's own number
OPTIONS, LEVELS = (MIN_OPTIONS, MAX_OPTIONS), (MIN_LEVELS, MAX_LEVELS)

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


def _counts(of: str, limits: tuple[int, int]) -> dict[str, JsonValue]:
    """How many there may be, in the schema's words. The program itself says it with the place and the number."""
    return {f"min{of}": limits[0], f"max{of}": limits[1]}


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

    id: Annotated[str, Field(description="1 to 100 printable characters; names the columns of the export")]
    instructions: Annotated[Text, Field(description="the question, as the model sees it")]
    gold: Annotated[Text | None, Field(description="a column with the right answers")] = None


class WireNoul(WireQuestion):
    type: Literal["noul"]
    criteria: Annotated[NoulCriteria, Field(default_factory=NoulCriteria, description="what yes and no mean")]
    threshold: Annotated[Share | None, Field(description="p(yes) from which an answer counts as yes")] = None


class WireChoice(WireQuestion):
    """``criteria``: options with descriptions, or a list of option names."""

    type: Literal["choice"]
    criteria: Annotated[
        dict[str, str] | list[str],
        BeforeValidator(_options),
        Field(description="2 to 26 options: names with descriptions, or a list of names"),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "object", "additionalProperties": {"type": "string"}, **_counts("Properties", OPTIONS)},
                    {"type": "array", "items": {"type": "string"}, "uniqueItems": True, **_counts("Items", OPTIONS)},
                ]
            }
        ),
    ]
    threshold: Annotated[
        Share | None, Field(description="share of the likeliest option from which an answer is taken without a person")
    ] = None


class WireScore(WireQuestion):
    """``criteria``: the levels, lowest first."""

    type: Literal["score"]
    criteria: Annotated[
        list[str], Field(description="2 to 10 levels, lowest first", json_schema_extra=_counts("Items", LEVELS))
    ]
    threshold: Annotated[
        Annotated[float, Field(ge=0.0, le=9.0)] | None, Field(description="expected level from which a row counts")
    ] = None


class WireMethod(Wire):
    """How the questions are read; what is left out follows the program's own default."""

    draws: Annotated[
        Literal["auto"] | int,
        BeforeValidator(_draws),
        Field(description="looks per question"),
        WithJsonSchema({"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1, "maximum": MAX_DRAWS}]}),
    ] = "auto"
    joint: Annotated[bool, Field(description="the questions of a row share a canvas")] = False
    wire: Literal["canvas", "native"] = "canvas"
    min_mass: Annotated[Share, Field(description="label mass from which a draw is readable")] = 0.5
    unsure_entropy: Annotated[
        float, Field(ge=0.0, allow_inf_nan=False, description="nats; auto draws again above it")
    ] = 0.1
    canvas_length: Annotated[int, Field(ge=16, le=256)] = 16
    seed: Annotated[int, Field(ge=0, lt=2**63, description="of the noise of draws 1, 2, ...")] = 0
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS, description="denoise steps of a read; the template stays")] = 1
    rotate: Annotated[bool, Field(description="a choice is read once per rotation of its options")] = False


class WirePictures(Wire):
    """Which column names the pictures that a row is about."""

    column: Annotated[Text, Field(description="its cells hold paths, which start from the table's folder")]
    separator: Annotated[
        str, Field(max_length=10, description="between several pictures of a cell; empty: a cell names one")
    ] = ""


class WireForm(Wire):
    """The whole file."""

    version: Literal[3]
    name: Text
    state: Annotated[Text, Field(description="a template over the table's columns: the text that is asked about")]
    questions: Annotated[
        list[Annotated[WireNoul | WireChoice | WireScore, Field(discriminator="type")]],
        Field(
            min_length=1,
            description="1 to 64 questions, in the order of the export",
            json_schema_extra={"maxItems": MAX_QUESTIONS},
        ),
    ]
    group: Annotated[Text | None, Field(description="a column by whose values answers are counted")] = None
    document: Annotated[
        Text | None, Field(description="a template of the whole document a row comes from, for compare-methods")
    ] = None
    pictures: Annotated[
        WirePictures | None, Field(description="pictures that the questions are about, for engines that see")
    ] = None
    method: WireMethod = Field(default_factory=WireMethod)


def form_schema() -> dict[str, Any]:
    """The published JSON Schema (draft 2020-12). The program checks more: counts, repeated ids, columns."""
    made = WireForm.model_json_schema(mode="validation")
    made["title"] = "Diffusion Desk form"
    made["description"] = f"What is asked about every row of a table; format version {FORMAT_VERSION}."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
