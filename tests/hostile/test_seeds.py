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
from tests.measuring import first_measured

import discreet as dc
from discreet.decide.protections import make_method
from discreet.protect.random_rounding import round_once

SEED = 2**127 + 20240531
ROWS = [
    *(("b", "y", 7), ("a", "x", 5), ("c", "z", 11), ("a", "y", 4), ("b", "x", 13), ("c", "x", 2)),
    *(("a", "z", 8), ("b", "z", 1), ("c", "y", 10), ("d", "x", 14), ("d", "z", 16), ("d", "y", 19)),
]
METHODS: dict[str, dict[str, Any]] = {
    "random-rounding": {},
    "random-rounding with margins": {"margins": True},
    "cell-key": {},
    "small-count-rounding": {},
    "semi-controlled-rounding": {},
    "controlled-rounding unbiased": {"unbiased": True},
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


@pytest.mark.parametrize("name", METHODS)
def test_the_same_table_in_another_order_is_published_with_the_same_noise(name: str) -> None:
    method = make_method(name.split(" ")[0], METHODS[name], None, None)
    releases = [method.apply(dc.Table.from_frame(frame), SEED).release for frame in frames()]
    first, *others = (published(release) for release in releases)
    assert all(other == first for other in others)
    # The release itself is in the order of its table.
    for frame, release in zip(frames(), releases, strict=True):
        table = dc.Table.from_frame(frame)
        for part in release.parts():
            assert list(part.names) == [n for n in table.names if n in part.names]


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
    hits = [seed for seed in first_measured(range(200)) if published(method.apply(table, seed).release) == shown]
    assert secret in hits, "the attack works on a seed that can be tried"
    assert len(hits) < 20
    assert method.apply(table, secret).release.trial
    with pytest.raises(dc.RequestError, match="made for a trial"):
        method.apply(table, secret).release.write("never.csv")
    assert not method.apply(table, SEED).release.trial
