"""``discreet protect cell-key`` and ``discreet protect ptable``."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.running import refused, rows_of, run
from tests.protect.cell_key.test_keys import people

import discreet as dc
from discreet.protect.cell_key import CellKey, KeyedTable, design_ptable, read_ptable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dc.Table.from_array([[1, 5, 0], [6, 2, 9]], ["area", "sex"]).write(tmp_path / "table.csv")
    people(120, 1).assign(id=range(120)).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "secret.txt").write_text("a secret of more than 16 bytes\n")
    return tmp_path


def counts_of(path: Path) -> dict[tuple[str, ...], int]:
    return {
        tuple(row[name] for name in row if name not in ("count", "published_as")): int(row["count"])
        for row in rows_of(path)
    }


def test_a_table(folder: Path) -> None:
    out = folder / "out.csv"
    outcome = run(
        *("protect", "cell-key", folder / "table.csv", "--bound", 2, "--variance", 1, "--minimum", 2),
        *("--seed", 1, "--trial", "-o", out, "--json"),
    )
    assert outcome.code == 0, outcome.err
    data = json.loads(outcome.out)
    assert data["method"] == "cell-key"
    assert data["parameters"] == {"bound": 2, "variance": 1.0, "minimum": 2}
    assert data["largest"] <= 2
    assert 0 < data["utility"] <= 1
    expected = dc.protect.cell_key(dc.read_table(folder / "table.csv"), design_ptable(2, 1, minimum=2), seed=1)
    assert counts_of(out) == {
        tuple(expected.table.label(i).values()): n for i, n in enumerate(expected.table.to_array().ravel().tolist())
    }
    assert run("audit", out, "--json").code in (0, 1)


def test_the_bound_that_was_asked_for_is_kept_and_a_narrower_noise_is_named(folder: Path) -> None:
    asked = ("protect", "cell-key", folder / "table.csv", "--bound", 5, "--variance")
    narrow = json.loads(run(*asked, 0.01, "--json").out)
    assert narrow["parameters"]["bound"] == 5
    assert any("at most 5 was asked for" in note for note in narrow["notes"])
    wide = json.loads(run(*asked, 3, "--json").out)
    assert wide["parameters"]["bound"] == 5
    assert not any("asked for;" in note for note in wide["notes"])


def test_records_get_the_same_noise_in_every_table(folder: Path) -> None:
    keys = ("--record-key", "key", "--key-range", 256)
    for name, by in (("two.csv", "area,sex"), ("one.csv", "sex")):
        outcome = run("protect", "cell-key", folder / "people.csv", "--by", by, *keys, "-o", folder / name)
        assert outcome.code == 0, outcome.err
    assert "256 cell keys only" in outcome.out.replace("\n", " ")
    two, one = counts_of(folder / "two.csv"), counts_of(folder / "one.csv")
    assert len(one) == 3
    assert all(two["Total", sex] == value for (sex,), value in one.items())


def test_a_secret_is_used_and_kept_nowhere(folder: Path) -> None:
    out = folder / "out.parquet"
    outcome = run(
        *("protect", "cell-key", folder / "people.csv", "--by", "area,sex", "--secret", folder / "secret.txt"),
        *("--identify", "id", "-o", out, "--json"),
    )
    assert outcome.code == 0, outcome.err
    assert "a secret of" not in outcome.out + outcome.err
    assert b"a secret of" not in out.read_bytes()
    frame = pd.read_csv(folder / "people.csv")
    keyed = KeyedTable.from_records(frame, ["area", "sex"], identify=["id"], secret="a secret of more than 16 bytes")
    assert dc.read_release(out).table == CellKey().apply(keyed).release.table
    law = dc.read_release(out).figures[0].kinds[0]
    assert law == design_ptable(5, 3).kind


def test_amounts(folder: Path) -> None:
    outcome = run(
        *("protect", "cell-key", folder / "people.csv", "--by", "sex", "--value", "x", "--record-key", "share"),
        *("--key-range", 1, "--share", 0.2, "--largest-weights", "1,0.5,0.2", "-o", folder / "out.csv", "--json"),
    )
    assert outcome.code == 0, outcome.err
    data = json.loads(outcome.out)
    assert data["parameters"]["weights"] == [1.0, 0.5, 0.2]
    assert {row["published_as"] for row in rows_of(folder / "out.csv")} == {"relative fraction=0.2 rows=3"}


def test_perturbation_tables(folder: Path) -> None:
    out = folder / "p.txt"
    outcome = run("protect", "ptable", "--bound", 5, "--variance", 3, "--minimum", 3, "-o", out)
    assert outcome.code == 0, outcome.err
    assert "noise of at most 5" in outcome.out
    assert read_ptable(out).law == design_ptable(5, 3, minimum=3).law
    data = json.loads(run("protect", "ptable", "--bound", 2, "--variance", 1, "--json").out)
    assert data["bound"] == 2
    first = run("protect", "cell-key", folder / "table.csv", "--ptable", out, "--seed", 3, "--trial", "--json")
    second = run("protect", "cell-key", folder / "table.csv", "--minimum", 3, "--seed", 3, "--trial", "--json")
    assert json.loads(first.out)["parameters"] == json.loads(second.out)["parameters"]
    help_text = run("protect", "cell-key", "--help")
    assert help_text.code == 0
    assert "--secret" in help_text.out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["table.csv", "--bound", 5, "--variance", 30], "no perturbation table has bound 5, variance 30"),
        (["table.csv", "--ptable", "p.txt", "--bound", 5], "leave out --bound"),
        (["table.csv", "--ptable", "none.txt"], "cannot be read"),
        (["table.csv", "--record-key", "key"], "name their file, and the columns that classify them (--by)"),
        (["table.csv", "--identify", "id"], "give --secret, or --record-key"),
        (["people.csv", "--by", "sex", "--secret", "secret.txt"], "name them with --identify"),
        (["people.csv", "--by", "sex", "--secret", "none.txt", "--identify", "id"], "cannot be read"),
        (["people.csv", "--by", "sex", "--record-key", "key", "--identify", "id"], "leave --identify out"),
        (["people.csv", "--by", "sex", "--record-key", "kez"], "no record key column 'kez'"),
        (["people.csv", "--by", "sex", "--record-key", "age", "--key-range", 2], "record key 'age' is"),
        (["people.csv", "--by", "sex", "--record-key", "key", "--seed", 1, "--trial"], "leave the seed out"),
        (
            ["people.csv", "--by", "sex", "--record-key", "key", "--largest-weights", "1,a"],
            "--largest-weights is '1,a'",
        ),
        (["half.csv"], "1.5"),
    ],
)
def test_bad_requests(arguments: list[object], reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Path("half.csv").write_text("area,count\n1,1.5\n2,3\n")
    assert reason in refused(run("protect", "cell-key", *arguments, "-o", "out.csv"))
    assert not Path("out.csv").exists()


def test_a_perturbation_table_of_a_file_is_no_release(tmp_path: Path) -> None:
    file = tmp_path / "ptable.csv"
    assert run("protect", "ptable", "-o", file).code == 0
    for word in ("ptable", "file"):
        outcome = run("assess", "--example", "religion", "--method", f"cell-key:{word}={file}")
        assert "after protection by cell-key" in " ".join(outcome.out.split()), outcome.err
    missing = run("assess", "--example", "religion", "--method", f"cell-key:ptable={tmp_path / 'none.csv'}")
    assert missing.code == 2
    assert f"{tmp_path / 'none.csv'}" in missing.err
    assert "cell-key:" not in missing.err
    twice = run("assess", "--example", "religion", "--method", f"cell-key:ptable={file},file={file}")
    assert (twice.code, "give one of them" in twice.err) == (2, True)
