"""The ledger's file: nothing is lost or half there, whatever happens to the machine, the disk or another writer."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.store import SCHEMA
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import SUPPRESSED, Kind
from discreet.table.release import Release
from discreet.table.table import Table

CRASHES = Path(__file__).with_name("ledger_crashes.py")


def small(number: int = 1) -> Release:
    return Release.of(Figures.from_array([number, None, 400], {"size": ["s", "m", "Total"]}, name=f"table {number}"))


def kill(path: Path, kills: int, seed: int) -> None:
    """Kill writers at random moments, then look at what is left."""
    command = [sys.executable, str(CRASHES), str(path), str(kills), str(seed)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(shown.stdout)
    assert told["busy"] > kills / 3
    assert len(told["done"]) > kills / 3
    with Ledger(path) as ledger:
        entries = ledger.entries()
        there = {entry.id: entry.title for entry in entries}
        for name, number in told["done"].items():
            assert there[name] == f"release {number}", "a committed release is lost"
        # Besides, each killed process may have committed one that it had no time to tell of.
        assert len(told["done"]) <= len(there) <= len(told["done"]) + kills
        for entry in entries:
            whole = ledger.release(entry.id)  # fails where digest and figures do not agree
            assert len(whole.parts()[0]) == 480
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


def test_no_kill_loses_a_release_or_leaves_half_of_one(tmp_path: Path) -> None:
    kill(tmp_path / "ledger.sqlite", 60, seed=1)


@pytest.mark.long
def test_a_thousand_kills(tmp_path: Path) -> None:
    kill(tmp_path / "ledger.sqlite", 1000, seed=2)


def test_everything_that_is_published_comes_back(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents({"n1": "n", "n2": "n"})
    figures = Figures(
        {"area": ("n", "n1", "n2"), "sex": ("m", "f")},
        [[0, 0], [1, 0], [2, 1]],  # type: ignore[arg-type]
        [125, 0, 30],  # type: ignore[arg-type]
        [0, 1, 2],  # type: ignore[arg-type]
        (Kind("random", base=5), SUPPRESSED, Kind("perturbed", bound=2)),
        name="areas",
        decimals=1,
        hierarchies={"area": (tree,)},
        absent="unpublished",
    )
    release = Release(None, "some-method", {"base": 5}, (figures,))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        entry = ledger.add(release, title="Areas", population="all", period="2024", published="2024-05-31")
    with Ledger(tmp_path / "l.sqlite", create=False) as ledger:
        back = ledger.release(entry.id)
        assert ledger.entry("Areas") == ledger.entry(entry.id[:4]) == entry
    part = back.parts()[0]
    assert (back.method, dict(back.parameters)) == ("some-method", {"base": 5})
    assert part.labels == figures.labels
    assert part.codes.tolist() == figures.codes.tolist()
    assert part.values.tolist() == figures.values.tolist()
    assert part.kinds == figures.kinds
    assert part.hierarchies == figures.hierarchies
    assert (part.name, part.decimals, part.total, part.absent) == ("areas", 1, "Total", "unpublished")


def test_the_file_holds_nothing_of_the_originals(tmp_path: Path) -> None:
    """Only what is published enters the ledger; the original lies in a folder that nobody else can enter."""
    ledger_file, original = tmp_path / "l.sqlite", tmp_path / "true.csv"
    original.write_text("size,count\ns,1\nm,739213\n", encoding="utf-8")
    with Ledger(ledger_file) as ledger:
        entry = ledger.add(small(), title="Sizes", original=original)
        kept = ledger.originals.path(entry.id)
        assert kept.read_bytes() == original.read_bytes()
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert kept.parent.parent == tmp_path
        body = ledger._store.read("SELECT * FROM figures")
    assert "739213" not in str(body)
    for file in tmp_path.glob("l.sqlite*"):
        if file.is_file():
            assert b"739213" not in file.read_bytes()


def test_a_missing_original_is_said_and_nothing_is_added(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(RequestError, match=r"no original .*gone\.csv"):
            ledger.add(small(), title="Sizes", original=tmp_path / "gone.csv")
        assert len(ledger) == 0
        entry = ledger.add(small(), title="Sizes")
        with pytest.raises(RequestError, match="was not kept"):
            ledger.originals.path(entry.id)


def test_the_same_release_is_not_added_twice(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        entry = ledger.add(small(), title="Sizes")
        with pytest.raises(RequestError, match=f"already, as {entry.id}"):
            ledger.add(small(), title="Sizes")
        ledger.add(small(), title="Sizes", period="2025")
        assert len(ledger) == 2
        with pytest.raises(RequestError, match="names 2 releases"):
            ledger.entry("Sizes")


def test_a_newer_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        ledger.add(small(), title="Sizes")
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version={SCHEMA + 1}")
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(DataError, match=f"newer discreet .version {SCHEMA + 1}.*update discreet"):
        Ledger(path)
    assert path.read_bytes() == before


def test_files_that_are_no_ledgers_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and long enough to be read as one" * 50, encoding="utf-8")
    with pytest.raises(DataError, match="not a ledger, or is damaged"):
        Ledger(text)
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE things (name TEXT)")
    db.commit()
    db.close()
    before = other.read_bytes()
    with pytest.raises(DataError, match="not a ledger of discreet"):
        Ledger(other)
    assert other.read_bytes() == before
    with pytest.raises(RequestError, match="there is no ledger"):
        Ledger(tmp_path / "none.sqlite", create=False)
    with pytest.raises(RequestError, match="is a folder"):
        Ledger(tmp_path)
    with pytest.raises(RequestError, match="is not a folder"):
        Ledger(tmp_path / "nowhere" / "l.sqlite")


def test_a_changed_figure_is_noticed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        first, second = (ledger.add(small(n), title=f"t{n}") for n in (1, 2))
        with ledger._store.writing() as db:
            ((body,),) = db.execute("SELECT body FROM figures WHERE id = ?", (second.id,)).fetchall()
            db.execute("UPDATE figures SET body = ? WHERE id = ?", (body, first.id))
        with pytest.raises(DataError, match="not as it was added"):
            ledger.release(first.id)
        assert ledger.release(second.id).parts()[0].name == "table 2"


FULL = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from ledger_crashes import release
from discreet.core.errors import LimitError
from discreet.decide.ledger import Ledger
ledger = Ledger(Path({path!r}))
kept = [ledger.add(release(n), title=f"release {{n}}").id for n in range(5)]
# From here on every file may grow to this size and no further, as on a disk that is full.
room = Path({path!r}).stat().st_size + 20000
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    for n in range(5, 200):
        kept.append(ledger.add(release(n), title=f"release {{n}}").id)
except LimitError as error:
    print(str(error))
print(len(kept), len(ledger.entries()), [e.id for e in ledger.entries()] == kept)
"""


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    script = FULL.format(tests=str(CRASHES.parent), path=str(path))
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    message, counts = shown.stdout.splitlines()
    assert "disk is full" in message
    assert "Nothing was added" in message
    kept = int(counts.split()[0])
    assert counts == f"{kept} {kept} True"
    with Ledger(path) as ledger:
        assert len([ledger.release(entry.id) for entry in ledger.entries()]) == kept
        ledger.add(small(), title="when there is room again")
        assert len(ledger) == kept + 1


