"""Two attacks on seeds, as a reader of two releases would make them: each works on fresh draws, and none on these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.cli.running import rows_of, run

import discreet as dc
from discreet.decide.protections import make_method
from discreet.protect import (
    METHODS,
    BernoulliSample,
    RandomRounding,
    RandomSample,
    RecordSwapping,
    StratifiedSample,
    TableSwapping,
    TabularAdjustment,
)
from discreet.protect.random_rounding import round_once
from discreet.rules import PPercent
from discreet.table.frames import to_arrow
from discreet.table.tabulation import Tabulation

SEED = 2**127 + 20240531
ROWS = [
    *(("b", "y", 7), ("a", "x", 5), ("c", "z", 11), ("a", "y", 4), ("b", "x", 13), ("c", "x", 2)),
    *(("a", "z", 8), ("b", "z", 1), ("c", "y", 10), ("d", "x", 14), ("d", "z", 16), ("d", "y", 19)),
]
SETTINGS: dict[str, dict[str, Any]] = {
    "random-rounding": {},
    "random-rounding with margins": {"margins": True},
    "random-rounding, sums": {"additive": True},
    "cell-key": {},
    "cell-key with margins": {"margins": True},
    "small-count-rounding": {},
    "semi-controlled-rounding": {"totals": ("region",)},
    "controlled-rounding": {},
    "controlled-rounding unbiased": {"unbiased": True},
    "conventional-rounding": {},
    "hide-and-round": {"limit": 3},
    "random-sample": {"n": 60},
    "stratified-sample": {"by": "region", "fraction": 0.5, "known_total": True},
    "bernoulli-sample": {"rate": 0.5},
    "record-swapping": {"area": "region", "rate": 0.3},
    "table-swapping": {"rate": 0.3},
    "simulation": {},
    "simulation, uniform": {"law_name": "uniform", "engine": "counting"},
    "chain": {"steps": (TableSwapping(rate=0.3), RandomRounding(3))},
}
GROUPED = ("semi-controlled-rounding", "small-count-rounding", "controlled-rounding", "controlled-rounding unbiased")
"""Methods that keep the sums of groups, so that a hierarchy makes another release."""
UNDRAWN = {
    "suppress": "hides figures, and draws nothing",
    "redesign": "merges categories, and draws nothing",
    "tabular-adjustment": "draws nothing; its figures are compared below",
}


def frames() -> list[Any]:
    """Return one table as frames of every type, with rows, columns and categories in several orders."""
    plain = pd.DataFrame(ROWS, columns=["region", "size", "count"])
    coded = plain.assign(region=pd.Categorical(plain["region"], categories=["d", "b", "a", "c"]))
    return [
        plain,
        plain.sort_values(["region", "size"]),
        plain.iloc[::-1],
        plain[["size", "region", "count"]],
        coded,
        pl.DataFrame(ROWS, schema=["region", "size", "count"], orient="row"),
        pa.Table.from_pylist([dict(zip(("region", "size", "count"), row, strict=True)) for row in sorted(ROWS)]),
    ]


def published(release: dc.Release) -> dict[frozenset[tuple[str, str]], int]:
    """Return the figures that are not 0, by their labels."""
    found = {}
    for part in release.parts():
        for codes, value in zip(part.codes.tolist(), part.values.tolist(), strict=True):
            found[frozenset((n, part.labels[n][c]) for n, c in zip(part.names, codes, strict=True))] = value
    return {label: value for label, value in found.items() if value}


def method_of(name: str) -> Any:
    method: Any = METHODS[name.split(",")[0].split(" ")[0]]
    return method(**SETTINGS[name])


def test_every_protection_is_among_these() -> None:
    assert {name.split(",")[0].split(" ")[0] for name in SETTINGS} | set(UNDRAWN) == set(METHODS)


def of_inner_cells(release: dc.Release) -> dict[frozenset[tuple[str, str]], int]:
    """Return the figures of inner cells that are not 0, by their labels; intervals by their lower end."""
    leaves = {*"abcdxyz"}
    return {label: value for label, value in published(release).items() if {one for _, one in label} <= leaves}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_table_in_another_order_is_published_with_the_same_noise(name: str) -> None:
    method = method_of(name)
    releases = [method.apply(dc.Table.from_frame(frame), SEED).release for frame in frames()]
    first, *others = (published(release) for release in releases)
    assert all(other == first for other in others)
    # The release itself is in the order of its table.
    for frame, release in zip(frames(), releases, strict=True):
        table = dc.Table.from_frame(frame)
        for part in release.parts():
            assert list(part.names) == [n for n in table.names if n in part.names]
            for dimension in table.dimensions:
                listed = [label for label in part.labels[dimension.name] if label in dimension.categories]
                assert listed == list(dimension.categories)


@pytest.mark.parametrize("name", SETTINGS)
def test_counts_with_and_without_their_margins_are_published_with_the_same_noise(name: str) -> None:
    """Inner cells draw alike whether a table is held as inner counts or with all margins."""
    method = method_of(name)
    tables = [dc.Table.from_frame(frame) for frame in frames()]
    inner = [of_inner_cells(method.apply(table, SEED).release) for table in tables]
    whole = [of_inner_cells(method.apply(Tabulation.from_table(table), SEED).release) for table in tables]
    assert all(other == inner[0] for other in [*inner, *whole])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_hierarchy_in_another_order_is_published_with_the_same_noise(name: str) -> None:
    method = method_of(name)
    table = dc.Table.from_frame(frames()[0])
    trees = [dc.Hierarchy.from_hrc(text) for text in ("n\n@b\n@a\ns\n@d\n@c\n", "s\n@c\n@d\nn\n@a\n@b\n")]
    made = []
    for tree in trees:
        cells = Tabulation.from_table(table, hierarchies={"region": tree})
        release = method.apply(cells, SEED).release
        made.append(published(release))
        for part in release.parts():
            if part.hierarchies and method.name != "chain":
                assert part.hierarchies["region"] == (tree,)
                assert part.labels["region"] == tree.codes
    assert made[0] == made[1]
    if name not in GROUPED:
        assert of_inner_cells(release) == of_inner_cells(method.apply(table, SEED).release)


SEVERAL = {
    "whole": ("n\n@b\n@a\ns\n@d\n@c\n", "e\n@d\n@a\nw\n@c\n@b\n"),
    "with what is left": ("n\n@d\n@c\nb\na\n", "m\n@b\n@a\nc\nd\n"),
    "one of a part": ("t\n@d\n@b\n", "n\n@b\n@a\ns\n@d\n@c\n"),
    "of parts": ("t\n@d\n@b\n", "u\n@c\n@b\n@a\n"),
}
"""Several hierarchies of one dimension, each with groups of its own."""


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("texts", SEVERAL.values(), ids=SEVERAL)
def test_several_hierarchies_in_another_order_are_published_with_the_same_noise(
    texts: tuple[str, str], name: str
) -> None:
    method = method_of(name)
    table = dc.Table.from_frame(frames()[0])
    one, other = (dc.Hierarchy.from_hrc(text) for text in texts)
    made = []
    for trees in ((one, other), (other, one)):
        release = method.apply(Tabulation.from_table(table, hierarchies={"region": trees}), SEED).release
        made.append(published(release))
        for part in release.parts():
            if part.hierarchies and method.name != "chain":
                assert part.hierarchies["region"] == trees
    assert made[0] == made[1]
    if name not in GROUPED:
        assert of_inner_cells(release) == of_inner_cells(method.apply(table, SEED).release)


def test_amounts_in_another_order_are_adjusted_alike() -> None:
    firms = pd.DataFrame({"region": list("cabbacab"), "size": list("ssllslls"), "firm": list("ABCDEFGH")})
    firms["turnover"] = [900, 40, 7, 300, 25, 60, 110, 8]
    method = TabularAdjustment(rules=(PPercent(10),))
    made = [
        published(method.apply(dc.tabulate(rows, by, value="turnover", contributor="firm")).release)
        for rows in (firms, firms.iloc[::-1])
        for by in (["region", "size"], ["size", "region"])
    ]
    assert all(one == made[0] for one in made)


@pytest.mark.parametrize(
    "method",
    [
        RandomSample(n=9),
        BernoulliSample(rate=0.4),
        StratifiedSample(by="area", fraction=0.5),
        RecordSwapping(area="area", match=("sex",), rate=0.5),
    ],
    ids=lambda method: str(method.name),
)
def test_records_in_another_order_or_type_are_drawn_alike(method: Any, tmp_path: Path) -> None:
    people = pd.DataFrame({"id": range(30), "area": list("cab") * 10, "sex": list("mmfff") * 6})
    people.to_csv(tmp_path / "people.csv", index=False)
    people.sort_values(["sex", "id"]).to_parquet(tmp_path / "people.parquet", index=False)
    drawn = []
    for given in (
        people,
        people.iloc[::-1],
        people[["sex", "area", "id"]],
        people.astype(str),
        pl.from_pandas(people),
        tmp_path / "people.csv",
        tmp_path / "people.parquet",
    ):
        made = method.records(given, SEED)
        arrow = to_arrow(getattr(made, "records", made))
        drawn.append({tuple(str(row[n]) for n in ("id", "area", "sex")) for row in arrow.to_pylist()})
    assert all(one == drawn[0] for one in drawn)
    assert drawn[0] != {(str(row.id), row.area, row.sex) for row in people.itertuples()}


def test_files_in_another_order_are_published_with_the_same_noise(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for number, rows in enumerate((ROWS, ROWS[::-1], sorted(ROWS))):
        text = "region,size,count\n" + "".join(f"{a},{b},{n}\n" for a, b, n in rows)
        Path(f"{number}.csv").write_text(text, encoding="utf-8")
        made = run("protect", "random-rounding", f"{number}.csv", "--seed", SEED, "-o", f"{number}.out.csv")
        assert made.code == 0, made
        again = run("protect", "random-rounding", f"{number}.csv", "--seed", SEED, "-o", f"{number}.again.csv")
        assert again.code == 0
    shown = [{(r["region"], r["size"]): r["count"] for r in rows_of(Path(f"{i}.out.csv"))} for i in range(3)]
    assert shown[0] == shown[1] == shown[2]


def left_open(base: int, *seen: int) -> set[int]:
    """Return the counts that a reader of several roundings of one count cannot rule out."""
    return set.intersection(*(set(range(max(0, y - base + 1), y + base)) for y in seen))


def test_attack_by_reading_the_table_again_in_another_order() -> None:
    """Two roundings of one count to base 5 leave fewer values open than one, if their noise is not the same."""
    counts = np.arange(1, 400)
    one, other = (round_once(counts, 5, SEED), round_once(counts[::-1], 5, SEED)[::-1])
    narrowed = sum(
        len(left_open(5, int(a), int(b))) < len(left_open(5, int(a))) for a, b in zip(one, other, strict=True)
    )
    assert narrowed > 100, "the attack works where noise depends on the order"
    frame = pd.DataFrame({"age": [f"a{n:03}" for n in counts], "count": counts})
    method = make_method("random-rounding", {"base": 5}, None, None)
    first, second = (
        published(method.apply(dc.Table.from_frame(rows), SEED).release) for rows in (frame, frame.iloc[::-1])
    )
    assert first == second


def test_attack_by_trying_all_seeds() -> None:
    """Whoever can try the seed undoes the release: a short one makes a trial, which is not written."""
    table = dc.Table.from_frame(frames()[0])
    method = make_method("random-rounding", {"base": 5}, None, None)
    secret = 123
    shown = published(method.apply(table, secret).release)
    hits = [seed for seed in range(200) if published(method.apply(table, seed).release) == shown]
    assert secret in hits, "the attack works on a seed that can be tried"
    assert len(hits) < 20
    assert method.apply(table, secret).release.trial
    with pytest.raises(dc.RequestError, match="made for a trial"):
        method.apply(table, secret).release.write("never.csv")
    assert not method.apply(table, SEED).release.trial
