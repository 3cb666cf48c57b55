"""Tables that cover a part of a dimension beside tables of all of it, against the list of all tables that fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import discreet as dc
from discreet import Figures, Hierarchy
from discreet.core.errors import DataError
from discreet.table.equations import equations_of
from discreet.table.space import space_of
from discreet.table.tabulation import Tabulation

Ints: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
LEAVES = {"a": ("a0", "a1"), "n": ("e1", "e2", "w1", "w2"), "s": ("s0", "s1"), "c": ("c0", "c1")}
GROUPS = {"n": {"E": ("e1", "e2"), "W": ("w1", "w2")}}
"""Groups in the hierarchy of tables of everybody."""
PARTS = {"East": ("e1", "e2"), "Middle": ("e2", "w1"), "One": ("e1",), "First": ("a0",)}
"""Totals of tables of a part; the middle cuts through the groups."""


@dataclass(frozen=True)
class Shown:
    """A table over some dimensions, along some of them of a part only, without categories that are empty in it."""

    names: str
    parts: Mapping[str, str]
    empty: tuple[str, ...] = ()

    def codes(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return the labels along a dimension, and what each is made of; the total first."""
        if name in self.parts:
            below = PARTS[self.parts[name]]
            return {self.parts[name]: below} | {leaf: (leaf,) for leaf in below}
        return {"Total": LEAVES[name]} | GROUPS.get(name, {}) | {leaf: (leaf,) for leaf in self.leaves(name)}

    def leaves(self, name: str) -> tuple[str, ...]:
        return tuple(leaf for leaf in LEAVES[name] if leaf not in self.empty)

    def tree(self, name: str) -> Hierarchy:
        if name in self.parts:
            return Hierarchy.flat(PARTS[self.parts[name]]).as_part(self.parts[name])
        pairs = [(leaf, group) for group, leaves in GROUPS.get(name, {}).items() for leaf in leaves]
        return Hierarchy.from_parents(pairs) if pairs else Hierarchy.flat(self.leaves(name))

    def figures(self, truth: Ints, rng: np.random.Generator, share: float, names: str) -> Figures:
        codes = [self.codes(name) for name in self.names]
        cells = list(itertools.product(*codes))
        made = [mask_of(dict(zip(self.names, cell, strict=True)), names) for cell in cells]
        values = np.array(made) @ truth
        hidden = rng.random(values.size) < share
        hidden[0] = False
        places = [[list(found).index(label) for found, label in zip(codes, cell, strict=True)] for cell in cells]
        return Figures(
            {name: tuple(found) for name, found in zip(self.names, codes, strict=True)},
            np.array(places),
            np.where(hidden, 0, values),
            hidden.astype(np.int64),
            name=" × ".join(self.names) + "".join(f" in {part}" for part in self.parts.values()),
            hierarchies={name: (self.tree(name),) for name in self.names},
            absent="unpublished" if rng.random() < 0.5 else "empty",
        )

    def without(self, truth: Ints, names: str) -> Shown:
        """Leave out the categories that nobody of the part has, as a table of those who are in it would."""
        plain = [name for name in self.names if name not in self.parts and name not in GROUPS]
        nobody = (leaf for name in plain for leaf in LEAVES[name] if not truth[self.mask(name, leaf, names)].any())
        return replace(self, empty=tuple(nobody)) if self.parts else self

    def mask(self, name: str, leaf: str, names: str) -> Mask:
        return mask_of({**self.parts, name: leaf}, names)


def mask_of(cell: Mapping[str, str], names: str) -> Mask:
    """Return which of all inner cells a cell is made of."""
    axes = []
    for name in names:
        made = {leaf: (leaf,) for leaf in LEAVES[name]} | GROUPS.get(name, {}) | PARTS | {"Total": LEAVES[name]}
        axes.append([leaf in made[cell.get(name, "Total")] for leaf in LEAVES[name]])
    return np.asarray(np.array(list(itertools.product(*axes))).all(axis=1))


def piece_of(label: str, name: str, names: str) -> Mask:
    """Return what a label is made of, also of what tables of a part leave over."""
    if label.startswith("outside "):
        return ~mask_of({name: label.removeprefix("outside ")}, names)
    text, _, rest = label.partition(" without ")
    inside = [mask_of({name: part}, names) for part in text.split(" and ")]
    outside = [~mask_of({name: part}, names) for part in rest.split(" and ") if part]
    return np.asarray(np.logical_and.reduce([*inside, *outside]))


def everything(cells: int, people: int) -> Ints:
    """Return every table of so many people."""
    ways = np.array(list(itertools.combinations_with_replacement(range(cells), people)))
    found = np.zeros((len(ways), cells), np.int64)
    np.add.at(found, (np.arange(len(ways))[:, None], ways), 1)
    return found


