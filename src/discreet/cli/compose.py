"""Commands put together from groups of options, each of which is declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def composed(
    command: Callable[..., None], parameters: Sequence[inspect.Parameter] | None = None
) -> Callable[..., None]:
    """Return a command whose groups of options stand as single options on the command line.

    A group is a data class whose fields are options; a parameter that is annotated with it gets an instance.

    Args:
        command: what is run.
        parameters: what it takes, in the order of help; by default what its signature says.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values()) if parameters is None else parameters
    groups: dict[str, Any] = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{item.name: given.pop(item.name) for item in fields(group)})
        command(**given)

    listed = [part for one in own for part in (options_of(groups[one.name]) if one.name in groups else [one])]
    single = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in listed]
    run.__signature__ = inspect.Signature(single)  # type: ignore[attr-defined]
    return run


def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def options_of(group: Any) -> Iterator[inspect.Parameter]:
    """Go through the options of a group as parameters of a command."""
    hints = get_type_hints(group, include_extras=True)
    for item in fields(group):
        yield parameter(
            item.name, hints[item.name], inspect.Parameter.empty if item.default is MISSING else item.default
        )
