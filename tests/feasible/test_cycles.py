"""Tables that form a cycle, cut into blocks along chords: the same bounds as over the whole cycle."""

from __future__ import annotations

import numpy as np
import pytest
from tests.lengths import few_or_long

from discreet.feasible.bounds import bounds
from discreet.table import Table, blocks
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.tabulation import Tabulation

CIRCLES = (("ab", "bc", "cd", "da"), ("ab", "bc", "cd", "de", "ea"), ("abc", "cd", "da"))


def parts(rng: np.random.Generator, pairs: tuple[str, ...]) -> list[Figures]:
    """Publish margins of a random table, with some inner cells hidden."""
    names = sorted({name for pair in pairs for name in pair})
    sizes = tuple(int(rng.integers(2, 4)) if i < 2 else 2 for i in range(len(names)))
    counts = rng.integers(0, 4, sizes) * (rng.random(sizes) < 0.6)
    counts.flat[0] += 1
    table = Table.from_array(
        counts, {name: [f"{name}{i}" for i in range(n)] for name, n in zip(names, sizes, strict=True)}
    )
    found = []
    for pair in pairs:
        cells = Tabulation.from_table(table.margin(*pair))
        found.append(Figures.of_tabulation(cells, hidden=rng.random(len(cells)) < 0.5, name=pair))
    return found


@pytest.mark.parametrize("pairs", CIRCLES)
@few_or_long("seeds", range(12), range(40))
def test_blocks_along_chords_give_the_same_bounds(
    seeds: range, pairs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_figures = 0
    for seed in seeds:
        shown = parts(np.random.default_rng(seed), pairs)
        monkeypatch.setattr(blocks, "MANY", 20_000)
        whole = equations_of(shown)
        monkeypatch.setattr(blocks, "MANY", 0)
        cut = equations_of(shown)
        assert cut.positions.size < whole.positions.size
        mine = np.flatnonzero(cut.source >= 0)
        theirs = whole.locate(cut.positions[mine])
        found, expected = bounds(cut, mine, workers=1), bounds(whole, theirs, workers=1)
        assert expected.finished[theirs].all()
        assert found.finished[mine].all()
        np.testing.assert_array_equal(found.lower[mine], expected.lower[theirs])
        np.testing.assert_array_equal(found.upper[mine], expected.upper[theirs])
        open_figures += int((found.lower[mine] < found.upper[mine]).sum())
    assert open_figures > 0.75 * len(seeds)
