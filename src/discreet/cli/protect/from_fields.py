"""The plain commands of ``discreet protect``, each made from the fields of its method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import typer

from discreet.cli import options
from discreet.cli.protect.common import protects
from discreet.cli.protect.records import sizes
from discreet.cli.rule_texts import Rules, rules_of
from discreet.core.errors import RequestError
from discreet.protect.base import Method
from discreet.protect.usage import UNLISTED, Usage
from discreet.rules.rule import Rule


def command_of(method: type[Method]) -> Callable[..., None]:
    """Return the command of a method: an option for every field, its help and examples from its class."""
    usage = Usage.of(method)
    hints = get_type_hints(method)
    asked = [_Asked(method.name, one, hints[one.name]) for one in fields(cast("Any", method)) if _listed(one)]

    def build(**given: Any) -> Any:
        values = {one: given[one.parameter.name] for one in asked}
        return method(**{one.field.name: one.read(v) for one, v in values.items() if v is not None or one.needed})

    build.__signature__ = inspect.Signature([one.parameter for one in asked])  # type: ignore[attr-defined]
    build.__name__ = method.name.replace("-", "_")
    build.__doc__ = usage.help
    needed = "".join(f" {one.flag} …" for one in asked if one.needed)
    plain = {f"discreet protect {method.name} table.csv{needed} -o release.csv": "one table"}
    return protects(build, usage.examples or plain, random=usage.random, linked=usage.linked)


def _listed(field: Field[Any]) -> bool:
    return field.init and field.metadata != UNLISTED


class _Asked:
    """An option, and what turns its value into that of the field."""

    def __init__(self, method: str, field: Field[Any], hint: Any) -> None:
        self.field, self.needed = field, field.default is MISSING
        self.flag: str = field.metadata.get("flag", f"--{field.name.replace('_', '-')}")
        option = typer.Option(self.flag, help=field.metadata.get("help", ""))
        default = inspect.Parameter.empty if self.needed else field.default
        kind = _plain(hint)
        self.read: Callable[[Any], Any] = _same
        if kind in (bool, int, float, str):
            annotation: Any = Annotated[kind | None if default is None else kind, option]
        elif kind == tuple[str, ...]:
            annotation, default, self.read = Annotated[str | None, option], None, _names
        elif kind == Mapping[str, int]:
            annotation, default, self.read = Annotated[list[str] | None, option], None, sizes
        elif kind == tuple[Rule, ...]:
            self.flag, annotation, default, self.read = "--rule", Rules, None, _rules
        else:
            raise RequestError(
                f"{method} has a field {field.name!r} of type {hint}, which no option gives; make it a number, a text, "
                "a choice or a tuple of names, or leave it out of the options (metadata=UNLISTED)"
            )
        name = self.flag.removeprefix("--").replace("-", "_")
        self.parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _plain(hint: Any) -> Any:
    """Return the type of a field without None; one of several texts is a text.

    >>> _plain(int | None), _plain(Literal["any", "all"])
    (<class 'int'>, <class 'str'>)
    """
    some = [one for one in get_args(hint) if one is not NoneType]
    if NoneType in get_args(hint) and len(some) == 1:
        return some[0]
    return str if get_origin(hint) is Literal else hint


def _same(value: Any) -> Any:
    return value


def _names(text: str) -> tuple[str, ...]:
    return tuple(options.names(text) or ())


def _rules(texts: list[str] | None) -> tuple[Rule, ...]:
    return tuple(rules_of(texts))
