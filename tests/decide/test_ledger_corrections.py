"""Two versions of the same figures: judged together by what the true tables of both say was corrected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.auditing.limits import Level
from discreet.core.clock import Clock
from discreet.core.errors import DataError, RequestError
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.check_result import LedgerCheck
from discreet.decide.ledger.corrections import OtherVersion, TruePair, taken
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.joined_tables import JoinedTables, lay
from discreet.decide.ledger.joint import findings_of
from discreet.decide.ledger.settings import Settings
from discreet.decide.ledger.version_levels import levels_missed
from discreet.protect import conventional_rounding
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation
from discreet.tabulation import tabulate

# --- enumeration -------------------------------------------------------------------------------------------------

Shape = Mapping[str, int]
TOPS = {4: 9, 6: 6, 8: 4}
"""Up to which count tables with so many cells are enumerated."""


def selected(dims: Shape, cell: Mapping[str, str]) -> tuple[int | slice, ...]:
    """Return the part of an array that a cell or a total is."""
    return tuple(int(cell[name][1:]) if cell.get(name, "Total") != "Total" else slice(None) for name in dims)


@cache
def every_table(cells: int) -> np.ndarray:
    """Return all tables of so many cells."""
    counts = np.arange(TOPS[cells] + 1, dtype=np.int8)
    return np.stack(np.meshgrid(*[counts] * cells, indexing="ij"), -1).reshape(-1, cells)


def fitting(dims: Shape, figures: Sequence[Figures]) -> list[np.ndarray]:
    """Return every table that some releases leave."""
    shape = tuple(dims.values())
    at = np.arange(int(np.prod(shape))).reshape(shape)
    left = every_table(at.size)
    for part in figures:
        lower, upper = part.ranges()
        for row in np.argsort(upper - lower).tolist():
            cell = {name: part.labels[name][code] for name, code in zip(part.names, part.codes[row], strict=True)}
            value = left[:, np.ravel(at[selected(dims, cell)])].sum(axis=1)
            left = left[(value >= lower[row]) & (value <= upper[row])]
    return [one.astype(int).reshape(shape) for one in left]


def published(random: Random, title: str, dims: Shape, table: np.ndarray, names: Sequence[str]) -> PublishedTable:
    """Publish a crossing, with or without its margins; some figures are hidden."""
    axes = tuple(i for i, name in enumerate(dims) if name not in names)
    inner = table.sum(axis=axes) if axes else table
    share, margins_too, margins = random.choice((0.3, 0.5, 0.7)), random.random() < 0.3, random.random() < 0.8
    full = np.zeros([size + 1 for size in inner.shape], object)
    for at in np.ndindex(full.shape):
        is_inner = all(i < size for i, size in zip(at, inner.shape, strict=True))
        part = tuple(i if i < size else slice(None) for i, size in zip(at, inner.shape, strict=True))
        hides = random.random() < (share if is_inner else 0.4 * margins_too)
        full[at] = None if hides else int(inner[part].sum())
    labels = {name: [*(f"{name}{i}" for i in range(dims[name])), "Total"] for name in names}
    if not margins:
        full = full[tuple(slice(0, -1) for _ in full.shape)]
        labels = {name: found[:-1] for name, found in labels.items()}
    mark = Kind("suppressed", least=0)
    figures = Figures.from_array(full, labels, mark=mark, absent="unpublished")
    return PublishedTable(figures, Entry(title, title, "2024-01-01", "", tuple(names), 1, 0))


@dataclass(frozen=True)
class Versions:
    """A table and its correction, each published; ``must`` says that corrected cells moved by 1 or more."""

    dims: Shape
    before: np.ndarray
    now: np.ndarray
    first: Sequence[PublishedTable]
    final: Sequence[PublishedTable]
    must: bool

    @classmethod
    def drawn(cls, seed: int) -> Versions:
        random = Random(seed)
        dims = random.choice(({"g": 2, "a": 2}, {"g": 2, "a": 3}, {"g": 2, "a": 2, "s": 2}))
        most, size = (2 if len(dims) == 3 else 3), int(np.prod(list(dims.values())))
        before = np.array([random.randrange(most + 1) for _ in range(size)]).reshape(tuple(dims.values()))
        now = before.copy()
        for i in random.sample(range(size), random.choice((1, 1, 2, 3))):
            now.flat[i] = random.randrange(most + 1)
        crossings = [("g", "a"), ("g", "s")] if len(dims) == 3 else [("g", "a")]
        sides = [
            [published(random, title, dims, table, names) for names in crossings]
            for title, table in (("First", before), ("Final", now))
        ]
        laid = lay([*sides[0], *sides[1]])
        first, final = laid[: len(crossings)], laid[len(crossings) :]
        return cls(dims, before, now, first, final, random.random() < 0.5)

    def original(self, table: np.ndarray) -> list[Table]:
        return [Table.from_array(table, {name: [f"{name}{i}" for i in range(n)] for name, n in self.dims.items()})]

    def crossed(self, table: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Return the sums of a crossing."""
        axes = tuple(i for i, name in enumerate(self.dims) if name not in names)
        return table.sum(axis=axes) if axes else table

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return all pairs of tables that the releases leave to somebody who knows which cells went up or down."""
        crossings = [sheet.figures.names for sheet in self.first]
        crossed = self.crossed
        way = [np.sign(crossed(self.now, names) - crossed(self.before, names)) for names in crossings]
        moved = [one != 0 for one in way]
        same = defaultdict(list)
        for table in fitting(self.dims, [sheet.figures for sheet in self.final]):
            fixed = (crossed(table, c)[~m] for c, m in zip(crossings, moved, strict=True))
            same[tuple(tuple(one.tolist()) for one in fixed)].append(table)
        found = []
        for old in fitting(self.dims, [sheet.figures for sheet in self.first]):
            fixed = (crossed(old, c)[~m] for c, m in zip(crossings, moved, strict=True))
            for new in same[tuple(tuple(one.tolist()) for one in fixed)]:
                by = (crossed(new, c) - crossed(old, c) for c in crossings)
                if all((one * w)[m].min(initial=1) >= self.must for one, w, m in zip(by, way, moved, strict=True)):
                    found.append((old, new))
        return found

    def sides(self) -> Iterator[tuple[int, JoinedTables]]:
        """Yield what is worked out of the first version, and of the second."""
        truth = self.original(self.before), self.original(self.now)
        for side, (main, theirs) in enumerate(((self.first, self.final), (self.final, self.first))):
            other = OtherVersion.of(main, theirs, TruePair(*truth[:: 1 if side else -1]))
            other = replace(other, least=other.least * self.must)
            yield side, JoinedTables([*main, *other.unchanged], Settings(), 0, None, [other])


def agree(seeds: range) -> int:
    """Compare every protected figure of both versions with enumeration; return how many were compared."""
    count = 0
    for seed in seeds:
        drawn = Versions.drawn(seed)
        top = TOPS[drawn.before.size]
        pairs = drawn.pairs()
        assert pairs
        if max(int(table.max()) for pair in pairs for table in pair) >= top:
            # Nothing bounds some cell.
            continue
        for side, tables in drawn.sides():
            for i in np.flatnonzero(tables.protected).tolist():
                at = selected(drawn.dims, tables.equations.cell(i))
                values = {int(pair[side][at].sum()) for pair in pairs}
                assert tables.ends(i) == (min(values), max(values)), (seed, side, tables.equations.describe(i))
                count += 1
    return count


def test_what_both_versions_leave_is_what_enumeration_leaves() -> None:
    assert agree(range(30)) > 150


@pytest.mark.long
def test_what_many_versions_leave_is_what_enumeration_leaves() -> None:
    assert agree(range(30, 330)) > 2000


def test_no_sum_is_left_out_but_those_of_what_is_as_it_was_which_one_version_tells() -> None:
    left_out = 0
    for seed in (*range(10), 75, 553):
        drawn = Versions.drawn(seed)
        truth = TruePair(drawn.original(drawn.before), drawn.original(drawn.now))
        for main, theirs, pair in ((drawn.final, drawn.first, truth), (drawn.first, drawn.final, truth.swapped)):
            other = OtherVersion.of(main, theirs, pair)
            every, fewer = (
                findings_of(main, other.unchanged, Settings(), others=[other], whole=whole).findings
                for whole in ((), theirs)
            )
            assert {one.name for one in fewer} <= {one.name for one in every}
            gone = [one for one in every if one.name not in {other.name for other in fewer}]
            left = fitting(drawn.dims, [sheet.figures for sheet in theirs]) if gone else []
            for one in gone:
                at = [selected(drawn.dims, unit) for unit in one.units]
                assert {sum(int(table[cell].sum()) for cell in at) for table in left} == {one.lower}
                assert all(drawn.before[cell].sum() == drawn.now[cell].sum() for cell in at)
                left_out += 1
    assert left_out == 2


def levels_agree(seeds: range) -> tuple[int, int, int]:
    """Compare which hidden cells of the new version miss their levels with enumeration, and whether hiding more helps.

    Return how many keep theirs, how many hiding more can mend, and how many miss theirs whatever is hidden.
    """
    kept = mended = whatever = 0
    for seed in seeds:
        drawn = replace(Versions.drawn(seed), must=True)
        if drawn.before.size != 4:
            continue
        silent = [replace(one, figures=taken(one.figures, np.zeros(len(one.figures), bool))) for one in drawn.final]
        pairs, alone, top = drawn.pairs(), replace(drawn, final=silent).pairs(), TOPS[4]
        if max(int(new.max()) for _, new in pairs) >= top:
            # Nothing bounds some cell.
            continue
        random, levels, can, cannot = Random(seed), dict[tuple[tuple[str, str], ...], Level](), set(), 0
        part = drawn.final[0].figures
        for codes in part.codes[part.hidden].tolist():
            cell = {name: part.labels[name][code] for name, code in zip(part.names, codes, strict=True)}
            at = selected(drawn.dims, cell)
            value = int(drawn.now[at].sum())
            low, high = max(value - random.choice((0, 0, 1)), 0), value + random.choice((0, 0, 1, 2))
            levels[tuple(sorted(cell.items()))] = (float(low), float(high))
            values, before = ({int(new[at].sum()) for _, new in some} for some in (pairs, alone))
            short = min(values) > low or len(values) == 1, max(values) < high or len(values) == 1
            same = (not short[0] or min(values) == min(before)) and (not short[1] or max(values) == max(before))
            kept += not any(short)
            if any(short) and same:
                cannot += 1
            elif any(short):
                can.add(", ".join(f"{name}={code}" for name, code in cell.items() if code != "Total") or "total")
        truth = TruePair(drawn.original(drawn.before), drawn.original(drawn.now))
        found = levels_missed(drawn.final, [drawn.first], [truth], levels, Settings(amounts=True))
        assert not found.joint.unfinished
        assert not found.joint.unjudged
        assert {one.name for one in found.joint.findings} == can, seed
        told = [f"({cannot} sensitive cell{'s' * (cannot > 1)})"] * bool(cannot)
        assert [one in text for one, text in zip(told, found.closer, strict=True)] == [True] * len(told), seed
        mended, whatever = mended + len(can), whatever + cannot
        late = Settings(amounts=True, clock=Clock.within(0.0))
        found = levels_missed(drawn.final, [drawn.first], [truth], levels, late)
        assert found.joint.unfinished + len(found.joint.findings) + bool(found.closer) * cannot >= len(can) + cannot
    return kept, mended, whatever


def test_cells_miss_their_levels_beside_an_older_version_where_enumeration_says_so() -> None:
    assert min(levels_agree(range(50))) > 0


@pytest.mark.long
def test_many_cells_miss_their_levels_beside_an_older_version_where_enumeration_says_so() -> None:
    assert min(levels_agree(range(50, 500))) > 5


# --- the ledger --------------------------------------------------------------------------------------------------

AREAS, SIZES = "abcdef", "vwxyz"
HIDDEN = [(0, 0), (0, 1), (2, 0), (2, 1), (4, 1), (4, 3), (2, 3)]


def counts() -> np.ndarray:
    table = np.random.default_rng(3).integers(12, 60, (6, 5))
    table[0, 0], table[2, 3], table[4, 1] = 1, 2, 1
    return table


def corrected() -> np.ndarray:
    """Return counts of which printed and hidden ones were corrected."""
    table = counts()
    table[0, 1] += 4
    table[1, 1] += 3
    table[2, 0] -= 5
    table[3, 3] += 6
    return table


def original(table: np.ndarray) -> Table:
    return Table.from_array(table, {"area": list(AREAS), "size": list(SIZES)})


def suppressed(table: np.ndarray, hidden: Sequence[tuple[int, int]] = HIDDEN) -> Release:
    full = np.zeros((7, 6), object)
    full[:6, :5], full[6, :5], full[:6, 5], full[6, 5] = table, table.sum(axis=0), table.sum(axis=1), table.sum()
    for at in hidden:
        full[at] = None
    return Release.of(Figures.from_array(full, {"area": [*AREAS, "Total"], "size": [*SIZES, "Total"]}))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger(tmp_path / "ledger.sqlite")
    book.add(suppressed(counts()), title="First", period="2024")
    return book


ASKED: dict[str, Any] = {"title": "Final", "period": "2024", "revises": "First"}


def test_hidden_figures_that_were_corrected_are_judged_by_the_true_tables(ledger: Ledger) -> None:
    final = suppressed(corrected())
    open_ = ledger.check(final, **ASKED)
    assert open_.verdict == "incomplete"
    assert "give the true tables of both" in open_.sentence
    both = {"First": original(counts()), "Final": original(corrected())}
    assert ledger.check(final, **ASKED, originals=both).verdict == "safe"
    # In the same row, a corrected cell that is no longer hidden gives the others away, before and after.
    fewer = suppressed(corrected(), [at for at in HIDDEN if at != (0, 1)] + [(0, 2), (2, 2)])
    told = ledger.check(fewer, **ASKED, originals=both)
    assert told.verdict == "unsafe"
    found = {f.name: f.lower for f in told.new}
    assert found["area=a, size=v"] == 1
    assert any("its value in «First»" in f.subtraction for f in told.new)


def test_a_figure_that_was_printed_and_is_corrected_can_be_hidden(ledger: Ledger) -> None:
    # What hides beside it was printed and is as it was: that protects nothing.
    now = counts()
    now[5, 4] = 1
    known = suppressed(now, [*HIDDEN, (5, 4), (5, 1), (1, 4), (1, 1)])
    both = {"First": original(counts()), "Final": original(now)}
    result = ledger.check(known, **ASKED, originals=both)
    assert result.verdict == "unsafe"
    assert {f.name: f.lower for f in result.new}["area=f, size=z"] == 1
    # Totals tell the change of a single corrected cell, but not of four around a circuit, all of them hidden now.
    now = counts()
    now[0, 3] = 1
    both = {"First": original(counts()), "Final": original(now)}
    assert ledger.check(suppressed(now, [*HIDDEN, (0, 3)]), **ASKED, originals=both).verdict == "unsafe"
    now[0, 1], now[4, 3], now[4, 1] = now[0, 1] + 4, now[4, 3] + 3, now[4, 1] + 3
    both = {"First": original(counts()), "Final": original(now)}
    assert ledger.check(suppressed(now, [*HIDDEN, (0, 3)]), **ASKED, originals=both).verdict == "safe"


def test_the_reader_takes_what_is_printed_alike_to_be_as_it_was(ledger: Ledger) -> None:
    # Only a printed figure was corrected; the new pattern shows a hidden one, by other sums than the first.
    now = counts()
    now[1, 4] += 9
    result = ledger.check(suppressed(now, [at for at in HIDDEN if at != (4, 3)]), **ASKED)
    assert result.verdict == "unsafe"
    assert {f.name: f.lower for f in result.new}["area=e, size=w"] == 1


def test_a_sum_with_what_is_only_bounded_is_shown_from_both_sides(tmp_path: Path) -> None:
    """A cell that was 2 and went down is 1 or less, and hidden figures are 1 or more: no sum is equal to it."""
    area = {"area": list("abcd")}
    first, second = (Table.from_array(row, area) for row in ([10, 2, 20, 0], [11, 1, 20, 0]))
    hidden = Figures.from_array([None, None, 20, 0, 32], {"area": [*"abcd", "Total"]})
    book = Ledger(tmp_path / "l.sqlite")
    book.add(Release.of(Figures.from_array([10, 2, 20, 0], area)), title="First")
    originals = {"First": first, "Final": second}
    found = book.check(Release.of(hidden), title="Final", revises="First", originals=originals)
    (told,) = (f.subtraction for f in found.new if f.name == "area=b")
    assert "area=b ≤ [area=b in «First»] − [the correction of area=b] = 2 − 1 = 1; area=b ≥" in told


def test_a_kept_original_needs_not_be_given_again(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "kept.sqlite")
    truth = tmp_path / "first.csv"
    original(counts()).write(truth)
    book.add(suppressed(counts()), title="First", period="2024", original=truth)
    result = book.check(suppressed(corrected()), **ASKED, originals={"Final": original(corrected())})
    assert result.verdict == "safe"


@pytest.mark.parametrize(
    ("given", "asked", "told"),
    [
        ({"Final": corrected}, ASKED, "the original of «First» is not given, and was not kept"),
        ({"First": counts}, ASKED, "not that of «Final»"),
        ({"First": counts, "Final": corrected, "Else": counts}, ASKED, "has no release 'Else'"),
        ({"Final": corrected}, {**ASKED, "revises": ()}, "it corrects none"),
        ({"First": corrected, "Final": corrected}, ASKED, "the original of «First»: cell"),
        ({"First": counts, "Final": counts}, ASKED, "the original of «Final»: cell"),
    ],
)
def test_originals_that_do_not_belong_are_refused(
    ledger: Ledger, given: dict[str, Any], asked: dict[str, Any], told: str
) -> None:
    tables = {title: original(table()) for title, table in given.items()}
    with pytest.raises((RequestError, DataError), match=told):
        ledger.check(suppressed(corrected()), **asked, originals=tables)


def test_originals_of_other_categories_are_refused(ledger: Ledger) -> None:
    rows = Table.from_array(corrected().sum(axis=1), {"area": list(AREAS)})
    with pytest.raises(DataError, match="do not say what all cells of «First» are in both versions"):
        ledger.check(suppressed(corrected()), **ASKED, originals={"First": original(counts()), "Final": rows})


def test_three_versions_are_judged_together(tmp_path: Path) -> None:
    """Each two of them leave a total open: rounded to base 3 and to base 2, it is 8 with what was raised twice."""
    area = list("abcd")
    counts = {"First": [3, 1, 0, 4], "Second": [3, 3, 0, 4], "Third": [3, 3, 3, 4]}
    truth = {title: Table.from_array(row, {"area": area}) for title, row in counts.items()}
    made = {
        title: conventional_rounding(table, base=2 if title == "Third" else 3, margins=True)
        for title, table in truth.items()
    }
    titles = list(truth)

    def verdict(*some: str) -> str:
        book = Ledger(tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite")
        *old, last = some
        for k, title in enumerate(old):
            book.add(made[title], title=title, population="people", revises=old[k - 1 : k])
        both = {title: truth[title] for title in some}
        about: Any = {"population": "people", "revises": old[-1], "fewest": 1}
        return book.check(made[last], title=last, **about, originals=both).verdict

    assert [verdict(*pair) for pair in combinations(titles, 2)] == ["safe"] * 3
    assert verdict(*titles) == "unsafe"


def test_what_was_not_corrected_between_two_older_versions_is_known_to_be_equal(tmp_path: Path) -> None:
    """1 and 1 are printed first, and stay: the second version is 0, 1 and 1, and the third 0, 4 and 3."""
    labels = {"area": ["a", "b", "c", "Total"]}
    counts = {"First": [2, 1, 1], "Second": [0, 1, 1], "Third": [0, 4, 3]}
    shown = {"First": [None, 1, 1, 4], "Second": [None, None, None, 2], "Third": [None, None, 3, 7]}
    truth = {title: Table.from_array(row, {"area": labels["area"][:3]}) for title, row in counts.items()}
    mark = Kind("suppressed", least=0)
    made = {title: Release.of(Figures.from_array(row, labels, mark=mark)) for title, row in shown.items()}
    book = Ledger(tmp_path / "ledger.sqlite")
    book.add(made["First"], title="First", population="people")
    book.add(made["Second"], title="Second", population="people", revises="First")
    about: Any = {"title": "Third", "population": "people", "revises": "Second", "fewest": 1}
    found = book.check(made["Third"], **about, originals=truth)
    assert found.verdict == "unsafe"
    assert {one.name: one.lower for one in found.new}["area=b"] == 4


def test_amounts_with_other_decimals_are_not_corrected_for_that(tmp_path: Path) -> None:
    """0.3 among amounts with six decimals is what it is among those with one."""
    amounts = {"a": 0.3, "b": 0.6, "c": 3.3, "d": 5.5, "f": 7.7}

    def tabulated(found: Mapping[str, float]) -> Tabulation:
        rows = [{"activity": name, "turnover": value} for name, value in found.items()]
        return tabulate(pd.DataFrame(rows), by=["activity"], value="turnover")

    def shown(found: Mapping[str, float], hidden: str) -> Release:
        tenths = [None if name in hidden else round(value * 10) for name, value in found.items()]
        labels = {"activity": [*found, "Total"]}
        mark = Kind("suppressed", least=0)
        whole = round(sum(found.values()) * 10)
        return Release.of(Figures.from_array([*tenths, whole], labels, figure="turnover", decimals=1, mark=mark))

    now = {**amounts, "f": 7.800001}
    book = Ledger(tmp_path / "amounts.sqlite")
    about: Any = {"period": "2024", "variable": "turnover"}
    book.add(shown(amounts, "af"), title="First", **about)
    both = {"First": tabulated(amounts), "Final": tabulated(now)}
    found = book.check(shown(now, "ab"), title="Final", revises="First", originals=both, fewest=1, **about)
    assert found.verdict == "unsafe"
    assert {one.name: one.lower for one in found.new}["activity=a"] == 0.3


@pytest.mark.parametrize("coarse_first", [False, True])
def test_what_one_version_shows_in_finer_cells_is_known_of_the_other(coarse_first: bool, tmp_path: Path) -> None:
    """Hidden cells are at most 3, so a and b have 2 or more of 5; 2 are left once c is corrected, which was 3."""
    tree = Hierarchy.from_parents({"north": "Total", "d": "Total", "a": "north", "b": "north", "c": "north"})

    def release(shown: Mapping[str, int | None]) -> Release:
        labels, mark = {"area": list(shown)}, Kind("suppressed", least=0, most=3)
        return Release.of(Figures.from_array(list(shown.values()), labels, mark=mark, hierarchies={"area": (tree,)}))

    def truth(c: int) -> Tabulation:
        rows = [{"area": name} for name, count in {"a": 1, "b": 1, "c": c, "d": 7}.items() for _ in range(count)]
        return tabulate(pd.DataFrame(rows), by=["area"], hierarchies={"area": tree})

    fine = release({"a": None, "b": None, "c": None, "north": 5, "d": 7, "Total": 12})
    coarse = release({"north": 2, "d": 7, "Total": 9})
    versions = {"Fine": (fine, truth(3)), "Coarse": (coarse, truth(0))}
    first, second = reversed(versions) if coarse_first else versions
    book = Ledger(tmp_path / "ledger.sqlite")
    book.add(versions[first][0], title=first, period="2024")
    both = {title: table for title, (_, table) in versions.items()}
    about: Any = {"title": second, "period": "2024", "revises": first, "fewest": 1, "threshold": None}
    found = book.check(versions[second][0], **about, originals=both)
    assert found.verdict == "unsafe"
    assert ("area=c", 3, 3) in [(one.name, one.lower, one.upper) for one in found.new]


def test_three_versions_without_true_tables_are_judged_together(tmp_path: Path) -> None:
    """First c was corrected, then b: what is printed alike, in other bases, leaves one value of b in each version."""
    counts = {"First": ([4, 1, 0], 4), "Second": ([4, 1, 3], 5), "Third": ([4, 3, 3], 2)}
    made = {
        title: conventional_rounding(Table.from_array(row, {"area": list("abc")}), base=base, margins=True)
        for title, (row, base) in counts.items()
    }

    def found(*titles: str) -> LedgerCheck:
        book = Ledger(tmp_path / f"{'-'.join(titles)}.sqlite")
        *old, last = titles
        for k, title in enumerate(old):
            book.add(made[title], title=title, population="people", revises=old[k - 1 : k])
        about: Any = {"population": "people", "revises": old[-1], "fewest": 1, "threshold": None}
        return book.check(made[last], title=last, **about)

    assert [found(*pair).verdict for pair in combinations(made, 2)] == ["safe"] * 3
    together = found(*made)
    assert together.verdict == "unsafe"
    assert {(one.name, one.lower) for one in together.new} >= {("area=b", 1), ("area=b", 3), ("total", 8)}


def test_versions_that_only_together_contradict_each_other_are_not_called_safe(tmp_path: Path) -> None:
    """Each two can be true as they are, but not all: what was corrected, the second one hides."""
    counts = {"First": [0, 4, 2], "Second": [2, 4, 2], "Third": [2, 4, 0]}
    truth = {title: Table.from_array(row, {"area": list("abc")}) for title, row in counts.items()}
    made = {title: conventional_rounding(table, base=3, margins=True) for title, table in truth.items()}
    labels = {"area": [*"abc", "Total"]}
    made["Second"] = Release.of(Figures.from_array([None] * 4, labels, mark=Kind("suppressed", least=0)))
    book = Ledger(tmp_path / "ledger.sqlite")
    book.add(made["First"], title="First", population="people")
    book.add(made["Second"], title="Second", population="people", revises="First")
    about: Any = {"title": "Third", "population": "people", "revises": "Second", "fewest": 1}
    found = book.check(made["Third"], **about)
    assert found.verdict == "incomplete"
    assert "give the true tables of both" in found.sentence
    # What it says can be done.
    assert book.check(made["Third"], **about, originals=truth).verdict in ("safe", "unsafe")


def test_versions_of_one_title_are_told_apart(tmp_path: Path) -> None:
    """What older versions tell of one of them is not taken for the same about the next, whatever they are called."""
    rows, bases = ([4, 4, 2], [6, 4, 2], [6, 4, 1]), (4, 3, 2)
    made = [
        conventional_rounding(Table.from_array(row, {"area": list("abc")}), base=base, margins=True)
        for row, base in zip(rows, bases, strict=True)
    ]

    def found(*titles: str) -> set[tuple[str, float, float, str]]:
        book = Ledger(tmp_path / f"{titles[-1]}.sqlite")
        ids: list[str] = []
        for release, title in zip(made[:2], titles[:2], strict=True):
            ids.append(book.add(release, title=title, population="people", revises=ids[-1:]).id)
        about: Any = {"title": titles[2], "population": "people", "revises": ids[-1], "fewest": 1, "threshold": None}
        return {(one.name, one.lower, one.upper, one.cause) for one in book.check(made[2], **about).findings}

    assert found("Final", "Final", "Final") == found("First", "Second", "Third")


def test_what_is_named_where_versions_are_not_judged_leads_on(tmp_path: Path) -> None:
    """Tables that the later version does not repeat, or that cross in a circle."""
    names = {name: [f"{name}{k}" for k in range(3)] for name in "abc"}
    then = np.random.default_rng(4).integers(2, 14, (3, 3, 3))
    now = then.copy()
    now[1, 2, 1] += 3
    now[0, 1, 2] += 2
    both = {title: Table.from_array(cells, names) for title, cells in (("First", then), ("Final", now))}

    def shown(cells: np.ndarray, *crossed: str) -> Release:
        parts = []
        for one in crossed:
            full = np.pad(cells.sum(axis=tuple(k for k, n in enumerate("abc") if n not in one)), [(0, 1)] * len(one))
            for axis in range(len(one)):
                full[(slice(None),) * axis + (3,)] = full.sum(axis=axis)
            figures = full.astype(object)
            for at in np.ndindex(full.shape):
                inner = [k for k in at if k < 3]
                if len(inner) == 3 or (len(inner) == 2 and inner[1] > 0):
                    figures[at] = None
            labels = {n: [*names[n], "Total"] for n in one}
            parts.append(Figures.from_array(figures.tolist(), labels, name=one))
        return Release.of(parts)

    asked: dict[str, Any] = {"title": "Final", "population": "p", "revises": "First"}
    book = Ledger(tmp_path / "line.sqlite")
    book.add(shown(then, "ab", "ac"), title="First", population="p")
    (corrected, left) = book.check(shown(now, "ab"), **asked).unjudged
    assert "name the release" not in corrected
    assert "give the true tables of both" in left
    assert "in one release with the others" in left
    assert book.check(shown(now, "ab"), **asked, originals=both).verdict == "safe"
    assert book.check(shown(now, "ab", "ac"), **asked).unjudged == (corrected,)
    assert book.check(shown(now, "ab", "ac"), **asked, originals=both).verdict == "safe"
    round_ = Ledger(tmp_path / "circle.sqlite")
    round_.add(shown(then, "ab", "ac", "bc"), title="First", population="p")
    (circle,) = round_.check(shown(now, "ab", "ac", "bc"), **asked, originals=both).unjudged
    assert "cross in a circle" in circle
    assert "publish a table of all their dimensions with the later one" in circle
    assert round_.check(shown(now, "ab", "ac", "bc", "abc"), **asked, originals=both).unjudged == ()
