"""Assessments and comparisons recommend the same for the same table under the same policy."""

from __future__ import annotations

from collections import Counter

import pytest

import discreet as dc
from discreet import datasets

POLICIES = ("default", "health", "business", "safe-output", "census")


def listed(policy: str) -> list[dict[str, object]]:
    """Return the protections of a policy as a grid."""
    return [{"name": one.name, **one.parameters} for one in dc.Policy.load(policy).protections]


def proposed(table: dc.Table, policy: str) -> str:
    """Return what an assessment takes: of a random method most draws decide."""
    taken: Counter[str] = Counter()
    for number in range(21 if table.total < 100 else 1):
        found = dc.assess(table, policy, seed=2**100 + number)
        passed = [one.title for one in found.candidates if one.meets]
        taken["none (as it is)" if found.verdict == "release" else (passed or ["nothing"])[0]] += 1
    return taken.most_common(1)[0][0]


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("religion", "default"),
        ("cholesterol", "health"),
        ("sex", "business"),
        *(
            pytest.param(name, policy, marks=pytest.mark.long)
            for name in ("country_of_birth", "mode_of_travel", "sex", "religion", "cholesterol")
            for policy in POLICIES
        ),
    ],
)
def test_the_same_is_recommended(name: str, policy: str) -> None:
    table = datasets.load(name)
    found = dc.compare(table, listed(policy), policy=policy, draws=20, audits=10, seed=1)
    best = "nothing" if found.recommended is None else found.points[found.recommended].point.title
    assert best == proposed(table, policy)


def test_draws_that_an_assessment_withholds_are_told() -> None:
    found = dc.compare(datasets.load("cholesterol"), listed("default"), draws=20, seed=4)
    assert found.recommended is not None
    assert found.points[found.recommended].point.title == "random-rounding, base 3, additive"
    assert "7 of 10 of its draws meet it once readers know why it was taken" in found.sentence


@pytest.mark.parametrize("seed", range(3))
def test_the_same_is_recommended_among_other_methods(seed: int) -> None:
    """Others may keep more of the table by chance; the policy's first protection that meets it is what is taken."""
    first, *_ = listed("default")
    others = [{"name": "cell-key", "bound": 5, "variance": 3}, {"name": "random-rounding", "base": 3}]
    found = dc.compare(datasets.load("religion"), [first, *others], draws=10, audits=1, seed=seed)
    assert found.recommended is not None
    assert found.points[found.recommended].point.title == "random-rounding, base 3, additive"
    assert "the first in the policy's order that does" in found.sentence


def test_what_may_not_be_the_first_is_not_called_so() -> None:
    *_, later, _ = listed("default")
    found = dc.compare(datasets.load("religion"), [later], draws=10, audits=1, seed=1)
    assert found.recommended is not None
    assert found.points[found.recommended].point.title == "random-rounding, base 5, additive"
    assert "of those that do, it keeps most of the table" in found.sentence
