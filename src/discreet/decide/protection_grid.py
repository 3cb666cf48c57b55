"""Grids of protections: which methods with which parameters are compared."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from discreet.core.errors import RequestError
from discreet.decide.plain import plain
from discreet.decide.policy import Policy, make_text
from discreet.decide.protections import make_method, parse_method
from discreet.protect.base import Method


@dataclass(frozen=True)
class GridPoint:
    """One method with its parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The method as people read it."""
        return make_text(self.name, dict(self.parameters)) if self.name != "none" else "none (as it is)"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"method": self.name, "parameters": plain(dict(self.parameters)), "title": self.title}


NONE = GridPoint("none")
"""The table as it is, with which every method is compared."""


def grid_of(given: Any, policy: Policy, magnitudes: bool) -> tuple[GridPoint, ...]:
    """Return the points of a grid: those given, or the policy's protections and the usual ones.

    Args:
        given: None; a TOML file with ``[[methods]]``; or a list of ``"name:key=value"`` and of ``{"name": …}``, in
            which a parameter that is a list stands for each of its values.
        policy: its protections are always among them where no grid is given.
        magnitudes: whether the table is one of sums.

    >>> [point.title for point in grid_of([{"name": "random-rounding", "base": [3, 5]}], Policy(), False)]
    ['random-rounding, base 3', 'random-rounding, base 5']
    """
    if given is None:
        listed: Iterable[Any] = [
            *(GridPoint(one.name, one.parameters) for one in policy.protections if one.suits(magnitudes)),
            *(USUAL_MAGNITUDES if magnitudes else USUAL_COUNTS),
        ]
    elif isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        listed = _from_file(Path(given))
    else:
        listed = [given] if isinstance(given, str | Mapping) else list(given)
    points: dict[str, GridPoint] = {}
    for item in listed:
        for point in _expanded(item):
            if point.name != "none":
                make_method(point.name, point.parameters, policy.judges(magnitudes))
            points.setdefault(point.title, point)
    if not points:
        raise RequestError("the grid is empty; name at least one method")
    return tuple(points.values())


def _expanded(item: Any) -> list[GridPoint]:
    if isinstance(item, GridPoint):
        return [item]
    if isinstance(item, str):
        return [GridPoint(*parse_method(item))]
    if isinstance(item, Mapping):
        given = dict(item)
        if "name" not in given:
            raise RequestError(f"{given} names no method; give it as {{'name': 'random-rounding', 'base': [3, 5]}}")
        name = str(given.pop("name"))
        choices = [value if isinstance(value, list) else [value] for value in given.values()]
        return [GridPoint(name, dict(zip(given, picked, strict=True))) for picked in product(*choices)]
    if isinstance(item, Method) and item.name == "suppress":
        raise RequestError(
            "a comparison takes its rules from the policy, not from a Suppression; name the method, as 'suppress' or "
            "{'name': 'suppress', 'method': 'optimal'}, and give the rules in a policy (policy=)"
        )
    if isinstance(item, Method) and not isinstance(item, type):
        return [GridPoint(item.name, dict(item.parameters))]
    raise RequestError(f"a {type(item).__name__} is no method; give names, as random-rounding:base=3")


def _from_file(path: Path) -> Sequence[Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(f"{path} does not exist; name a grid, a TOML file with [[methods]]") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequestError(f"{path} cannot be read as TOML ({error}); correct the file") from None
    strange = next((key for key in data if key != "methods"), None)
    if strange is not None or not isinstance(data.get("methods"), list):
        raise RequestError(f"{path}: a grid has [[methods]] and nothing else; found {strange or 'none'!r}")
    listed: list[Any] = data["methods"]
    return listed


USUAL_COUNTS: tuple[Mapping[str, Any], ...] = (
    {"name": "random-rounding", "base": [3, 5, 10]},
    {"name": "conventional-rounding", "base": [3, 5, 10]},
    {"name": "controlled-rounding", "base": [3, 5]},
    {"name": "suppress"},
    {"name": "small-count-rounding", "base": [3, 5]},
    {"name": "cell-key", "bound": [3], "variance": [1.5]},
    {"name": "cell-key", "bound": [5], "variance": [3]},
    {"name": "table-swapping", "rate": [0.05, 0.2]},
    {"name": "bernoulli-sample", "rate": [0.9, 0.5]},
    {"name": "simulation"},
)
"""What counts are usually protected with."""
USUAL_MAGNITUDES: tuple[Mapping[str, Any], ...] = (
    {"name": "suppress"},
    {"name": "tabular-adjustment", "time_limit": 10.0},
)
"""What magnitudes are usually protected with."""
