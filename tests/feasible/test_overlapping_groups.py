"""Groups of respondents that overlap: the seven people of a paper, and random ones against trying everything."""

from __future__ import annotations

import itertools
import statistics as plain
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.auditing.audit import LOOSE, audit
from discreet.auditing.audit_result import Audit
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release_reader import read_release
from discreet.table.statistic import Statistic, StatisticColumn

SEVEN = {
    ("F", "Total", "Total"): (4, 30, 33.5), ("M", "Total", "Total"): (3, 30, 44.0), ("F", "B", "Total"): (3, 36, 36.7),
    ("Total", "B", "Total"): (4, 51, 48.5), ("Total", "W", "Total"): (3, 24, 24.0),
    ("Total", "Total", "married"): (4, 51, 54.0), ("Total", "Total", "Total"): (7, 30, 38.0),
}  # fmt: skip
"""Number, median and mean of the ages in the groups that Garfinkel, Abowd and Martindale (2019) publish."""
AGES = {"mean": "mean, decimals=1, range=0..125", "median": "median, decimals=0, range=0..125"}


def published(path: Path) -> Audit:
    rows = ["sex,race,status,n,median,mean"]
    for cell in itertools.product(("F", "M", "Total"), ("B", "W", "Total"), ("married", "single", "Total")):
        rows.append(",".join(map(str, (*cell, *SEVEN.get(cell, ("x", "x", "x"))))))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return audit(read_release(path, value="n", least=0, statistics=AGES))


def test_seven_people_are_reconstructed_from_statistics_of_groups(tmp_path: Path) -> None:
    found = published(tmp_path / "seven.csv")
    assert found.verdict == "unsafe"
    values = {cell.name: cell.proof for cell in found.cells if cell.subject == "values of respondents"}
    assert "only 8, 18, 24, 30, 36, 66, 84 fits" in values["total"]
    assert "only 84 fits" in values["sex=M, race=B, status=married"]
    assert "only 24 fits" in values["sex=F, race=W, status=single"]
    # Who is married follows, too.
    inner = {cell.name: (cell.lower, cell.upper) for cell in found.cells if cell.subject == "value"}
    assert inner["sex=F, race=B, status=married"] == (2, 2)
    assert inner["sex=M, race=W, status=single"] == (1, 1)


def test_more_than_can_be_tried_is_incomplete(tmp_path: Path) -> None:
    text = "who,n,median,mean\nmen,3,30,44.0\nwomen,14,30,33.5\nTotal,17,30,35.4\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    found = audit(read_release(tmp_path / "t.csv", value="n", statistics=AGES))
    assert found.verdict == "incomplete"
    assert "too many respondents or values" in "".join(cell.proof for cell in found.cells)


# --- against trying everything --------------------------------------------------------------------------------

MOST = 3
KINDS: dict[str, Any] = {"mean": plain.mean, "median": plain.median, "maximum": max, "minimum": min}
CELLS = [(i, j) for i in range(3) for j in range(3)]
"""Two dimensions of two categories and a total, which is the last."""


def leaves(cell: tuple[int, int]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(2) for j in range(2) if cell[0] in (i, 2) and cell[1] in (j, 2)]


class Case:
    """A few respondents, what is published of them, and all that fits."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.truth = {leaf: sorted(rng.integers(0, MOST + 1, rng.integers(0, 3)).tolist()) for leaf in leaves((2, 2))}
        shown = {cell for cell in CELLS if rng.random() < 0.5} | {(2, 2)}
        self.counts = {cell: len(self.of(self.truth, cell)) for cell in shown}
        self.printed: dict[str, dict[tuple[int, int], int]] = {}
        for kind in rng.choice(list(KINDS), 2, replace=False).tolist():
            cells = [cell for cell in CELLS if self.of(self.truth, cell) and rng.random() < 0.4]
            self.printed[kind] = {cell: self.rounded(kind, self.of(self.truth, cell)) for cell in cells}

    @staticmethod
    def of(values: dict[tuple[int, int], list[int]], cell: tuple[int, int]) -> list[int]:
        return sorted(value for leaf in leaves(cell) for value in values[leaf])

    @staticmethod
    def rounded(kind: str, values: list[int]) -> int:
        """Return a statistic in tenths, rounded down."""
        return int(Fraction(KINDS[kind]([Fraction(value) for value in values])) * 10 // 1)

    def fitting(self) -> Iterator[dict[tuple[int, int], list[int]]]:
        """Yield all values that fit, by trying all."""
        people = list(itertools.product(leaves((2, 2)), range(MOST + 1)))
        for several in itertools.combinations_with_replacement(people, self.counts[2, 2]):
            values: dict[tuple[int, int], list[int]] = {leaf: [] for leaf in leaves((2, 2))}
            for leaf, value in several:
                values[leaf].append(value)
            if any(len(self.of(values, cell)) != count for cell, count in self.counts.items()):
                continue
            asked = ((kind, cell, it) for kind, found in self.printed.items() for cell, it in found.items())
            if all(self.of(values, c) and self.rounded(k, self.of(values, c)) == it for k, c, it in asked):
                yield values

    def audited(self) -> Audit:
        labels = {"a": ["1", "2", "Total"], "b": ["1", "2", "Total"]}
        cells = [[self.counts.get((i, j)) for j in range(3)] for i in range(3)]
        columns = tuple(
            StatisticColumn(
                kind, Statistic(kind, rounding="down", most=MOST, decimals=1), np.array(list(found)).reshape(-1, 2),
                np.array(list(found.values()), np.int64), 1,
            )
            for kind, found in self.printed.items()
        )  # fmt: skip
        figures = Figures.from_array(cells, labels, mark=Kind("suppressed", least=0), figure="n", statistics=columns)
        return audit(figures)


def compared(seed: int) -> int:
    """Compare one case; return whether several groups were taken together."""
    case = Case(seed)
    groups = {cell for found in case.printed.values() for cell in found}
    if sum(len(values) for values in case.truth.values()) > 4 or not groups:
        return 0
    found, every = case.audited(), list(case.fitting())
    assert every
    assert found.verdict != "safe" or LOOSE not in found.note
    names = {f"a={i + 1}" if j == 2 else f"b={j + 1}" if i == 2 else f"a={i + 1}, b={j + 1}": (i, j) for i, j in CELLS}
    names["total"] = names.pop("a=3") if "a=3" in names else (2, 2)
    for one in found.cells:
        cell = names[one.name.removesuffix(" (values of respondents)")]
        tuples = {tuple(case.of(values, cell)) for values in every}
        counts = {len(values) for values in tuples}
        if one.subject == "value":
            assert one.lower <= min(counts)
            assert one.upper >= max(counts)
            assert one.verdict != "safe" or len(counts) > 1 or LOOSE in found.note
        elif one.verdict == "safe":
            assert one.values == len(tuples) > 1
        elif "is the value of one respondent" not in one.proof and one.verdict == "unsafe":
            assert len(tuples) == 1
    return int(len(groups) > 1)


@pytest.mark.parametrize("seeds", [range(30)])
def test_groups_are_those_of_trying_everything(seeds: range) -> None:
    assert sum(compared(seed) for seed in seeds) > 5


@pytest.mark.long
def test_many_more_groups() -> None:
    assert sum(compared(seed) for seed in range(30, 600)) > 80
