"""``--draws``: how often a question is looked at."""

from __future__ import annotations

from typing import Literal

import click

from engine.batch.form_wire import MAX_DRAWS


class Draws(click.ParamType[Literal["auto"] | int]):
    """``auto`` or a number of draws."""

    name = "N|auto"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Literal["auto"] | int:
        if value == "auto":
            return "auto"
        try:
            draws = int(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither a number nor auto", param, ctx)
        if not 1 <= draws <= MAX_DRAWS:
            self.fail(f"{draws} is not in the range 1 to {MAX_DRAWS}, nor auto", param, ctx)
        return draws
