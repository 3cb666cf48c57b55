"""Policies that the page offers: the bundled and the opened ones, with the limits that they state or inherit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from discreet.core.errors import DiscreetError, RequestError
from discreet.core.json_types import Json


def listed_policies(texts: Mapping[str, bytes]) -> list[dict[str, Json]]:
    r"""Return title and limits of each policy, without files that are not policies or extend a missing one.

    >>> listed_policies({"office.toml": b'title = "ours"\n[limits]\ndr = 0.4', "bad.toml": b"limits = 5"})
    [{'name': 'office.toml', 'title': 'ours', 'limits': {'dr': 0.4}}]
    """
    found: list[dict[str, Json]] = []
    for name in sorted(texts, key=lambda name: (name != "default", name)):
        try:
            title, limits = _stated(name, texts, ())
        except (ValueError, DiscreetError):
            continue
        found.append({"name": name, "title": title, "limits": limits})
    return found


def _stated(name: str, texts: Mapping[str, bytes], trail: tuple[str, ...]) -> tuple[str, dict[str, float]]:
    """Return the title of a policy, and its limits laid over those of the policy that it extends."""
    if name not in texts or name in trail:
        raise RequestError(f"{name} is not open, or extends itself")
    told = tomllib.loads(texts[name].decode("utf-8"))
    above, own = told.get("extends"), told.get("limits", {})
    if not isinstance(own, dict) or {"methods", "tables"} & told.keys():
        raise RequestError(f"{name} is not a policy")
    limits = {} if above is None else _stated(str(above), texts, (*trail, name))[1]
    limits |= {key: value for key, value in own.items() if isinstance(value, int | float)}
    return str(told.get("title", "")), {key: value for key, value in limits.items() if own.get(key) != "none"}
