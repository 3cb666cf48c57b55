"""Protections by name: the registry of methods, made with the parameters that a policy or a user gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TypeVar

from discreet.core.effort import Unsaid
from discreet.core.errors import DiscreetError, RequestError, require
from discreet.core.json_types import Json, JsonObject
from discreet.protect.base import Method
from discreet.rules.sensitivity import Sensitivity
from discreet.table.kinds.kind import tuples

T = TypeVar("T")
PATTERN = 600.0
"""Seconds for a pattern of suppression by default: a table without a pattern is withheld, and compiling the kernels
alone can take a minute."""


def make_method(
    name: str,
    parameters: Mapping[str, object],
    found: Sensitivity | Sequence[object] | None = None,
    time_limit: float | None = None,
) -> Method:
    """Return a method of the registry with its parameters.

    A method that protects sensitive cells takes from ``found`` what is sensitive, or the rules that say so, how rules
    combine and which magnitude is meant; a method that searches takes its time limit. Given parameters take precedence.

    >>> make_method("random-rounding", {"base": 5})
    RandomRounding(base=5, margins=False, additive=False)
    """
    from discreet.evaluate.audited_suppression import AuditedSuppression
    from discreet.protect import METHODS, Suppression

    METHODS.check(name)
    if name in MAKERS:
        return MAKERS[name](parameters)
    method = AuditedSuppression if name == Suppression.name else METHODS[name]
    allowed: list[str] = [field.name for field in fields(method) if field.init] if is_dataclass(method) else []
    given = {key: tuples(value) for key, value in by_fields(method, parameters).items()}
    if isinstance(time_limit, Unsaid) and method is AuditedSuppression:
        time_limit = PATTERN
    known: dict[str, object] = {"time_limit": time_limit} if time_limit else {}
    if isinstance(found, Sensitivity):
        known |= {"rules": found.rules, "combine": found.combine, "response": found.response}
    else:
        known["rules"] = tuple(found or ())
    given = {key: value for key, value in known.items() if key in allowed} | given
    require(given, allowed, f"{name} has no parameter")
    try:
        made: Method = method(**given)
    except DiscreetError:
        raise
    except TypeError as error:
        raise RequestError(f"{name} cannot be made: {error}; its parameters are {', '.join(allowed)}") from None
    return made


def by_fields(method: object, parameters: Mapping[str, T]) -> dict[str, T]:
    """Return parameters by the names of a method's fields, where they have the names of its options.

    >>> from discreet.protect import TableSwapping
    >>> by_fields(TableSwapping, {"keep-all": 2, "rate": 0.1})
    {'keep': 2, 'rate': 0.1}
    """
    flags = {one.metadata.get("flag", ""): one.name for one in fields(method)} if is_dataclass(method) else {}
    found: dict[str, T] = {}
    for key, value in parameters.items():
        name = flags.get(f"--{key.replace('_', '-')}", key)
        if name in found:
            raise RequestError(f"{name} and {key} of {getattr(method, 'name', method)} are the same; give one of them")
        found[name] = value
    return found


def _cell_key(parameters: JsonObject) -> Method:
    """Make a cell-key method from the design figures of its perturbation table, or from the table's file."""
    from discreet.protect import CellKey, design_ptable, read_ptable

    given = by_fields(CellKey, parameters)
    files = [given.pop(key) for key in ("ptable", "file") if key in given]
    if len(files) > 1:
        raise RequestError("cell-key has ptable and file, which are the same; give one of them")
    file = files[0] if files else None
    designs, others = ("bound", "variance", "minimum", "stay", "monotone"), ("share", "weights", "margins", "additive")
    design = {key: given.pop(key) for key in designs if key in given}
    rest = {key: tuples(given.pop(key)) for key in others if key in given}
    require(given, ["ptable", *designs, *others], "cell-key has no parameter")
    if file is not None and design:
        raise RequestError(f"cell-key has a file and {next(iter(design))!r}; a table is read or designed, not both")
    if file is not None:
        return CellKey(read_ptable(file), **rest)
    return CellKey(design_ptable(**{"bound": 5, "variance": 3, **design}), **rest)


def _redesign(parameters: Mapping[str, object]) -> Method:
    """Make a redesign from ``merge``, ``{dimension: {group: [categories]}}``."""
    from discreet.protect import Redesign

    merge = parameters.get("merge")
    strange = next((key for key in parameters if key != "merge"), None)
    if strange is not None or not isinstance(merge, Mapping):
        raise RequestError("redesign takes merge = { dimension = { group = [categories] } }, and nothing else")
    recoding = {
        str(name): {str(category): str(group) for group, found in groups.items() for category in found}
        for name, groups in merge.items()
    }
    return Redesign.of(recoding)


def _chain(parameters: Mapping[str, object]) -> Method:
    """Make a chain from ``steps``, each a text such as ``table-swapping:rate=0.1`` or a name with parameters."""
    from discreet.protect import Chain

    steps = parameters.get("steps")
    strange = next((key for key in parameters if key != "steps"), None)
    if strange is not None or isinstance(steps, str | Mapping) or not isinstance(steps, Sequence):
        raise RequestError('chain takes steps = ["table-swapping:rate=0.1", "random-rounding"], and nothing else')
    made = []
    for step in steps:
        if not isinstance(step, str) and not (isinstance(step, Mapping) and "name" in step):
            raise RequestError(f"a step of a chain is {step!r}; give it as random-rounding:base=3")
        given = {key: value for key, value in step.items() if key != "name"} if isinstance(step, Mapping) else {}
        name, parsed = parse_method(step) if isinstance(step, str) else (str(step["name"]), given)
        made.append(make_method(name, parsed))
    return Chain(tuple(made))  # type: ignore[arg-type]


MAKERS: dict[str, Callable[[JsonObject], Method]] = {
    "cell-key": _cell_key,
    "redesign": _redesign,
    "chain": _chain,
}
"""Methods whose parameters are objects, made from the plain values of a policy file."""


def parse_method(text: str) -> tuple[str, dict[str, Json]]:
    """Read a method from the command line: ``name`` or ``name:key=value,key=value``.

    >>> parse_method("random-rounding:base=5")
    ('random-rounding', {'base': 5})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, Json] = {}
    for part in (part for part in rest.split(",") if part.strip()):
        key, sign, value = part.partition("=")
        if not sign:
            raise RequestError(f"{text!r} is not NAME:KEY=VALUE,KEY=VALUE, as random-rounding:base=3")
        try:
            parameters[key.strip()] = json.loads(value)
        except ValueError:
            parameters[key.strip()] = value.strip()
    return name.strip(), parameters
