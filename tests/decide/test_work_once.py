"""What is the same for all releases of a table is worked out once, and what is about one release once for each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import pytest

import discreet as dc
from discreet.auditing.laws.method import Shape
from discreet.decide.choice import Outsider
from discreet.decide.known_cells import Listed
from discreet.decide.passing_r2 import Ranges
from discreet.decide.policy import Policy
from discreet.table.figures import Figures

STRICT = """
allow = "any"
[rules]
threshold = 3
group_disclosure = 0
[limits]
r2 = 0.0001
dr = 0.7
"""
PROTECTIONS = [
    {"name": "random-rounding", "base": 3, "additive": True},
    {"name": "random-rounding", "base": 5},
    {"name": "conventional-rounding", "base": 3},
    {"name": "conventional-rounding", "base": 5},
    {"name": "simulation"},
]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the calls of what is expensive, wherever it was imported."""
    made: Counter[str] = Counter()
    for module in ("discreet.decide.assess", "discreet.decide.compare", "discreet.protect"):
        import_module(module)

    def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            made[name] += 1
            return work(*given, **named)

        return call

    for module, name in (
        ("discreet.rules.group_disclosure", "group_disclosure"),
        ("discreet.measures.risk", "_before"),
        ("discreet.measures.risk", "risk_after"),
        ("discreet.rules.sensitivity", "sensitivity"),
        ("discreet.auditing.audit", "audit"),
    ):
        work = getattr(import_module(module), name)
        for other in [found for key, found in sys.modules.items() if key.startswith("discreet.")]:
            for alias in [key for key, value in vars(other).items() if value is work]:
                monkeypatch.setattr(other, alias, counted(name, work))
    for owner in (Listed, Outsider, Ranges, Shape):
        whole = owner.__dict__["of"].__func__
        monkeypatch.setattr(owner, "of", classmethod(counted(owner.__name__, whole)))
    ranges: Any = cached_property(counted("ranges", Figures.__dict__["_ranges"].func))
    ranges.__set_name__(Figures, "_ranges")
    monkeypatch.setattr(Figures, "_ranges", ranges)
    return made


def test_an_assessment_of_six_releases_measures_the_table_once(calls: Counter[str]) -> None:
    policy = Policy.model_validate({**Policy.from_text(STRICT).to_dict(), "protections": PROTECTIONS})
    found = dc.assess(dc.datasets.religion(), policy, seed=1, trial=True)
    releases = 6
    assert found.verdict == "withhold"
    assert len(found.candidates) == releases - 1
    assert all(one.r2 is not None for one in found.candidates)
    assert calls["sensitivity"] == calls["group_disclosure"] == 1
    # R1 of the table: the releases are measured against it.
    assert calls["_before"] == 1
    assert calls["risk_after"] == calls["Listed"] == calls["Outsider"] == calls["Ranges"] == releases
    # Simulation keeps margins, which tie counts together: people counted are tried there, together and one by one.
    assert calls["audit"] == releases + 2
    assert calls["ranges"] == releases
    # In the audit and for the reader who knows the policy; once more for sums that the first protection leaves open.
    assert calls["Shape"] == 2 * releases + 1


def test_a_comparison_measures_the_table_once(calls: Counter[str]) -> None:
    draws = ["random-rounding:base=3", "random-rounding:base=5", "conventional-rounding:base=3"]
    dc.compare(dc.datasets.religion(), draws, draws=10, audits=2, seed=1, workers=1)
    # The table as it is, two audited draws of each random method, one of the other.
    releases = 6
    assert calls["sensitivity"] == calls["group_disclosure"] == 1
    # R1 for all of them, and again for the expected risk of each random method.
    assert calls["_before"] == 3
    assert calls["audit"] == calls["risk_after"] == calls["ranges"] == releases
