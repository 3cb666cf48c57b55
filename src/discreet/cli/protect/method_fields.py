"""Commands of ``discreet protect`` made from the fields of their methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import partial
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from discreet.cli import options
from discreet.cli.compose import option, parameter
from discreet.cli.protect.common import protects
from discreet.cli.rule_option import Rules, rules_of
from discreet.core.errors import RequestError
from discreet.protect.base import Method
from discreet.protect.usage import UNLISTED, Usage
from discreet.rules.rule import Rule


def command_of(method: type[Method], build: Callable[..., Any] | None = None, **more: Any) -> Callable[..., None]:
    """Return the command of a method: an option for every field, its help and examples from its class.

    Args:
        method: the class of the method.
        build: takes ``made``, which makes the method from its options and further fields, and options that are no
            fields; it returns what is applied. By default that is the method alone.
        more: what else :func:`protects` takes.
    """
    usage = Usage.of(method)
    own = MethodFields(method)
    extra = [] if build is None else list(inspect.signature(build, eval_str=True).parameters.values())[1:]

    def built(**given: object) -> Any:
        made = own.taken(given)
        return made() if build is None else build(made, **given)

    built.__signature__ = inspect.Signature([*extra, *own.parameters])  # type: ignore[attr-defined]
    built.__name__ = method.name.replace("-", "_")
    built.__doc__ = own.as_options(usage.help)
    needed = "".join(f" {one.flag} …" for one in own.asked if one.needed)
    plain = {f"discreet protect {method.name} table.csv{needed} -o release.csv": "one table"}
    return protects(built, usage.examples or plain, random=usage.random, linked=usage.linked, **more)


class MethodFields:
    """The fields of a method as options of a command."""

    def __init__(self, method: type[Method]) -> None:
        """List the options."""
        hints = get_type_hints(method)
        listed = [one for one in fields(cast("Any", method)) if one.init and one.metadata != UNLISTED]
        self.method, self.asked = method, [_Asked(method.name, one, hints[one.name]) for one in listed]

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What a command takes."""
        return [one.parameter for one in self.asked]

    def as_options(self, text: str) -> str:
        """Return a text of the class with its fields, in backticks, as the options that they are."""
        flags = {one.field.name: one.flag for one in self.asked}
        return re.sub(r"``(.*?)``", lambda found: flags.get(found[1], found[1]), text)

    def taken(self, given: dict[str, Any]) -> Callable[..., Any]:
        """Take the options of the fields out of those given; return what makes the method of them."""
        values = {one: given.pop(one.parameter.name) for one in self.asked}
        said = {one.field.name: one.read(v) for one, v in values.items() if v is not None or one.needed}
        return partial(self.method, **said)


class _Asked:
    """An option, and what turns its value into that of the field."""

    def __init__(self, method: str, field: Field[object], hint: object) -> None:
        self.field, self.needed = field, field.default is MISSING
        self.flag: str = field.metadata.get("flag", f"--{field.name.replace('_', '-')}")
        asked = option(field.metadata.get("help", ""), self.flag, panel=field.metadata.get("panel"))
        default: Any = field.default
        kind = _plain(hint)
        self.read: Callable[[Any], Any] = lambda value: value
        readers: dict[Any, Callable[[str], Any]] = {
            tuple[str, ...]: lambda text: tuple(options.names(text) or ()),
            tuple[float, ...]: partial(options.numbers, option=self.flag, form="give numbers with commas, as 1,0.5"),
            tuple[float, float]: self._ends,
        }
        if kind in (bool, int, float, str):
            annotation: Any = Annotated[kind | None if default is None else kind, asked]
        elif kind in readers:
            annotation, default, self.read = Annotated[str | None, asked], None, readers[kind]
        elif kind == Mapping[str, int]:
            annotation, default, self.read = Annotated[list[str] | None, asked], None, sizes
        elif kind == tuple[Rule, ...] or self.flag == "--rule":
            self.flag, annotation, default, self.read = "--rule", Rules, None, _rules
        else:
            raise RequestError(
                f"{method} has a field {field.name!r} of type {hint}, which no option gives; make it a number, a text, "
                "a choice or a tuple of names, or leave it out of the options (metadata=UNLISTED)"
            )
        self.parameter = parameter(self.flag.removeprefix("--").replace("-", "_"), annotation, default)

    def _ends(self, text: str) -> tuple[float, float]:
        form = "give LOWER,UPPER, as 1,1"
        found = options.numbers(text, self.flag, form)
        if len(found) > 2:
            raise RequestError(f"{self.flag} is {text!r}; {form}")
        return found[0], found[-1]


def _plain(hint: object) -> Any:
    """Return the type of a field without None; one of several texts is a text.

    >>> _plain(int | None), _plain(Literal["any", "all"])
    (<class 'int'>, <class 'str'>)
    """
    some = [one for one in get_args(hint) if one is not NoneType]
    if NoneType in get_args(hint) and len(some) == 1:
        return some[0]
    return str if get_origin(hint) is Literal else hint


def _rules(texts: list[str] | None) -> tuple[Rule, ...]:
    return tuple(rules_of(texts))


def sizes(texts: list[str] | None) -> dict[str, int] | None:
    """Read ``CATEGORY=N``, once for every stratum."""
    found: dict[str, int] = {}
    for text in texts or ():
        label, equals, number = text.rpartition("=")
        if not equals or not number.strip().isdigit():
            raise RequestError(f"--size is {text!r}; give it as CATEGORY=N, as north=50")
        found[label] = int(number)
    return found or None
