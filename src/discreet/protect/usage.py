"""How a method is used: on the command line, with an option for each of its fields, or in one call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, Signature, cleandoc
from types import MappingProxyType

from discreet.core.signatures import Shown
from discreet.protect.base import Method, MethodBase
from discreet.reading.original import reads_original
from discreet.table import Release


@dataclass(frozen=True)
class Usage:
    """What ``discreet protect`` says about a method, and whether it takes a seed and linked tables."""

    help: str
    examples: Mapping[str, str]
    random: bool = True
    linked: bool = False

    @classmethod
    def of(cls, method: type[Method]) -> Usage:
        """Return how a method is used: its ``usage``, or what its class says.

        The help is then the docstring up to a list of attributes or an example, with fields in backticks.
        """
        if isinstance(given := getattr(method, "usage", None), Usage):
            return given
        words = re.split(r"\n\n(?=Attributes:|>>>)", cleandoc(method.__doc__ or method.name))[0]
        paragraphs = [" ".join(text.split()) for text in words.split("\n\n")]
        like = method if issubclass(method, MethodBase) else MethodBase
        examples = {f"discreet protect {method.name} {line}": what for line, what in like.examples.items()}
        return cls("\n\n".join(paragraphs), examples, like.seeded, like.linked is not MethodBase.linked)


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
"""The metadata of a field that is not an option."""

ABOUT = """{summary}

``original`` is a table, a tabulation, or a file or frame that is read as one{linked}. The other parameters are the
fields of :class:`~{home}.{method}`, which explains them{seed}.
"""


def in_one_call(
    method: type[MethodBase], positional: int = 1, renamed: Mapping[str, str] = MappingProxyType({})
) -> Callable[..., Release]:
    """Return the function of a method: an original, the method's fields, and a seed if it draws anything.

    The first fields, one by default, need not be named. ``renamed`` are fields with another name in the function.

    >>> from discreet.protect import ConventionalRounding
    >>> from discreet.table import Table
    >>> in_one_call(ConventionalRounding)(Table.from_array([1, 5, 8], ["month"]), 5).table.to_array().tolist()
    [0, 5, 10]
    """
    usage = Usage.of(method)
    # What a factory makes by default is asked for by leaving it out, or by None.
    back = {name: field for field, name in renamed.items()}
    made = {field.name for field in fields(method) if field.default_factory is not MISSING}
    asked = [Parameter("original", Parameter.POSITIONAL_OR_KEYWORD, annotation=Shown("object"))]
    for place, field in enumerate(fields(method)):
        kind = Parameter.POSITIONAL_OR_KEYWORD if place < positional else Parameter.KEYWORD_ONLY
        default = None if field.name in made else Parameter.empty if field.default is MISSING else field.default
        asked.append(
            Parameter(renamed.get(field.name, field.name), kind, default=default, annotation=Shown(field.type))
        )
    if usage.random:
        asked.append(Parameter("seed", Parameter.KEYWORD_ONLY, default=None, annotation=Shown("Seed")))
    signature = Signature(asked, return_annotation=Shown("Release"))

    def call(*given: object, **named: object) -> Release:
        try:
            chosen = signature.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{call.__name__}() {error}") from None
        original, seed = chosen.pop("original"), chosen.pop("seed", None)
        options = {
            back.get(name, name): value for name, value in chosen.items() if value is not None or name not in made
        }
        return method(**options).apply(original, seed).release

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = method.name.replace("-", "_")
    call.__module__ = method.__module__
    call.__doc__ = ABOUT.format(
        summary=usage.help,
        linked=", or several linked ones" if usage.linked else "",
        home=method.__module__,
        method=method.__name__,
        seed="; ``seed`` makes the release reproducible: keep it secret" if usage.random else "",
    )
    return reads_original(call)
