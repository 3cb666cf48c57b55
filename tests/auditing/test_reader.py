"""What a reader who knows the method learns from all figures together, against plain enumeration of originals."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.table.figures import Figures
from discreet.table.kinds import Kind

BASE = 3


def chance(y: int, x: int, base: int = BASE) -> Fraction:
    """Return the probability that x is rounded at random to y."""
    return max(Fraction(base - abs(x - y), base), Fraction(0)) if y % base == 0 else Fraction(0)


def tables(top: int, cells: int) -> Iterator[tuple[int, ...]]:
    yield from itertools.product(range(top + 1), repeat=cells)


def bits(weights: dict[int, Fraction]) -> float:
    whole = sum(weights.values())
    return -sum(float(w / whole) * math.log2(w / whole) for w in weights.values() if w)


def margins(x: tuple[int, ...]) -> list[int]:
    """Return a 2 × 2 table with its margins, row by row: a b a+b, c d c+d, a+c b+d all."""
    a, b, c, d = x
    return [a, b, a + b, c, d, c + d, a + c, b + d, a + b + c + d]


def twin(figures: list[int], law: Callable[[int, int], Fraction], top: int) -> list[float]:
    """Return the bits of all nine figures: every table weighted by the probability of what is published."""
    found: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in range(9)]
    weights = {(y, v): law(y, v) for y in set(figures) for v in range(4 * top + 1)}
    for x in tables(top, 4):
        every = margins(x)
        # Most tables are ruled out by one of their figures.
        if all(weights[pair] for pair in zip(figures, every, strict=True)):
            weight = math.prod((weights[pair] for pair in zip(figures, every, strict=True)), start=Fraction(1))
            for place, value in zip(found, every, strict=True):
                place[value] += weight
    return [bits(place) for place in found]


def published(figures: list[int], kind: Kind) -> Figures:
    both = {"r": ["1", "2", "Total"], "c": ["1", "2", "Total"]}
    return Figures.from_array(np.array(figures).reshape(3, 3).tolist(), both, kind=kind)


def claims(result: Any) -> list[float]:
    labels = [("1", "1"), ("1", "2"), ("1", ""), ("2", "1"), ("2", "2"), ("2", ""), ("", "1"), ("", "2"), ("", "")]
    found = []
    for r, c in labels:
        try:
            found.append(result.cell(**({"r": r} if r else {}), **({"c": c} if c else {})).bits)
        except KeyError:
            found.append(0.0)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_rounding_with_margins_is_weighed_jointly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = margins(tuple(rng.integers(0, 5, 4).tolist()))
    figures = [x - x % BASE + BASE * int(rng.random() < x % BASE / BASE) for x in true]
    found = dc.audit(published(figures, Kind("random", base=BASE)), law="method")
    assert claims(found) == pytest.approx(twin(figures, chance, 8), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_conventional_rounding_with_margins_is_weighed_jointly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = margins(tuple(rng.integers(0, 6, 4).tolist()))
    nearest = [(x + BASE // 2) // BASE * BASE for x in true]
    found = dc.audit(published(nearest, Kind("conventional", base=BASE)), law="method")
    law = lambda y, x: Fraction(int((x + BASE // 2) // BASE * BASE == y))  # noqa: E731
    assert claims(found) == pytest.approx(twin(nearest, law, 8), abs=1e-9)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_shown_figures_are_none_of_the_hidden_ones(limit: int) -> None:
    # Rounded to base 5 with 1 … limit hidden: a figure stands for the counts that lead to it and are not hidden.
    kind = Kind("conventional", base=5, hides=limit)
    for y in (0, 5, 10):
        behind = [x for x in range(20) if (x + 2) // 5 * 5 == y and not 1 <= x <= limit]
        found = dc.audit(Figures.from_array([y], {"x": ["a"]}, kind=kind), law="method")
        if len(behind) == 1:
            assert not found.cells or found.cells[0].values == 1
            continue
        (cell,) = found.cells
        assert (cell.lower, cell.upper) == (behind[0], behind[-1])
        assert cell.bits == pytest.approx(math.log2(len(behind)))


def test_figures_that_share_no_published_sum_are_weighed_one_by_one() -> None:
    table = dc.Table.from_array([[1, 5], [6, 2]], ["r", "c"])
    release = dc.protect.random_rounding(table, base=3, seed=1)
    for cell in dc.audit(release, law="method").cells:
        y = release.table.to_array()[int(cell.cell["r"]) - 1, int(cell.cell["c"]) - 1]
        alone = {x: chance(int(y), x) for x in range(int(y) + 3) if chance(int(y), x)}
        assert cell.bits == pytest.approx(bits(alone))
        assert cell.to_dict()["basis"] == "exact"


@pytest.mark.parametrize("seed", range(10))
def test_added_margins_tell_nothing_and_their_bits_are_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = dc.Table.from_array(rng.integers(0, 4, (2, 2)), {"r": ["1", "2"], "c": ["1", "2"]})
    release = dc.protect.random_rounding(dc.Tabulation.from_table(table), additive=True, seed=seed)
    (shown,) = release.figures
    # Every margin is the sum of the published cells.
    figures = {tuple(row): int(v) for row, v in zip(shown.codes.tolist(), shown.values.tolist(), strict=True)}
    assert figures[0, 0] == sum(v for (r, c), v in figures.items() if r and c)
    found = dc.audit(release, law="method", sums={"all": [{"r": r, "c": c} for r in "12" for c in "12"]})
    inner = [figures[r, c] for r in (1, 2) for c in (1, 2)]
    law: dict[int, Fraction] = defaultdict(Fraction)
    for x in itertools.product(*([v for v in range(y + 3) if chance(y, v)] for y in inner)):
        law[sum(x)] += math.prod((chance(y, v) for y, v in zip(inner, x, strict=True)), start=Fraction(1))
    (whole,) = (cell for cell in found.cells if cell.name == "all")
    assert whole.to_dict()["basis"] == "bound"
    assert 0 < whole.bits <= bits(law) + 1e-9


@pytest.mark.parametrize("protect", ["controlled_rounding", "small_count_rounding", "semi_controlled_rounding"])
def test_methods_that_look_at_all_cells_together_claim_nothing(protect: str) -> None:
    table = dc.Table.from_array([[1, 5, 2], [6, 2, 1]], ["r", "c"])
    found = dc.audit(getattr(dc.protect, protect)(table, base=3), law="method")
    assert found.cells
    assert {cell.to_dict()["basis"] for cell in found.cells if cell.values > 1} <= {"not shown", "exact"}
    assert any(math.isnan(cell.bits) for cell in found.cells)
    # A limit on what is not shown is not shown to hold.
    limited = dc.audit(getattr(dc.protect, protect)(table, base=3), law="method", limits=dc.Limits(dr=5.0))
    assert limited.verdict in ("incomplete", "unsafe")


def test_cell_keys_of_margins_are_not_taken_as_independent() -> None:
    table = dc.Table.from_array([[1, 5], [6, 2]], ["r", "c"])
    alone = dc.audit(dc.protect.cell_key(table, seed=1), law="method")
    assert all(cell.to_dict()["basis"] == "exact" for cell in alone.cells)
    tied = dc.audit(dc.protect.cell_key(table, margins=True, seed=1), law="method")
    assert all(math.isnan(cell.bits) for cell in tied.cells if cell.values > 1)


def test_intervals_in_place_of_suppressed_figures_claim_nothing() -> None:
    table = dc.Table.from_array([[1, 5, 9], [6, 2, 8]], ["r", "c"])
    release = dc.suppress(table, dc.rules.Threshold(3), form="intervals").release
    cells = dc.audit(release, law="method").cells
    assert cells
    assert all(math.isnan(cell.bits) for cell in cells)
    # Where every small count is hidden and no other, an interval says all there is to know.
    hidden = dc.audit(dc.protect.hide_and_round(table, limit=3, base=5), law="method").cells
    assert all(cell.bits >= 0 for cell in hidden)


@pytest.mark.parametrize("total", [True, False])
def test_tables_of_the_same_people_tie_each_other_by_their_total(total: bool) -> None:
    """Two tables without a common dimension count the same people; their totals, if published, are two draws of one."""
    shown = {"sex": [6, 9], "age": [12, 3]}
    found: list[dict[int, Fraction]] = [defaultdict(Fraction) for _ in range(4)]
    for x in tables(15, 3):
        every = (*x, x[0] + x[1] - x[2])
        weight = math.prod((chance(y, v) for y, v in zip([6, 9, 12, 3], every, strict=True)), start=Fraction(1))
        for place, value in zip(found, every, strict=True):
            place[value] += weight * (chance(15, x[0] + x[1]) ** 2 if total else 1) if every[3] >= 0 else 0
    kind = Kind("random", base=BASE)
    parts = [
        Figures.from_array([*y, 15] if total else y, {name: ["1", "2", "Total"][: 2 + total]}, kind=kind, name=name)
        for name, y in shown.items()
    ]
    audited = dc.audit(parts, law="method")
    left = [audited.cell(**{name: label}).bits for name in shown for label in "12"]
    assert left == pytest.approx([bits(place) for place in found])


@pytest.mark.parametrize(("last", "said"), [("England", True), ("Total", False)])
def test_a_table_without_a_total_says_what_bounds_nothing(last: str, said: bool) -> None:
    shown = Figures.from_array([None, None, 4, 12], {"area": ["A", "B", "C", last]})
    assert ("no total of 'area' is published" in dc.audit(shown).note) == said
