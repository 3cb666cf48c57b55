"""Policies under attack: every profile that comes with discreet, and random ones of an office's own."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import discreet as dc

PROFILES = ("default", "census", "health", "safe-output", "business")
PROTECTIONS = (
    'name = "random-rounding"\nbase = 3\nadditive = true',
    'name = "random-rounding"\nbase = 5\nadditive = true',
    'name = "random-rounding"\nbase = 3\nmargins = true',
    'name = "cell-key"\nbound = 2\nvariance = 1\nadditive = true',
    'name = "conventional-rounding"\nbase = 3',
    'name = "hide-and-round"\nlimit = 3\nbase = 5',
    'name = "suppress"',
)
"""What an office of its own lists, as its file says it."""


def own(random: Random) -> str:
    """Return the text of a policy with random rules, limits and one or two protections."""
    rules = [f"threshold = {random.choice((2, 3, 3, 5))}"]
    rules += random.choice(
        ([], ["group_disclosure = 0"], ["group_disclosure = 1"], ["group_disclosure = 0", 'combine = "all"'])
    )
    limits = random.choice((["dr = 0.7"], ["dr = 0.7"], ["dr = 1.0"], ["width = 1"], ["width = 2"], []))
    limits += random.choice(([], [], ["r2 = 0.5"], ["r2 = 0.3"]))
    zeros, as_is = random.choice(("safe", "safe", "unsafe")), random.choice(("if safe", "never"))
    listed = random.sample(PROTECTIONS, random.choice((1, 1, 2)))
    insiders = random.choice(("respondents", "respondents", "none"))
    head = [f'zeros = "{zeros}"', f'as_is = "{as_is}"', f'insiders = "{insiders}"']
    parts = ["\n".join(head), "\n".join(["[rules]", *rules]), "\n".join(["[limits]", *limits])]
    return "\n".join([*parts, *(f"[[protections]]\n{one}" for one in listed)])


@cache
def policy_of(source: str) -> Any:
    """Return a profile by name, or the policy that a text states."""
    return dc.Policy.load(source) if source in PROFILES else dc.Policy.from_text(source)
