"""Sums of units that follow from several releases: all of them, only them, and with the arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.lengths import seeds

from discreet.core.clock import Clock
from discreet.core.errors import DataError
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.decide.ledger.sums import System, smallest_sums
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import EXACT, SUPPRESSED, Kind
from discreet.table.release import Release


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def zones(values: Sequence[int], groups: dict[str, list[str]]) -> Release:
    """Return a release of one figure for each zone, a zone being made of units."""
    tree = Hierarchy.from_parents([(unit, name) for name, units in groups.items() for unit in units])
    return Release.of(
        Figures.from_array(values, {"zone": list(groups)}, hierarchies={"zone": (tree,)}, absent="unpublished")
    )


def people(result: LedgerCheck, counts: dict[str, int]) -> int:
    units = {unit["zone"] for f in result.findings if f.sensitive for unit in (f.units or (f.cell,))}
    return sum(counts[unit] for unit in units)


STREETS = ["s1", "s2", "s3", "s4"]


def test_two_streets_together_hold_one_man_and_two_women(ledger: Ledger) -> None:
    north = Hierarchy.from_parents(dict.fromkeys(STREETS, "north"))
    coast = Hierarchy.from_parents([("s1", "coast"), ("s2", "coast"), ("s3", None), ("s4", None)])
    sexes = ["m", "f"]
    first = Figures.from_array(
        [[21, 30]], {"area": ["north"], "sex": sexes}, hierarchies={"area": (north,)}, absent="unpublished"
    )
    second = Figures.from_array(
        [[20, 28]], {"area": ["coast"], "sex": sexes}, hierarchies={"area": (coast,)}, absent="unpublished"
    )
    ledger.add(Release.of(first), title="Districts")
    # Taken for empty, the streets that are in neither contradict the others; the refusal says what to state.
    empty = Figures.from_array([[20, 28]], {"area": ["coast"], "sex": sexes}, hierarchies={"area": (coast,)})
    with pytest.raises(DataError, match=r"Nobody is in area=s3 by «Zones»; .*--absent unpublished"):
        ledger.check(Release.of(empty), title="Zones")
    result = ledger.check(Release.of(second), title="Zones")
    assert result.verdict == "unsafe"
    assert {(f.name, f.lower, f.cause) for f in result.new} == {
        ("area=s3 + s4, sex=m", 1, "together"),
        ("area=s3 + s4, sex=f", 2, "together"),
    }
    men = result.new[0]
    assert men.subtraction == (
        "area=s3 + s4, sex=m = [area=north, sex=m in «Districts»] − [area=coast, sex=m in «Zones»] = 21 − 20 = 1"
    )
    assert [unit["area"] for unit in men.units] == ["s3", "s4"]
    assert men.to_dict()["units"] == [{"area": "s3", "sex": "m"}, {"area": "s4", "sex": "m"}]
    assert sum(int(term.times) * int(term.value) for term in men.terms) == 1
    assert men.without == (0, 21)
    # The limit decides: sums of 1 and 2 are none below 1, and one of them is below 2.
    assert [f.lower for f in ledger.check(Release.of(second), threshold=2).new] == [1]
    assert ledger.check(Release.of(second), threshold=1).verdict == "safe"


def test_men_and_women_of_a_part_of_which_only_one_release_knows_the_sex(ledger: Ledger) -> None:
    """Without the sex in one of them, the difference is of men and women together."""
    north = Hierarchy.from_parents(dict.fromkeys(STREETS, "north"))
    coast = Hierarchy.from_parents([("s1", "coast"), ("s2", "coast"), ("s3", None), ("s4", None)])
    first = Figures.from_array(
        [[21, 30]], {"area": ["north"], "sex": ["m", "f"]}, hierarchies={"area": (north,)}, absent="unpublished"
    )
    second = Figures.from_array([48], {"area": ["coast"]}, hierarchies={"area": (coast,)}, absent="unpublished")
    ledger.add(Release.of(first), title="Districts")
    (finding,) = ledger.check(Release.of(second), title="Zones").new
    assert (finding.name, finding.lower) == ("area=s3 + s4", 3)
    assert finding.subtraction.endswith("21 + 30 − 48 = 3")


def test_sums_of_hidden_figures_count_only_across_releases(ledger: Ledger) -> None:
    """Suppression leaves the sum of what a line hides; another release that halves it does not have to."""
    listed = {"zone": [*"abcde", "Total"]}
    hidden = Release.of(Figures.from_array([None, None, None, None, 30, 41], listed))
    assert ledger.check(hidden, title="By itself").verdict == "safe"
    ledger.add(hidden, title="Old")
    tree = Hierarchy.from_parents([("a", None), ("b", None), *((unit, "cde") for unit in "cde")])
    part = Figures.from_array([38], {"zone": ["cde"]}, hierarchies={"zone": (tree,)}, absent="unpublished")
    result = ledger.check(Release.of(part), title="New")
    assert {(f.name, f.lower, f.cause) for f in result.new} == {
        ("zone=a + b", 3, "together"),
        ("zone=c + d", 8, "together"),
    }


# --- the kernel and its twin -----------------------------------------------------------------------------------


def _rank(rows: list[list[Fraction]]) -> int:
    left, rank = [list(row) for row in rows], 0
    for column in range(len(left[0])):
        pivot = next((r for r in range(rank, len(left)) if left[r][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for r in range(len(left)):
            if r != rank and left[r][column]:
                by = left[r][column] / left[rank][column]
                left[r] = [a - by * b for a, b in zip(left[r], left[rank], strict=True)]
        rank += 1
    return rank


def _slow(matrix: np.ndarray, units: Sequence[int]) -> set[tuple[int, ...]]:
    """Return the smallest sets of units whose indicator is a combination of the rows, by trying every set."""
    rows = [[Fraction(int(value)) for value in row] for row in matrix]
    rank = _rank(rows)
    found: set[tuple[int, ...]] = set()
    for size in range(1, len(units) + 1):
        for chosen in itertools.combinations(units, size):
            if any(set(other) < set(chosen) for other in found):
                continue
            line = [Fraction(int(c in chosen)) for c in range(matrix.shape[1])]
            if _rank([*rows, line]) == rank:
                found.add(chosen)
    return found


@seeds(45, 150)
def test_the_smallest_sums_are_those_that_trying_every_union_finds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    count, rows = int(draw.integers(3, 8)), int(draw.integers(2, 6))
    if seed % 3 == 0:
        # Divisions into zones, several on top of each other.
        division = draw.integers(0, 3, (rows, count))
        matrix = np.array([division[k] == z for k in range(rows) for z in range(3)]).astype(int)
        matrix = matrix[draw.random(len(matrix)) < 0.8]
    else:
        matrix = draw.choice([0, 0, 1, 1, -1] if seed % 3 == 1 else [0, 1], (rows, count))
    matrix = matrix[(matrix != 0).any(axis=1)]
    truth = draw.integers(1, 9, count)
    if not len(matrix):
        return
    row, column = np.nonzero(matrix)
    system = System(row, column, matrix[row, column], matrix @ truth, count)
    for part in (range(count), np.flatnonzero(draw.random(count) < 0.7).tolist()):
        units = np.zeros(count, bool)
        units[list(part)] = True
        result = smallest_sums(system, units, np.zeros(count, np.int64))
        assert result.complete
        assert {held for held, _ in result.found} == _slow(matrix, list(part))
        assert all(value == truth[list(held)].sum() for held, value in result.found)
        top = 8
        below = smallest_sums(system, units, np.zeros(count, np.int64), top).found
        assert set(below) == {(held, value) for held, value in result.found if value < top}


# --- the ledger and its twin -----------------------------------------------------------------------------------

UNITS = ["u1", "u2", "u3", "u4", "u5"]


def _division(draw: np.random.Generator, truth: np.ndarray) -> tuple[Release, list[tuple[frozenset[str], int | None]]]:
    of = draw.integers(0, 3, len(UNITS))
    groups: dict[str, Sequence[str]] = {}
    for zone in range(3):
        inside = [unit for unit, one in zip(UNITS, of, strict=True) if one == zone]
        if inside:
            groups[inside[0] if len(inside) == 1 else "+".join(inside)] = inside
    values = [
        None if draw.random() < 0.15 else int(sum(truth[UNITS.index(unit)] for unit in inside))
        for inside in groups.values()
    ]
    kept = [k for k in range(len(groups)) if draw.random() < 0.85] or [0]
    tree = Hierarchy.from_parents(
        [(unit, name) for name, inside in groups.items() for unit in inside if len(inside) > 1]
        + [(name, None) for name in groups]
    )
    names = list(groups)
    shown = Figures.from_array(
        [values[k] for k in kept],
        {"zone": [names[k] for k in kept]},
        mark=Kind("suppressed", least=0),
        hierarchies={"zone": (tree,)},
        absent="unpublished",
    )
    return Release.of(shown), [(frozenset(groups[names[k]]), values[k]) for k in kept]


@seeds(20, 60)
def test_unions_are_what_enumeration_finds(ledger: Ledger, seed: int) -> None:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 3, len(UNITS))
    top = 5
    pairs = [_division(draw, truth) for _ in range(int(draw.integers(2, 4)))]
    grid = np.stack([axis.ravel() for axis in np.indices((11,) * len(UNITS), np.int8)], axis=1)

    def fitting(stated: list[tuple[frozenset[str], int | None]]) -> np.ndarray:
        fits = np.ones(len(grid), bool)
        for units, value in stated:
            if value is not None:
                fits &= grid[:, [UNITS.index(unit) for unit in units]].sum(axis=1, dtype=int) == value
        return grid[fits]

    def determined(tables: np.ndarray) -> dict[frozenset[str], int]:
        """Return the smallest unions of units that are not empty whose sum is the same in all tables."""
        alive = [unit for k, unit in enumerate(UNITS) if tables[:, k].max() > 0]
        found: dict[frozenset[str], int] = {}
        for size in range(1, len(alive) + 1):
            for chosen in itertools.combinations(alive, size):
                sums = tables[:, [UNITS.index(unit) for unit in chosen]].sum(axis=1, dtype=int)
                if sums.min() == sums.max() and not any(other < frozenset(chosen) for other in found):
                    found[frozenset(chosen)] = int(sums[0])
        return found

    stated = [one for _, several in pairs for one in several]
    everything = determined(fitting(stated))
    apart = [determined(fitting(several)) for several in (stated[: -len(pairs[-1][1])], pairs[-1][1])]
    shown = {units for units, _ in stated}
    hidden = {next(iter(units)) for units, value in stated if value is None and len(units) == 1}
    expected = {
        units: value
        for units, value in everything.items()
        if len(units) > 1
        and 0 < value < top
        and units not in shown
        and not (units & hidden and any(units in one for one in apart))
    }
    for k, (release, _) in enumerate(pairs[:-1]):
        ledger.add(release, title=f"old {k}", population="p")
    result = ledger.check(pairs[-1][0], title="new", population="p", threshold=top)
    found = {frozenset(unit["zone"] for unit in f.units): f for f in result.findings if f.units}
    assert {units: f.lower for units, f in found.items()} == expected
    for units, f in found.items():
        assert (f.cause == "before") == (units in apart[0])
        assert sum(Fraction(term.times) * int(term.value) for term in f.terms) == f.lower
    # A 0 that follows is told, and makes nothing unsafe.
    assert all(f.lower == 0 for f in result.zeros)
    assert result.verdict != "safe" or not any(f.cause != "before" for f in found.values())


# --- at full size ----------------------------------------------------------------------------------------------


def _overlaid(
    seed: int, units: int, first: int, second: int
) -> tuple[dict[str, int], dict[str, list[str]], dict[str, list[str]]]:
    """Return two divisions of a territory: most zones of the second lie in one of the first, some across two."""
    draw = np.random.default_rng(seed)
    home = np.sort(draw.integers(0, first, second))
    counts: dict[str, int] = {}
    a: dict[str, list[str]] = {}
    b: dict[str, list[str]] = {}
    for zone in range(second):
        parts = {int(home[zone])}
        if draw.random() < units / second - 1:
            parts.add(int(min(first - 1, home[zone] + draw.integers(1, 3))))
        for part in parts:
            unit = f"{part}|{zone}"
            counts[unit] = (
                int(draw.integers(1, 9)) if len(parts) > 1 and draw.random() < 0.4 else int(draw.integers(20, 200))
            )
            a.setdefault(f"A{part}", []).append(unit)
            b.setdefault(f"B{zone}", []).append(unit)
    return counts, a, b


def _differences(counts: dict[str, int], a: dict[str, list[str]], b: dict[str, list[str]], top: int) -> set[str]:
    """Return the units in differences of unions of up to three zones that neighbour each other."""
    zone_of = {
        unit: (x, y) for x, us in a.items() for unit in us for y in [next(z for z, vs in b.items() if unit in vs)]
    }
    found: set[str] = set()
    for mine, theirs, side in ((a, b, 1), (b, a, 0)):
        beside = {
            x: {z for u in us for v in theirs[zone_of[u][side]] for z in [zone_of[v][1 - side]]}
            for x, us in mine.items()
        }
        unions = {frozenset([x]) for x in mine}
        for _ in range(2):
            unions |= {union | {z} for union in unions for x in union for z in beside[x]}
        for union in unions:
            inside = {u for x in union for u in mine[x]}
            rest = {u for u in inside if not set(theirs[zone_of[u][side]]) <= inside}
            if 0 < sum(counts[u] for u in rest) < top:
                found |= rest
    return found


def test_two_divisions_of_a_territory_at_full_size(ledger: Ledger) -> None:
    counts, a, b = _overlaid(5, 620, 200, 400)
    sums = [[sum(counts[u] for u in units) for units in zones_.values()] for zones_ in (a, b)]
    ledger.add(zones(sums[0], a), title="A")
    result = ledger.check(zones(sums[1], b), title="B", threshold=5)
    assert (result.verdict, result.unjudged) == ("unsafe", ())
    slow = _differences(counts, a, b, 5)
    units = {unit["zone"] for f in result.findings for unit in (f.units or (f.cell,))}
    # Zones that are published with as few people are none of the ledger's findings.
    small = {u for zones_ in (a, b) for us in zones_.values() if sum(counts[u] for u in us) < 5 for u in us}
    assert len(slow) > 20
    assert slow - small <= units
    assert any(f.units for f in result.new)
    for f in result.findings:
        held = [unit["zone"] for unit in (f.units or (f.cell,))]
        assert f.lower == sum(counts[u] for u in held)
    assert people(result, counts) >= sum(counts[u] for u in slow - small)


def test_a_search_that_runs_out_of_time_is_not_called_complete() -> None:
    draw = np.random.default_rng(0)
    matrix = draw.choice([0, 1], (18, 40))
    row, column = np.nonzero(matrix)
    system = System(row, column, matrix[row, column], matrix @ np.ones(40, int), 40)
    late = smallest_sums(system, np.ones(40, bool), np.zeros(40, np.int64), math.inf, clock=Clock.within(0))
    assert not late.complete


@seeds(15, 40)
def test_sums_of_hidden_figures_are_those_that_only_both_releases_determine(tmp_path: Path, seed: int) -> None:
    """The slow twin: every union of cells, held against the rank of what both, or either, of two releases print."""
    draw = np.random.default_rng(seed)
    labels = {"r": ("a", "b", "c", "Total"), "c": ("u", "v", "w", "Total")}
    table = draw.integers(1, 40, (3, 3))
    inside = {
        (i, j): np.array([(i in (r, 3)) and (j in (c, 3)) for r in range(3) for c in range(3)], int)
        for i in range(4)
        for j in range(4)
    }
    releases, systems = [], []
    for _ in range(2):
        shown = [at for at in inside if (draw.random() < 0.25 if max(at) < 3 else draw.random() < 0.6)]
        cells = [at for at in inside if max(at) < 3 or at in shown]
        values = np.array([inside[at] @ table.ravel() for at in cells])
        kind = np.array([int(at not in shown) for at in cells])
        figures = Figures(labels, np.array(cells), values, kind, (EXACT, SUPPRESSED), absent="unpublished")
        releases.append(Release.of(figures))
        systems.append(np.array([inside[at] for at in shown] or [np.zeros(9, int)]))

    def follows(rows: np.ndarray, units: Sequence[int]) -> bool:
        line = np.isin(np.arange(9), units).astype(int)
        return bool(np.linalg.matrix_rank(np.vstack([rows, line])) == np.linalg.matrix_rank(rows))

    both = np.vstack(systems)
    unknown = [i for i in range(9) if not follows(both, [i])]
    smallest: list[tuple[int, ...]] = []
    for size in range(1, len(unknown) + 1):
        for units in itertools.combinations(unknown, size):
            if not any(set(one) < set(units) for one in smallest) and follows(both, units):
                smallest.append(units)
    expected = {
        frozenset((labels["r"][i // 3], labels["c"][i % 3]) for i in units)
        for units in smallest
        if not any(follows(rows, units) for rows in systems)
    }
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add(releases[0], title="A")
    result = ledger.check(releases[1], title="B", threshold=None)
    assert {frozenset((u["r"], u["c"]) for u in f.units) for f in result.new if f.units} == expected
    # Of amounts the same sums are named, and not judged.
    ledger.retag("A", variable="turnover", reason="amounts")
    amounts = ledger.check(releases[1], title="B", variable="turnover")
    assert any(f"{len(expected)} sum" in text for text in amounts.unjudged) is bool(expected)
