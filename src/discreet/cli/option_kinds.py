"""What help says an option takes: in words, not as a type of Python."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_origin

from discreet.cli.compose import LARGEST
from discreet.cli.typer_types import Parameter

WORDS = {bool: "", str: "TEXT", Path: "FILE", int: "NUMBER", float: "NUMBER"}


def tell_in_words(parameter: Parameter) -> None:
    """Have help say what a parameter takes in words, where typer works in the way that this relies on."""
    if not hasattr(parameter, "display_type_rich") or not hasattr(parameter, "type_descriptor"):
        return
    kind = parameter.type_descriptor.annotation
    word = WORDS.get(get_args(kind)[0] if get_origin(kind) is list else kind)
    if word is not None and parameter.metavar is None:
        parameter.display_type_rich = lambda ctx: word
    elif parameter.metavar is not None:
        # What an argument takes is said by its name.
        parameter.display_type_rich = lambda ctx: ""
    parameter._get_number_range_help_str = lambda: range_text(parameter.min, parameter.max)


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
