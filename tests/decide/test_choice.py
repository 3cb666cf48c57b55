"""What the choice to protect a table tells, against enumeration of all tables that a reader cannot rule out."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from tests.lengths import seeds

import discreet as dc
from discreet.auditing.audit_result import Audit
from discreet.auditing.laws.method import Shape
from discreet.decide.choice import Choice, Outsider, Reasons
from discreet.decide.passing_r2 import Ranges, chance_of_failing
from discreet.decide.policy import Policy

RULES = """
as_is = "{as_is}"
[rules]
threshold = 3
[limits]
dr = 0.7
[[protections]]
name = "random-rounding"
base = 3
additive = true
"""


def policy(as_is: str = "if safe") -> Policy:
    return Policy.from_text(RULES.format(as_is=as_is))


def ranges_of(audited: Audit, cells: int) -> Ranges | None:
    return Ranges.of(audited, cells, Shape.of(audited.findings.equations))


def chance(y: int, x: int) -> Fraction:
    return max(Fraction(3 - abs(x - y), 3), Fraction(0))


def bits_of_reader(figures: list[int], protected: bool) -> list[float]:
    """Weigh every table by how likely it is published so; only tables with a small count are protected at all."""
    laws: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in figures]
    for x in itertools.product(*([v for v in range(y + 3) if chance(y, v)] for y in figures)):
        if protected and not any(0 < v < 3 for v in x):
            continue
        weight = math.prod((chance(y, v) for y, v in zip(figures, x, strict=True)), start=Fraction(1))
        for law, value in zip(laws, x, strict=True):
            law[value] += weight
    found = []
    for law in laws:
        whole = sum(law.values())
        found.append(-sum(float(w / whole) * math.log2(w / whole) for w in law.values() if w))
    return found


@seeds(15, 60)
def test_the_risk_allows_for_why_the_table_was_protected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 1, 2, 3, 4, 9, 12], rng.integers(2, 6)).tolist()
    if not any(0 < x < 3 for x in counts):
        counts[0] = 1
    found = dc.assess(dc.Table.from_array(counts, ["x"]), policy(), seed=seed, trial=True)
    assert found.evidence is not None
    figures = [int(found.evidence.release.table.to_array()[i]) for i in range(len(counts))]
    true = bits_of_reader(figures, protected=True)
    known = found.evidence.known
    assert found.sensitivity is not None
    for k, cell in enumerate(known.cell.tolist()):
        label = found.sensitivity.tabulation.label(cell)["x"]
        if label.isdigit():
            # What is claimed is never more than what is left; equal where only small counts can be the reason.
            assert known.bits[k] <= true[int(label) - 1] + 1e-9
    worst = max(1 / b if b else math.inf for x, b in zip(counts, true, strict=True) if 0 < x < 3)
    if found.verdict == "protect":
        assert worst <= 0.7


def test_one_cell_that_can_be_small_is_not_safe_unless_all_tables_are_protected() -> None:
    # Of 1, 9, 12 only the first figure can stand for a small count: 1 or 2, once it is known that there is one.
    for seed in range(8):
        table = dc.Table.from_array([1, 9, 12], ["x"])
        found = dc.assess(table, policy(), seed=seed, trial=True)
        assert found.verdict == "withhold"
        (risk,) = (one for one in found.checks if one.name == "dr")
        assert not risk.passed
        always = dc.assess(table, policy("never"), seed=seed, trial=True)
        assert always.verdict == "protect"
    safe = dc.assess(dc.Table.from_array([8, 9, 12], ["x"]), policy("never"), seed=1, trial=True)
    assert safe.verdict == "protect"


def test_neither_the_draw_nor_its_utility_decides_which_protection_is_taken() -> None:
    text = RULES.format(as_is="never") + '[[protections]]\nname = "random-rounding"\nbase = 5\nadditive = true\n'
    rng = np.random.default_rng(1)
    for seed in range(10):
        table = dc.Table.from_array(rng.integers(0, 9, 8), ["x"])
        found = dc.assess(table, Policy.from_text(text), seed=seed, trial=True)
        assert found.release is not None
        assert found.release.parameters["base"] == 3
        assert "not tried" in found.candidates[1].text


@seeds(8, 20)
def test_no_original_within_its_ranges_has_a_higher_r2_than_the_ceiling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 0, 1, 2, 5, 9, 14], rng.integers(2, 5))
    counts[0] += 1
    release = dc.protect.random_rounding(dc.Table.from_array(counts, ["x"]), base=3, seed=2**100 + seed)
    weights = ((0.1, 0.8, 0.1), (0.6, 0.2, 0.2))[seed % 2]
    ranges = ranges_of(dc.audit(release), counts.size)
    assert ranges is not None
    ceiling = ranges.ceiling(weights)
    worst = 0.0
    for x in itertools.product(*(range(max(y - 2, 0), y + 3) for y in release.table.to_array().tolist())):
        if sum(x):
            worst = max(worst, dc.risk(dc.Table.from_array(x, ["x"]), release, weights=weights, slices=()).value)
    assert worst <= ceiling + 1e-9
    assert ceiling <= 1 + 1e-9


LIMITED = """
as_is = "never"
[rules]
threshold = 3
[limits]
dr = 0.7
r2 = 0.5
[[protections]]
name = "random-rounding"
base = 3
additive = true
"""


def test_a_limit_on_r2_that_rules_originals_out_is_knowledge_of_the_reader() -> None:
    """R2 of 2 and 0 is above 0.5, so that a published 3 and 0 that passed stands for no 0."""
    table = dc.Table.from_array([2, 2], ["x"])
    verdicts = set()
    for seed in range(12):
        found = dc.assess(table, Policy.from_text(LIMITED), seed=seed, trial=True)
        assert found.evidence is not None
        zero = 0 in found.evidence.release.table.to_array()
        verdicts.add(found.verdict)
        assert found.verdict == ("withhold" if zero else "protect")
        (risk,) = (one for one in found.checks if one.name == "dr")
        assert ("true counts" in risk.text) == zero
        assert {one.reader for one in found.checks if one.name == "determined"} == {"figures" if zero else "method"}
    assert verdicts == {"withhold", "protect"}
    even = dc.Table.from_array([2, 5, 6, 7, 8, 2], ["x"])
    assert dc.assess(even, Policy.from_text(LIMITED), seed=1, trial=True).verdict == "protect"


def test_a_protection_that_is_taken_after_another_failed_claims_nothing_of_the_method() -> None:
    """That rounding to base 5 left intervals that were too narrow depends on the true counts."""
    text = """
    as_is = "never"
    [rules]
    threshold = 3
    [limits]
    width = 6
    [[protections]]
    name = "random-rounding"
    base = 3
    additive = true
    [[protections]]
    name = "random-rounding"
    base = 10
    additive = true
    """
    table = dc.Table.from_array([1, 2, 30, 40], ["x"])
    found = dc.assess(table, Policy.from_text(text), seed=1, trial=True)
    assert found.verdict == "protect"
    assert found.release is not None
    assert found.release.parameters["base"] == 10
    assert {one.reader for one in found.checks if one.name in ("determined", "width")} == {"figures"}
    risky = dc.assess(table, Policy.from_text(text.replace("[limits]", "[limits]\n    dr = 0.7")), seed=1, trial=True)
    assert risky.verdict == "withhold"


def test_a_verdict_depends_on_the_published_figures_alone() -> None:
    """Rows of 1 and 0, which are sensitive, and of 2 and 2, which are not, pass alike where they look alike."""
    verdicts: dict[tuple[int, ...], set[str]] = defaultdict(set)
    for small in ([1, 0], [2, 0], [1, 1], [2, 1], [2, 2], [4, 1], [5, 2]):
        for seed in range(8):
            table = dc.Table.from_array([small, [30, 40]], ["x", "y"])
            found = dc.assess(table, policy(), seed=seed, trial=True)
            assert found.evidence is not None
            verdicts[tuple(found.evidence.release.table.to_array().ravel().tolist())].add(found.verdict)
    assert all(len(some) == 1 for some in verdicts.values()), verdicts
    assert set.union(*verdicts.values()) == {"protect", "withhold"}


@pytest.mark.parametrize("figures", [(0, 0), (0, 3), (3, 0, 0), (3, 3), (0, 0, 0)])
def test_the_bits_of_a_sum_are_at_most_those_of_all_tables_that_are_protected(figures: tuple[int, ...]) -> None:
    table = dc.Table.from_array([list(figures), [30] * len(figures)], ["x", "y"])
    release = dc.Release.of(dc.protect.random_rounding(table, 3, additive=True, seed=2**100).parts()[0])
    reasons = Reasons.of(
        Outsider.of(dc.audit(release, law="method"), policy(), Choice(protected=True), 2 * len(figures))
    )
    sums: dict[int, Fraction] = defaultdict(Fraction)
    for x in itertools.product(*(range(y + 3) for y in figures)):
        if any(0 < v < 3 for v in x):
            sums[sum(x)] += math.prod((chance(y, v) for y, v in zip(figures, x, strict=True)), start=Fraction(1))
    whole = sum(sums.values())
    true = -sum(float(w / whole) * math.log2(w / whole) for w in sums.values() if w)
    found = reasons.bits_of_sums(release)
    assert 0 < found.min() <= true + 1e-9


def test_rules_that_must_all_hold_leave_open_why_a_table_was_protected() -> None:
    text = RULES.format(as_is="if safe").replace(
        "threshold = 3", 'threshold = 3\ngroup_disclosure = 0\ncombine = "all"'
    )
    table = dc.Table.from_array([[2, 0], [1, 5], [2, 9]], ["x", "y"])
    found = dc.assess(table, Policy.from_text(text), seed=1, trial=True)
    assert found.verdict == "withhold"


@seeds(2, 6)
def test_the_chance_of_an_original_above_the_limit_is_at_most_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 1, 2, 4, 9], 5)
    counts[0] += 1
    release = dc.protect.random_rounding(dc.Table.from_array(counts, ["x"]), base=3, seed=2**100 + seed)
    ranges = ranges_of(dc.audit(release), 5)
    assert ranges is not None
    figures = release.table.to_array().tolist()
    laws = [(np.arange(y + 3), np.array([float(chance(y, v)) for v in range(y + 3)])) for y in figures]
    given = [(values, p / p.sum(), 1) for values, p in laws]
    weights = (0.1, 0.8, 0.1)
    above: dict[float, float] = dict.fromkeys((0.3, 0.45, 0.6, 0.75), 0.0)
    for x in itertools.product(*(values[p > 0].tolist() for values, p, _ in given)):
        if sum(x):
            r2 = dc.risk(dc.Table.from_array(x, ["x"]), release, weights=weights, slices=()).value
            share = math.prod(float(p[v]) for (_, p, _), v in zip(given, x, strict=True))
            for limit in above:
                above[limit] += share * (r2 > limit)
    bounds = [chance_of_failing(ranges, weights, limit, given, np.zeros(0)) for limit in above]
    assert all(true <= bound + 1e-12 for true, bound in zip(above.values(), bounds, strict=True))
    assert bounds == sorted(bounds, reverse=True)


def test_that_somebody_is_in_the_table_is_knowledge_of_the_reader() -> None:
    """Figures of 0 leave a total of 0 to 2, but a table with nobody in it is not published."""
    table = dc.Table.from_array([[1, 0], [0, 0]], ["a", "b"])
    told = Policy.from_text(
        'zeros = "unsafe"\n[rules]\nthreshold = 3\n[limits]\nwidth = 1\n'
        '[[protections]]\nname = "random-rounding"\nbase = 3\nmargins = true\n'
    )
    readers: dict[bool, set[str]] = defaultdict(set)
    for seed in range(16):
        found = dc.assess(table, told, seed=seed, trial=True)
        if found.release is not None:
            empty = {cell["published"] for cell in found.cells(None)} == {"0"}
            readers[empty] |= {check.reader for check in found.checks if check.name == "width"}
    assert readers == {False: {"method"}, True: {"figures"}}
