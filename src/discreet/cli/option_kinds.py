"""What help says an option takes, and is by default: in words, not as types and values of Python."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_origin

from discreet.cli.compose import LARGEST
from discreet.cli.typer_types import Context, Parameter

WORDS = {bool: "", str: "TEXT", Path: "FILE", int: "NUMBER", float: "NUMBER"}


def tell_in_words(parameter: Parameter) -> None:
    """Have help say in words what a parameter takes and is by default, where typer works as this relies on."""
    if not hasattr(parameter, "display_type_rich") or not hasattr(parameter, "type_descriptor"):
        return
    kind = parameter.type_descriptor.annotation
    word = WORDS.get(get_args(kind)[0] if get_origin(kind) is list else kind)
    if parameter.metavar is not None:
        # What an argument takes is said by its name.
        word = parameter.metavar if parameter.param_type_name == "option" else ""
    if word is not None:
        parameter.display_type_rich = lambda ctx: word
    parameter._get_number_range_help_str = lambda: range_text(parameter.min, parameter.max)
    if hasattr(parameter, "_get_default_string"):
        _tell_default(parameter)
    if hasattr(parameter, "_usage_display_name"):
        name = parameter.display_name_raw
        parameter._usage_display_name = lambda: name if parameter.required else f"[{name}]"


def _tell_default(parameter: Parameter) -> None:
    by_typer = parameter._get_default_string

    def told(*, ctx: Context, show_default_is_str: bool, default_value: object) -> str:
        if show_default_is_str:
            return str(parameter.show_default)
        if isinstance(default_value, (int, float)) and not isinstance(default_value, bool):
            return number_text(default_value)
        found: str = by_typer(ctx=ctx, show_default_is_str=False, default_value=default_value)
        return found

    parameter._get_default_string = told


def number_text(value: float) -> str:
    """Return a number as people write it.

    >>> number_text(2000), number_text(60.0), number_text(0.05)
    ('2,000', '60', '0.05')
    """
    return f"{int(value):,}" if value == int(value) else str(value)


def range_text(least: float | None, most: float | None) -> str | None:
    """Return between which numbers an option must be; the largest that any takes is left unsaid.

    >>> range_text(0, LARGEST), range_text(2, 10_000_000), range_text(None, LARGEST)
    ('≥ 0', '2 to 10,000,000', None)
    """
    least = int(least) if least is not None and least == int(least) else least
    bounded = most is not None and most < LARGEST
    if least is None:
        return f"≤ {most:,}" if bounded else None
    return f"{least:,} to {most:,}" if bounded else f"≥ {least:,}"
