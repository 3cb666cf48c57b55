"""How a method is asked for on the command line: its help, its examples, and an option for each of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class Usage:
    """What ``discreet protect`` says of a method; a method has it as the class attribute ``usage``.

    Attributes:
        help: what the method does, in paragraphs; the first one of its docstring where it is empty.
        examples: command lines and what they do.
        random: whether it takes a seed.
        linked: whether it protects linked tables together.
    """

    help: str = ""
    examples: Mapping[str, str] = field(default_factory=dict)
    random: bool = True
    linked: bool = False


def option(help: str, flag: str = "", panel: str = "") -> Mapping[str, str]:
    """Return the metadata of a field that is an option, named as the field unless a flag is given.

    Args:
        help: what the option does.
        flag: its name on the command line.
        panel: the title under which help shows it.

    >>> option("The largest change.")["help"]
    'The largest change.'
    """
    given = {"help": help, "flag": flag, "panel": panel}
    return MappingProxyType({name: text for name, text in given.items() if text})


UNLISTED: Mapping[str, str] = MappingProxyType({"flag": "none"})
"""The metadata of a field that is no option."""
