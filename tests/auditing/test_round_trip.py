"""A release that is written and read back is audited alike, and holds nothing that is not published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.auditing.examples import table_1
from tests.plain import data_of

import discreet as dc
from discreet import Figures, Hierarchy, Kind, Release, Table

TREE = Hierarchy.from_parents({"a1": "a", "a2": "a", "b": "Total"})


def mixed() -> Release:
    """Exact, hidden, rounded and perturbed figures and an interval, with decimals and a hierarchy."""
    labels = {"x": ("a1", "a2", "a", "b", "Total")}
    kinds = (Kind(), Kind("suppressed"), Kind("random", base=30), Kind("perturbed", bound=2), Kind("interval"))
    shown = Figures(
        labels,
        np.arange(5)[:, None],
        np.array([0, 120, 150, 305, 450]),
        np.array([1, 4, 2, 3, 0]),
        kinds,
        decimals=1,
        hierarchies={"x": (TREE,)},
        upper=np.array([0, 160, 0, 0, 0]),
        name="mixed",
    )
    return Release.of(shown, "several")


def releases() -> dict[str, Release]:
    table = Table.from_array([[1, 5, 0], [6, 2, 0]], {"area": ["n", "=s"], "sex": ["m", "f", "x,y"]})
    counts = dc.Tabulation.from_table(table)
    hidden = counts.records == 1
    return {
        "suppressed": Release.of(table_1()),
        "rounded": dc.protect.random_rounding(table, base=3, seed=1),
        "sampled": dc.protect.random_sample(table, 6, seed=1),
        "as published": Release(table),
        "tabulation": Release.of(Figures.of_tabulation(counts, hidden=hidden, name="t")),
        "mixed": mixed(),
    }


def plain(release: Release, law: str, **reading: Any) -> Any:
    data = data_of(dc.audit(release, law=law, **reading))
    if not data["cells"]:
        # A CSV file lists empty cells too.
        data.pop("published"), data.pop("sentence")
    for cell in data["cells"]:
        cell.pop("proof")  # it names the table, which a CSV file calls by its own name
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("name", list(releases()))
@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_the_same_audit_before_and_after(name: str, ending: str, tmp_path: Path) -> None:
    release = releases()[name]
    written = release.write(tmp_path / f"r.{ending}", trial=release.trial)
    assert written == (tmp_path / f"r.{ending}",)
    hierarchies = {"x": TREE} if name == "mixed" and ending == "csv" else None
    back = dc.read_release(written[0], hierarchies=hierarchies)
    assert back.trial == release.trial
    for law in ("interval", "method"):
        assert plain(back, law) == plain(release, law)
    if ending != "csv":
        assert (back.method, dict(back.parameters)) == (release.method, dict(release.parameters))
    if release.inner is not None:
        assert dc.read_table(written[0]) == release.inner


def test_linked_tables_become_numbered_files(tmp_path: Path) -> None:
    parts = [
        Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]}, name="one"),
        Figures.from_array([[3, 6]], {"y": ["1"], "z": ["1", "2"]}, name="two"),
    ]
    files = Release.of(parts).write(tmp_path / "r.csv")
    assert [file.name for file in files] == ["r-1.csv", "r-2.csv"]
    back = dc.audit([dc.read_release(file) for file in files])
    assert [c.upper for c in back.cells] == [c.upper for c in dc.audit(parts).cells]


def test_a_known_law_stays_known_in_parquet_and_says_what_is_behind_figures_in_csv(tmp_path: Path) -> None:
    law = (((0, 1.0),), ((-1, 0.25), (0, 0.5), (1, 0.25)))
    release = Release(Table.from_array([3, 0, 1], ["x"]), "cell-key", kind=Kind("perturbed", bound=1, law=law))
    (file,) = release.write(tmp_path / "k.parquet")
    assert dc.read_release(file).figures[0].kinds[0] == release.kind
    (file,) = release.write(tmp_path / "k.csv")
    back = dc.read_release(file)
    # Nobody is behind a 0 that noise leaves alone, so that a published 1 came from 1 or 2.
    assert set(back.figures[0].kinds[3:]) == {
        Kind("perturbed", bound=1),
        Kind("perturbed", bound=1, least=0),
        Kind("perturbed", bound=1, least=1),
    }
    assert [(one.lower, one.upper) for one in dc.audit(back).cells] == [
        (one.lower, one.upper) for one in dc.audit(release).cells
    ]
    assert {data_of(one)["basis"] for one in dc.audit(back, law="method").cells} == {"not shown"}


def test_nothing_hidden_is_in_a_file(tmp_path: Path) -> None:
    table = Table.from_array([[7919, 104729], [1299709, 15485863]], ["a", "b"])
    cells = dc.Tabulation.from_table(table)
    hidden = np.isin(cells.records, [7919, 104729, 1299709, 15485863])
    release = Release.of(Figures.of_tabulation(cells, hidden=hidden))
    for ending in ("csv", "parquet"):
        (file,) = release.write(tmp_path / f"r.{ending}")
        text = file.read_bytes() if ending == "csv" else str(pq.read_table(file).to_pydict()).encode()
        text += b"" if ending == "csv" else str(pq.read_schema(file).metadata).encode()
        for value in (7919, 104729, 1299709, 15485863):
            assert str(value).encode() not in text


def test_files_that_contradict_themselves(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    for text, message in [
        (
            "x,count,published_as\n1,4,suppressed\n",
            "line 2: the figure is said to be 'suppressed', but a figure is shown",
        ),
        ("x,count,published_as\n1,x,exact\n", "said to be 'exact', but a suppression mark is there"),
        ("x,count,published_as\n1,4,random base=3\n", "cell x=1 is 4, which is not a multiple of the rounding base 3"),
        ("x,count,published_as\n1,4,rounded up\n", "published_as is 'rounded up'"),
        ("x,count,published_as\n1,4,roundd\n", "no kind of figure 'roundd'"),
        ("x,count,lower,upper\n1,4,1,9\n", "the figure 4 has an interval beside it"),
        ("x,count,lower,upper\n1,x,9,1\n", "is published as 9 to 1"),
    ]:
        path.write_text(text)
        with pytest.raises((dc.DataError, dc.RequestError), match=message):
            dc.read_release(path)
    with pytest.raises(dc.RequestError, match="not a format that is written"):
        mixed().write(tmp_path / "r.xls")
    bad = Figures.from_array([3], {"count": ["1"]})
    with pytest.raises(dc.RequestError, match="dimension 'count' has the name of a column of figures"):
        Release.of(bad).write(path)
    (file,) = mixed().write(tmp_path / "r.parquet")
    arrow = pq.read_table(file)
    note = json.loads(arrow.schema.metadata[b"discreet"])
    for change, message in (
        ({"schema": 99}, "version 99"),
        ({"kinds": [{"nme": 1}]}, "note about its figures is damaged"),
    ):
        damaged = arrow.replace_schema_metadata({b"discreet": json.dumps(note | change).encode()})
        pq.write_table(pa.table(damaged), file)
        with pytest.raises(dc.DataError, match=message):
            dc.read_release(file)


def test_intervals_instead_of_hidden_figures_are_judged(tmp_path: Path) -> None:
    shown = Figures(
        {"x": ("1", "2", "Total")},
        np.arange(3)[:, None],
        np.array([1, 2, 9]),
        np.array([1, 1, 0]),
        (Kind(), Kind("interval")),
        upper=np.array([4, 8, 0]),
    )
    result = dc.audit(shown)
    assert {c.name: (c.lower, c.upper) for c in result.cells} == {"x=1": (1, 4), "x=2": (5, 8)}
    (file,) = Release.of(shown).write(tmp_path / "i.csv")
    assert file.read_text().splitlines()[1].split(",")[1:] == ['"x"', "1", "4", '"interval rows=3"']