def add_some(path: Path, first: int) -> None:
    for number in range(first, first + 10):
        with Ledger(path) as ledger:
            ledger.add(small(number), title=f"t{number}")


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    """Several processes begin the same ledger and add to it at once: all that they add is there."""
    path = tmp_path / "l.sqlite"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=add_some, args=(path, 100 * k)) for k in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Ledger(path) as ledger:
        assert {e.title for e in ledger.entries()} == {f"t{100 * k + i}" for k in range(3) for i in range(10)}


def test_a_writer_that_never_ends_is_said(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger, Ledger(path, wait=0.2) as other:
        with ledger._store.writing():
            begun = time.monotonic()
            with pytest.raises(LimitError, match="being written by somebody else"):
                other.add(small(), title="Sizes")
            assert time.monotonic() - begun >= 0.2
            assert other.entries() == ()  # readers do not wait
        other.add(small(), title="Sizes")
        assert len(ledger) == 1


def test_a_table_is_kept_as_its_figures(tmp_path: Path) -> None:
    table = Table.from_array([[3, 0], [6, 9]], {"a": ["x", "y"], "b": ["u", "v"]})
    with Ledger(tmp_path / "l.sqlite") as ledger:
        entry = ledger.add(Release(table, "random-rounding", {"base": 3}, kind=Kind("random", base=3)), title="T")
        assert entry.figures == 4
        assert ledger.release(entry.id).parts()[0].ranges()[1].tolist() == [5, 2, 8, 11]


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"title": " "}, "give the release a title"),
        ({"title": "T", "published": "31.5.2024"}, "write it as 2024-05-31"),
    ],
)
def test_bad_descriptions(tmp_path: Path, about: dict[str, Any], message: str) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(RequestError, match=message):
            ledger.add(small(), **about)
        assert len(ledger) == 0


@pytest.mark.parametrize("what", ["population", "period", "variable"])
def test_a_description_that_is_no_text_is_refused_with_its_name(what: str, tmp_path: Path) -> None:
    described = {what: None}
    (tmp_path / "t.csv").write_text("area,count\nN,5\nS,x\nTotal,9\n", encoding="utf-8")
    with (
        Ledger(tmp_path / "l.sqlite") as ledger,
        pytest.raises(RequestError, match=f"the {what} is None; give a text, or leave it out"),
    ):
        ledger.check(tmp_path / "t.csv", **described)  # type: ignore[arg-type]
