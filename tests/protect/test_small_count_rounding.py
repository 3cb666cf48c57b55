"""Small-count rounding: what changes, what does not, and how near the margins stay."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.protect.hierarchical import check_additive, random_tabulation

import discreet as dc
from discreet import RequestError, Table
from discreet.protect import SmallCountRounding, small_count_rounding
from discreet.protect.margin_fit import containing
from discreet.table.tabulation import Tabulation


def squares(cells: Tabulation, base: int) -> tuple[int, int]:
    """Return the sum of squared deviations of the margins: of the method, and the least over all choices."""
    full = cells.with_empty_cells()
    inner = full.inner(full.names)
    rows = np.flatnonzero(inner & (full.records > 0) & (full.records < base))
    starts, margins = containing(full, rows)
    inside = np.zeros((rows.size, len(full)), np.int64)
    inside[np.repeat(np.arange(rows.size), np.diff(starts)), margins] = 1
    least = min(
        int(np.square((base * np.array(ups) - full.records[rows]) @ inside).sum())
        for ups in product((0, 1), repeat=rows.size)
    )
    values = SmallCountRounding(base).apply(cells).release.parts()[0].values
    return int(np.square((values - full.records)[~inner]).sum()), least


def test_only_small_inner_counts_change_and_everything_adds_up() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        d = int(rng.integers(1, 4))
        cells = random_tabulation(
            rng, tuple(int(n) for n in rng.integers(2, 6, d)), tuple(int(n) for n in rng.integers(1, 4, d))
        )
        base = int(rng.integers(2, 7))
        made = SmallCountRounding(base).apply(cells)
        part, full = made.release.parts()[0], cells.with_empty_cells()
        check_additive(cells, part.values)
        inner = full.inner(full.names)
        small = inner & (full.records > 0) & (full.records < base)
        assert set(part.values[small].tolist()) <= {0, base}
        assert (part.values == full.records)[inner & ~small].all()
        assert made.details["margins"]["largest"] == np.abs(part.values - full.records)[~inner].max()
        lower, upper = part.ranges()
        assert ((lower <= full.records) & (full.records <= upper)).all()


def test_margins_are_nearly_as_close_as_any_choice_makes_them() -> None:
    rng = np.random.default_rng(2)
    ratios: list[float] = []
    while len(ratios) < 40:
        cells = random_tabulation(rng, (3, 4), (2, 2), mean=2.5)
        small = int(np.count_nonzero(cells.table().counts < 3))
        if 2 <= small <= 9:
            found, least = squares(cells, 3)
            assert found >= least
            ratios.append(found / max(least, 1))
    assert np.mean(ratios) < 1.15
    assert np.mean([ratio == 1 for ratio in ratios]) > 0.6


def test_the_kind_tells_what_a_reader_knows() -> None:
    table = Table.from_array([0, 1, 2, 3, 4, 9], ["x"])
    release = small_count_rounding(table, 3)
    part = release.parts()[0]
    lower, upper = part.ranges()
    for value, low, high in zip(part.values[1:].tolist(), lower[1:].tolist(), upper[1:].tolist(), strict=True):
        assert (low, high) == {0: (0, 2), 3: (1, 3)}.get(value, (value, value))
    assert dc.audit(release).verdict in ("safe", "unsafe")


def test_it_is_deterministic_and_may_have_nothing_to_do() -> None:
    rng = np.random.default_rng(3)
    cells = random_tabulation(rng, (5, 5), (2, 2))
    assert small_count_rounding(cells, 5).table == small_count_rounding(cells, 5).table
    made = SmallCountRounding(3).apply(Table.from_array([[3, 4], [0, 9]], ["a", "b"]))
    assert made.changes.changed == 0
    assert made.release.table.to_array().tolist() == [[3, 4], [0, 9]]


def test_the_finest_cells_must_be_there() -> None:
    import pandas as pd

    people = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    with pytest.raises(RequestError, match="a × b are not tabulated"):
        small_count_rounding(dc.tabulate(people, ["a", "b"], margins=[["a"], ["b"]]))


def test_margins_do_not_say_how_far_they_are_off() -> None:
    """That a margin is off by 1 says that the one count that became 0 was 1; if it was 0, nothing is off."""
    made = [dc.protect.small_count_rounding(Table.from_array([x, 10, 20], {"area": list("nsw")})) for x in (0, 1)]
    (none,), (one,) = (release.parts() for release in made)
    assert none.values.tolist() == one.values.tolist() == [30, 0, 10, 20]
    assert none.kinds == one.kinds
    assert [(cell.lower, cell.upper) for cell in dc.audit(made[1]).cells if cell.cell == {"area": "n"}] == [(0, 2)]


def test_sums_of_counts_that_are_printed_as_they_are_are_exact() -> None:
    """Readers see it from the figures: which sums are exact tells nothing that the counts do not."""
    (shown,) = dc.protect.small_count_rounding(Table.from_array([[8, 0], [8, 6]], ["area", "sex"])).parts()
    kinds = {
        (*codes,): (int(value), shown.kinds[kind].name)
        for codes, value, kind in zip(shown.codes.tolist(), shown.values, shown.kind, strict=True)
        if 0 in codes
    }
    assert kinds == {
        (0, 0): (22, "perturbed"),
        (0, 1): (16, "exact"),
        (0, 2): (6, "perturbed"),
        (1, 0): (8, "perturbed"),
        (2, 0): (14, "exact"),
    }