WORLDS: dict[str, tuple[str, int, list[tuple[str, dict[str, str]]]]] = {
    "five tables": ("asnc", 3, [("as", {}), ("ac", {}), ("ns", {}), ("nc", {}), ("ans", {"n": "East"})]),
    "a part beside margins": ("asn", 4, [("as", {}), ("ns", {}), ("an", {"n": "East"})]),
    "a part that cuts groups": ("asn", 4, [("as", {}), ("ns", {}), ("ans", {"n": "Middle"})]),
    "two parts that overlap": ("asn", 4, [("ns", {}), ("an", {"n": "East"}), ("as", {}), ("an", {"n": "Middle"})]),
    "a part within a part": ("asn", 4, [("as", {}), ("ns", {"n": "East"}), ("an", {"n": "One"})]),
    "parts of two dimensions": ("asn", 4, [("as", {}), ("ns", {}), ("an", {"n": "East", "a": "First"})]),
    "parts of two tables": ("asn", 4, [("ns", {"n": "East"}), ("as", {"a": "First"}), ("an", {})]),
    "a part of what no table shows": ("asn", 4, [("as", {}), ("an", {"n": "East"})]),
    "one part alone": ("asn", 4, [("ns", {"n": "East"}), ("an", {"n": "East"})]),
}
ALL: dict[tuple[str, int], Ints] = {}


def check(name: str, seed: int) -> int:
    """Compare the audit of one random release with all tables; return how many figures were compared."""
    names, people, listed = WORLDS[name]
    shown = [Shown(found, parts) for found, parts in listed]
    rng = np.random.default_rng(seed)
    tables = ALL.setdefault((names, people), everything(int(np.prod([len(LEAVES[n]) for n in names])), people))
    truth = tables[rng.integers(len(tables))]
    if rng.random() < 0.5:
        shown = [table.without(truth, names) for table in shown]
    share = float(rng.choice([0.3, 0.6, 0.85]))
    figures = [table.figures(truth, rng, share, names) for table in shown]
    fits = np.ones(len(tables), bool)
    for table, part in zip(shown, figures, strict=True):
        for row in np.flatnonzero(~part.hidden):
            cell = {n: part.labels[n][code] for n, code in zip(part.names, part.codes[row], strict=True)}
            fits &= tables[:, mask_of(cell, names)].sum(axis=1) == part.values[row]
        for n in table.names:
            for leaf in set(LEAVES[n]) & set(table.empty):
                fits &= tables[:, table.mask(n, leaf, names)].sum(axis=1) == 0
    known = tables[fits]
    alone = {part for _, parts in listed for part in parts.values()} if name == "one part alone" else set()
    result = dc.audit(figures, workers=1, proofs=0)
    for found in result.cells:
        cell = {n: next(iter(alone)) if alone and n == "n" and v == "Total" else v for n, v in found.cell.items()}
        made = np.logical_and.reduce([piece_of(label, n, names) for n, label in cell.items()])
        sums = known[:, made].sum(axis=1)
        assert (found.lower, found.upper) == (sums.min(), sums.max()), (name, seed, found.name)
    if alone:
        return len(result.cells)
    # Nothing is stated that one of these tables does not fulfil.
    ways: tuple[Any, ...] = (None, {})
    for asked in ways:
        stated = equations_of(figures, asked=asked)
        cells = [stated.cell(i) for i in range(stated.lower.size)]
        masks = [np.logical_and.reduce([piece_of(label, n, names) for n, label in cell.items()]) for cell in cells]
        values = np.array(masks) @ known.T
        assert ((stated.lower[:, None] <= values) & (values <= stated.upper[:, None])).all()
        terms = values[stated.columns] * stated.signs[:, None]
        assert not np.add.reduceat(terms, stated.starts[:-1], axis=0).any()
    return len(result.cells)


@pytest.mark.parametrize("name", WORLDS)
def test_intervals_are_those_of_all_tables_that_fit(name: str) -> None:
    assert sum(check(name, seed) for seed in range(12)) > 60


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_of_many_tables(name: str) -> None:
    for seed in range(100, 600):
        check(name, seed)


# --- what goes wrong ------------------------------------------------------------------------------------------------


def regions(part: bool) -> tuple[Figures, Figures]:
    """Return a table of all regions that is safe by itself, and one of the eastern ones."""
    labels = {"region": ["e1", "e2", "w", "Total"], "sex": ["m", "f", "Total"]}
    counts = [[4, None, None], [9, 8, 17], [5, None, None], [18, 22, 40]]
    whole = Figures.from_array(counts, labels, name="all regions")
    east = Hierarchy.flat(["e1", "e2"], total="East")
    trees = {"region": (east.as_part() if part else east,), "sex": (Hierarchy.flat(["m", "f"]),)}
    labels = {"region": ["e1", "e2", "East"], "sex": ["m", "f", "Total"]}
    table = Figures.from_array([[4, None, None], [9, 8, 17], [13, 15, 28]], labels, hierarchies=trees, name="the east")
    return whole, table


