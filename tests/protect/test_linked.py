"""Linked tables protected together: shared figures are one figure, and the joint audit is what enumeration finds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import run

import discreet as dc
from discreet.core.errors import DataError, RequestError
from discreet.protect.linked import link
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.tabulation import Tabulation

Counts = np.ndarray[Any, np.dtype[np.int64]]
NAMES = ("a", "b", "c")
JOINT: dict[str, Callable[..., dc.Release]] = {
    "random": lambda tables, seed: dc.protect.random_rounding(tables, 3, margins=True, seed=seed),
    "conventional": lambda tables, seed: dc.protect.conventional_rounding(tables, 3, margins=True),
    "controlled": lambda tables, seed: dc.protect.controlled_rounding(tables, 3),
    "unbiased": lambda tables, seed: dc.protect.controlled_rounding(tables, 3, unbiased=True, seed=seed),
    "hidden": lambda tables, seed: dc.protect.hide_and_round(tables, 2, 5),
}


def margin(X: Counts, kept: str) -> dc.Table:
    axes = tuple(i for i, name in enumerate(NAMES) if name not in kept)
    return dc.Table.from_array(X.sum(axis=axes), list(kept))


def shown(release: dc.Release) -> dict[tuple[tuple[str, str], ...], list[tuple[int, str]]]:
    """Every figure by what it counts: the labels that are not totalss."""
    found: dict[tuple[tuple[str, str], ...], list[tuple[int, str]]] = {}
    for part in release.parts():
        for row in range(len(part)):
            labels = {name: part.labels[name][int(part.codes[row, i])] for i, name in enumerate(part.names)}
            cell = tuple(sorted((name, label) for name, label in labels.items() if label != part.total))
            found.setdefault(cell, []).append((int(part.values[row]), part.text(row)))
    return found


@pytest.mark.parametrize("method", JOINT)
@pytest.mark.parametrize("margins", [("ab", "ac"), ("ab", "ac", "bc"), ("a", "ab", "c")])
def test_shared_figures_agree(method: str, margins: tuple[str, ...]) -> None:
    rng = np.random.default_rng(7)
    for seed in range(6):
        X = rng.poisson(3, (3, 2, 2))
        X[0, 0, 0] += 1
        release = JOINT[method]([margin(X, names) for names in margins], seed)
        assert [part.names for part in release.parts()] == [tuple(names) for names in margins]
        figures = shown(release)
        assert any(len(values) > 1 for values in figures.values())
        assert all(len(set(values)) == 1 for values in figures.values())


def everybody(most: int, cells: int = 8) -> Counts:
    """Every table of so many cells with so many people at most, a row each."""
    if cells == 0:
        return np.zeros((1, 0), np.int64)
    rows = [(n, *rest) for n in range(most + 1) for rest in everybody(most - n, cells - 1).tolist()]
    return np.array(rows, np.int64)


def counts_of(tables: Counts, cell: tuple[tuple[str, str], ...]) -> Counts:
    """What each of the tables counts in a cell or margin."""
    at = dict(cell)
    inside = np.zeros((2, 2, 2), bool)
    inside[tuple(int(at[name]) - 1 if name in at else slice(None) for name in NAMES)] = True
    counts: Counts = tables[:, inside.ravel()].sum(axis=1)
    return counts


@pytest.mark.parametrize("method", ["random", "conventional", "controlled", "unbiased"])
def test_the_joint_audit_is_what_enumeration_finds(method: str) -> None:
    rng, judged = np.random.default_rng(11), 0
    # 4 people are published as 3 or 6, which stand for 8 at most.
    everything = everybody(8)
    for seed in range(8):
        X = rng.multinomial(4, rng.dirichlet(np.ones(8))).reshape(2, 2, 2)
        release = JOINT[method]([margin(X, "ab"), margin(X, "ac")], seed)
        fits = np.ones(len(everything), bool)
        for cell, values in shown(release).items():
            counts, published = counts_of(everything, cell), values[0][0]
            if method == "conventional":
                fits &= (counts + 1) // 3 * 3 == published
            else:
                fits &= np.abs(counts - published) < 3
        assert (everything[fits] == X.ravel()).all(axis=1).any()
        for found in dc.audit(release).cells:
            cell = tuple(sorted((name, label) for name, label in found.cell.items() if label != "Total"))
            left = counts_of(everything[fits], cell)
            assert (found.lower, found.upper) == (left.min(), left.max()), (cell, X)
            judged += 1
    assert judged > 50


def test_tables_rounded_one_by_one_are_judged_together() -> None:
    """57 in one table and 54 in the other leave 55 and 56."""
    one = Figures.from_array([30, 27, 57], {"a": ["1", "2", "Total"]}, kind=Kind("random", base=3))
    two = Figures.from_array([27, 30, 54], {"b": ["1", "2", "Total"]}, kind=Kind("random", base=3))
    total = next(cell for cell in dc.audit([one, two]).cells if set(cell.cell.values()) == {"Total"})
    assert (total.lower, total.upper) == (55, 56)
    tables = [dc.Table.from_array([29, 26], ["a"]), dc.Table.from_array([26, 29], ["b"])]
    drawn = [
        {int(dc.protect.random_rounding(one, 3, margins=True, seed=seed).parts()[0].values[0]) for seed in range(12)}
        for one in tables
    ]
    assert (57, 54) in product(*drawn)
    for seed in range(12):
        together = dc.protect.random_rounding(tables, 3, margins=True, seed=seed).parts()
        assert together[0].values[0] == together[1].values[0]


@pytest.mark.parametrize("again", [54, 57])
def test_what_was_drawn_twice_is_weighed_twice(again: int) -> None:
    """Two releases that each round a total tell more of it than one does, under the law of the method."""
    base = Kind("random", base=3)
    parts = [Figures.from_array([value], {name: ["Total"]}, kind=base) for name, value in (("a", 57), ("b", again))]
    values = np.arange(52, 60)
    weights = np.ones(values.size)
    for published in (57, again):
        weights *= np.maximum(1 - np.abs(values - published) / 3, 0)
    p = weights[weights > 0] / weights.sum()
    expected = float(-(p * np.log2(p)).sum())
    apart = dc.audit(parts, law="method").cells[0]
    assert apart.bits == pytest.approx(expected)
    if again == 57:
        # Drawn together they are one figure, and tell what one tells.
        together = dc.audit(dc.Release.of(parts), law="method").cells[0]
        assert together.bits == pytest.approx(dc.audit(parts[0], law="method").cells[0].bits)
        assert together.bits > apart.bits
        twice = [dc.Release.of(parts), dc.Release.of(parts)]
        assert dc.audit(twice, law="method").cells[0].bits == pytest.approx(apart.bits)
        keyed = [dc.Release(None, "cell-key", {"keys": "records"}, (part,)) for part in parts]
        assert dc.audit(keyed, law="method").cells[0].bits == together.bits


def test_cells_between_tables_are_weighed_by_every_draw() -> None:
    """Against enumeration: two releases of the same row, rounded apart."""
    base = Kind("random", base=3)
    labels = {"a": ["1", "2", "Total"]}
    parts = [Figures.from_array(row, labels, kind=base) for row in ([3, 0, 3], [3, 3, 6])]
    law: dict[int, float] = {}
    for x, y in product(range(9), repeat=2):
        chance = 1.0
        for part in parts:
            for true, shown_ in zip((x, y, x + y), part.values.tolist(), strict=True):
                chance *= max(1 - abs(true - shown_) / 3, 0)
        law[x] = law.get(x, 0.0) + chance
    p = np.array([chance for chance in law.values() if chance > 0])
    p /= p.sum()
    found = dc.audit(parts, law="method").cell(a="1")
    assert found.bits == pytest.approx(float(-(p * np.log2(p)).sum()))


def test_a_table_and_its_margin_work_with_every_rounding_and_with_drawn_keys() -> None:
    X = np.random.default_rng(2).poisson(4, (3, 3, 1)) + 1
    tables = [margin(X, "ab"), margin(X, "b")]
    for release in (
        dc.protect.small_count_rounding(tables, 5),
        dc.protect.semi_controlled_rounding(tables, 3, totals=["a"], seed=1),
        dc.protect.CellKey(margins=True).apply(tables, 1).release,
    ):
        figures = shown(release)
        assert sum(len(values) > 1 for values in figures.values()) == 4
        assert all(len(set(values)) == 1 for values in figures.values())


def test_without_margins_inner_counts_alone_are_published() -> None:
    X = np.random.default_rng(2).poisson(4, (3, 2, 2)) + 1
    release = dc.protect.random_rounding([margin(X, "ab"), margin(X, "ac")], 3, seed=1)
    assert [len(part) for part in release.parts()] == [6, 6]


def test_categories_in_another_order_and_hierarchies_are_joined_by_label() -> None:
    tree = Hierarchy.from_parents({"1": "x", "2": "x", "3": "y"})
    ab = dc.Table.from_array([[5, 1], [2, 7], [4, 4]], {"a": ["1", "2", "3"], "b": ["m", "f"]})
    back = dc.Table.from_array([8, 9, 6], {"a": ["3", "2", "1"]})
    release = dc.protect.random_rounding([ab, back], 3, margins=True, seed=4)
    assert all(len(set(values)) == 1 for values in shown(release).values())
    both = [Tabulation.from_table(one, hierarchies={"a": tree}) for one in (ab, margin_of(back))]
    figures = shown(dc.protect.controlled_rounding(both, 3))
    assert len(figures[("a", "x"),]) == 2
    assert all(len(set(values)) == 1 for values in figures.values())
    with pytest.raises(RequestError, match="'x' of dimension 'a' is not in a"):
        dc.protect.controlled_rounding([both[0], back], 3)


def margin_of(table: dc.Table) -> dc.Table:
    return dc.Table.from_array(table.to_array()[::-1], {"a": ["1", "2", "3"]})


def test_tables_that_do_not_go_together_are_refused() -> None:
    ab = dc.Table.from_array([[5, 1], [2, 7]], ["a", "b"])
    with pytest.raises(DataError, match=r"a=1, .* is 6 in a × b, but 7 in a; give linked tables of the same"):
        dc.protect.random_rounding([ab, dc.Table.from_array([7, 8], ["a"])], 3)
    with pytest.raises(RequestError, match="'3' of dimension 'a' is only in a"):
        dc.protect.random_rounding([ab, dc.Table.from_array([6, 9, 1], ["a"])], 3)
    ac = dc.Table.from_array([[6, 0], [4, 5]], ["a", "c"])
    with pytest.raises(RequestError, match=r"finest cells a × b × c are not tabulated.*controlled-rounding"):
        dc.protect.small_count_rounding([ab, ac], 3)
    with pytest.raises(RequestError, match=r"finest cells a × b × c are not tabulated.*controlled-rounding"):
        dc.protect.semi_controlled_rounding([ab, ac], 3)
    with pytest.raises(RequestError, match=r"finest cells, a × b × c, were not tabulated.*give records keys"):
        dc.protect.CellKey().apply([ab, ac], 1)
    redesign = dc.protect.Redesign.of({"a": {"1": "x", "2": "x"}})
    for method in (dc.protect.RandomSample(5), dc.protect.TableSwapping(), redesign):
        with pytest.raises(RequestError, match="one table at a time"):
            method.apply([ab, ac], 1)
    with pytest.raises(RequestError, match="no table to protect"):
        link([])


def test_linked_tables_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    X = rng.poisson(5, (3, 2, 2)) + 1
    for name in ("ab", "ac"):
        table = margin(X, name)
        rows = [f"{name[0]},{name[1]},count"]
        rows += [f"{i + 1},{j + 1},{n}" for (i, j), n in np.ndenumerate(table.to_array())]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    files = (tmp_path / "ab.csv", "--linked", tmp_path / "ac.csv")
    for command in (
        ("random-rounding", "--base", 3, "--with-margins"),
        ("controlled-rounding", "--base", 3),
        ("conventional-rounding", "--base", 3, "--with-margins"),
        ("hide-and-round", "--hide-up-to", 2),
    ):
        outcome = run("protect", command[0], *files, *command[1:], "-o", tmp_path / f"{command[0]}.parquet")
        assert outcome.code == 0, outcome.err
        assert "changed once" in " ".join(outcome.out.split())
        written = sorted(tmp_path.glob(f"{command[0]}*.parquet"))
        assert len(written) == 2
        both = [figures for path in written for figures in dc.read_release(path).parts()]
        assert all(len(set(values)) == 1 for values in shown(dc.Release.of(both)).values())
    for method, way in (("small-count-rounding", "controlled-rounding"), ("cell-key", "--record-key")):
        refused = run("protect", method, *files, "-o", tmp_path / "small.csv")
        assert refused.code == 2
        assert way in refused.err
        assert not list(tmp_path.glob("small*"))


def test_a_table_and_its_margin_by_cell_keys_on_the_command_line(tmp_path: Path) -> None:
    X = np.random.default_rng(2).poisson(4, (3, 3, 1)) + 1
    margin(X, "ab").write(tmp_path / "ab.csv")
    margin(X, "b").write(tmp_path / "b.csv")
    files = (tmp_path / "ab.csv", "--linked", tmp_path / "b.csv")
    done = run("protect", "cell-key", *files, "--with-margins", "-o", tmp_path / "r.csv")
    assert done.code == 0, done.err
    assert all(name in "".join(done.out.split()) for name in ("r-1.csv", "r-2.csv"))
    both = [figures for name in ("r-1", "r-2") for figures in dc.read_release(tmp_path / f"{name}.csv").parts()]
    figures = shown(dc.Release.of(both))
    assert sum(len(values) > 1 for values in figures.values()) == 4
    assert all(len(set(values)) == 1 for values in figures.values())
    (tmp_path / "people.csv").write_text("a,b,id\n1,1,7\n1,2,8\n2,1,9\n")
    (tmp_path / "secret.txt").write_text("not to be known by anybody")
    keyed = (tmp_path / "people.csv", "--by", "a,b", "--secret", tmp_path / "secret.txt", "--identify", "id")
    refused = run("protect", "cell-key", *keyed, "--linked", tmp_path / "b.csv", "-o", tmp_path / "k.csv")
    assert refused.code == 2
    assert "one by one" in refused.err


def test_what_a_short_seed_draws_of_linked_tables_is_a_trial() -> None:
    X = np.random.default_rng(2).poisson(4, (3, 3, 1)) + 1
    tables = [margin(X, "ab"), margin(X, "b")]
    for unbiased, seed, trial in ((True, 1, True), (True, 2**100, False), (False, 1, False)):
        assert dc.protect.ControlledRounding(3, unbiased=unbiased).apply(tables, seed).release.trial is trial
    assert dc.protect.RandomRounding(3, margins=True).apply(tables, 1).release.trial
