"""Values of options taken as they are; what checks the others is loaded only if there are others.

Typer builds an adapter of pydantic for every option of a command, given or not, which takes a third of the time of a
small command. Texts, paths and plain numbers need none; anything else, and every complaint, is left to typer.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import get_args, get_origin

from discreet.cli.given_once import refuse_twice
from discreet.cli.option_kinds import tell_in_words
from discreet.cli.short_help import shorten
from discreet.cli.typer_types import Command, Context, Parameter

NUMBERS = {int: re.compile(r"[+-]?[0-9]{1,15}"), float: re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]{1,12})?")}
UNUSUAL = object()


class PlainValue:
    """What typer asks for the value of one parameter."""

    def __init__(self, parameter: Parameter) -> None:
        """Keep how typer itself would do it."""
        self._by_typer = parameter.get_runtime_param

    def coerce(self, value: object, param: Parameter, ctx: Context) -> object:
        """Return the value that a command is handed."""
        kind, about = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if several and get_origin(kind) is list and isinstance(value, list | tuple):
            found = [_taken(one, get_args(kind)[0], about) for one in value]
            if UNUSUAL not in found:
                return found
        elif not several and (taken := _taken(value, kind, about)) is not UNUSUAL:
            return taken
        param._runtime_param = None
        return self._by_typer().coerce(value, param=param, ctx=ctx)


def _taken(value: object, kind: type, about: Parameter) -> object:
    """Return a single value, or that it is unusual."""
    if type(value) is kind and kind in (bool, int, float):
        return value
    if not isinstance(value, str) or not (value.isascii() and "\0" not in value) or about.parser is not None:
        return UNUSUAL
    if kind is str:
        return value
    if kind is Path and not (about.exists or about.resolve_path or about.writable):
        usual = about.file_okay and about.dir_okay and (os.access(value, os.R_OK) or not os.path.lexists(value))
        return Path(value) if usual else UNUSUAL
    if kind in NUMBERS and NUMBERS[kind].fullmatch(value) and not about.clamp:
        number = kind(value)
        within = (about.min is None or number >= about.min) and (about.max is None or number <= about.max)
        return number if within else UNUSUAL
    return UNUSUAL


def take_plainly(command: Command) -> None:
    """Take the plain values of a command's parameters as they stand, where typer works in the way described above."""
    made = command.get_help_option

    def plain_help(context: Context) -> Parameter:
        found = made(context)
        _take(found)
        return found

    command.get_help_option = plain_help
    refuse_twice(command)
    shorten(command)
    for parameter in command.params:
        _take(parameter)
    below = getattr(command, "commands", None)
    # Commands that are made when they are asked for come here by themselves.
    for one in below.values() if type(below) is dict else ():
        take_plainly(one)


def _take(parameter: Parameter) -> None:
    tell_in_words(parameter)
    if getattr(parameter, "_runtime_param", UNUSUAL) is None and hasattr(parameter, "type_descriptor"):
        parameter._runtime_param = PlainValue(parameter)