def test_safe_by_itself_and_unsafe_together() -> None:
    whole, east = regions(part=True)
    assert dc.audit(whole).verdict == "safe"
    result = dc.audit([whole, east])
    assert result.verdict == "unsafe"
    west = result.cell(region="w", sex="f")
    # Women of all regions less those of the east; men are published.
    assert (west.lower, west.upper, west.alone) == (7, 7, (0, 14))
    assert west.by_linking
    assert "region=East" in west.proof


def test_a_total_under_another_name_is_refused_unless_it_is_said_what_it_is_of() -> None:
    whole, east = regions(part=False)
    with pytest.raises(DataError, match="is 'Total' in all regions and 'East' in the east; if one of them is of some"):
        dc.audit([whole, east])
    for given in (["e1", "e2", "w"], ["e1", "e2"]):
        first = Tabulation.from_table(dc.Table.from_array([1, 2, 3], {"region": ["e1", "e2", "w"]}), total="Total")
        second = Tabulation.from_table(dc.Table.from_array(range(1, len(given) + 1), {"region": given}), total="East")
        with pytest.raises(DataError, match=r"say so \(Tabulation\.as_part, Hierarchy\.as_part\), and if both"):
            dc.suppress([first, second], dc.rules.Threshold(3))


def test_a_part_needs_a_name_of_its_own_and_known_categories() -> None:
    whole, east = regions(part=True)
    tree = east.hierarchies["region"][0].as_part("Total")
    labels = {"region": ("e1", "e2", "Total"), "sex": east.labels["sex"]}
    same = replace(east, labels=labels, hierarchies={**east.hierarchies, "region": (tree,)})
    with pytest.raises(DataError, match="the total of a part of dimension 'region' is called 'Total', as that of"):
        dc.audit([whole, same])
    # Not said at all, the figures contradict each other.
    with pytest.raises(DataError, match="give that a code of its own and say so"):
        dc.audit([whole, replace(same, hierarchies={})])
    more = Hierarchy.flat(["e1", "e2", "e3"]).as_part("East")
    labels = {"region": ("e1", "e3", "East"), "sex": east.labels["sex"]}
    strange = replace(east, labels=labels, hierarchies={**east.hierarchies, "region": (more,)})
    with pytest.raises(DataError, match="category 'e3' of 'East' is in no table of everybody"):
        dc.audit([whole, strange])
    with pytest.raises(DataError, match="a part of it in one hierarchy but not in the other"):
        replace(east, hierarchies={"region": (more, Hierarchy.flat(["e1", "e3"], total="East"))})


def test_a_part_alone_is_all_that_there_is() -> None:
    _, east = regions(part=True)
    assert [axis.nodes for axis in space_of([east]).axes] == [("Total", "e1", "e2"), ("Total", "m", "f")]
    found = dc.audit(east)
    assert found.cell(region="e1", sex="f").lower == found.cell(region="e1", sex="f").upper == 7
    original = Tabulation.from_table(dc.Table.from_array([[4, 7], [9, 8]], {"region": ["e1", "e2"], "sex": ["m", "f"]}))
    # The original of the part fits it wherever it stands.
    whole, east = regions(part=True)
    dc.audit([whole, east], original=original.as_part(region="East"))
    with pytest.raises(DataError, match="the release was not made from this original"):
        dc.audit([whole, east], original=original)


def test_groups_of_some_categories_do_not_add_up_to_the_total() -> None:
    """A second hierarchy of one table may group a few categories; the total is not the sum of these groups."""
    country = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b"})
    coast = Hierarchy.from_parents({"a1": "coast", "b1": "coast"})
    counts = dc.Table.from_array([3, 1, 5], {"region": ["a1", "a2", "b1"]})
    cells = Tabulation.from_table(counts, hierarchies={"region": (country, coast)})
    figures = Figures.of_tabulation(cells, hidden=[label in ("a1", "a2") for label in cells.axes[0].codes])
    found = dc.audit(figures)
    assert (found.cell(region="a1").lower, found.cell(region="a2").upper) == (3, 1)


def test_files_keep_what_a_total_is_of(tmp_path: Any) -> None:
    table = dc.Table.from_array([[4, 7], [9, 8]], {"region": ["e1", "e2"], "sex": ["m", "f"]})
    cells = Tabulation.from_table(table).as_part(region="East")
    cells.write(tmp_path / "cells.parquet")
    assert dc.read_tabulation(tmp_path / "cells.parquet") == cells
    release = dc.Release.of(Figures.of_tabulation(cells, name="east"))
    release.write(tmp_path / "release.parquet")
    release.write(tmp_path / "release.csv")
    for back in (
        dc.read_release(tmp_path / "release.parquet"),
        dc.read_release(tmp_path / "release.csv", parts={"region": ["West", "East"]}),
    ):
        (figures,) = back.parts()
        assert figures.part("region") == "East"
        assert figures.hierarchies["region"][0].leaves == ("e1", "e2")
    # The file alone does not say that East is a total, and its figures do.
    with pytest.raises(dc.DataError, match=r"'East' of dimension 'region' is the sum .*parts={'region': ..East"):
        dc.read_release(tmp_path / "release.csv")
