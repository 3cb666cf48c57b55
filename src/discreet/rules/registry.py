"""The rules by name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from discreet.core.errors import RequestError, nearest
from discreet.rules.dominance import Dominance
from discreet.rules.p_percent import PPercent
from discreet.rules.pq import PQ
from discreet.rules.rule import Rule
from discreet.rules.threshold import Threshold

RULES: dict[str, type[Any]] = {rule.name: rule for rule in (Threshold, Dominance, PPercent, PQ)}
"""The rules that come with discreet."""


def get_rule(name: str, *parameters: Any, **named: Any) -> Rule:
    """Make a rule by its name; those of other packages are found by their entry point.

    >>> get_rule("dominance", 2, 85)
    Dominance(n=2, k=85, level='contributor', weighted=False)
    """
    if name in RULES:
        rule: Rule = RULES[name](*parameters, **named)
        return rule
    added = {point.name: point for point in entry_points(group="discreet.rules")}
    if name in added:
        loaded: Rule = added[name].load()(*parameters, **named)
        return loaded
    raise RequestError(f"there is no rule {name!r}; {nearest(name, [*RULES, *added])}")
