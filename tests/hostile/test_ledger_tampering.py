"""A ledger that was changed, cut, or copied in part is refused, with the place where its chain breaks."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from tests.cli.running import refused, run

from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.history import Head, History, LedgerEvent, event
from discreet.decide.ledger.packing import digest, packed
from discreet.table.figures import Figures
from discreet.table.release import Release

OLD = "area,age,count\nn,0-4,29\nn,5-9,36\ns,0-4,31\ns,5-9,39\n"
NEW = "area,age,count\nn,0-5,33\nn,6-9,32\ns,0-5,49\ns,6-9,21\n"
BOOK = Path("ledger.sqlite")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_LEDGER", "DISCREET_LEDGER_KEY"):
        monkeypatch.delenv(name, raising=False)
    Path("old.csv").write_text(OLD, encoding="utf-8")
    Path("new.csv").write_text(NEW, encoding="utf-8")
    Path("more.csv").write_text("area,count\nn,65\ns,70\n", encoding="utf-8")
    return tmp_path


def begin(*more: str) -> str:
    """Begin a ledger beside which ``new.csv`` is unsafe; return the id of the release that makes it so."""
    added = run("ledger", "add", "old.csv", "--title", "Fives", "--json", *more)
    assert added.code == 0, added
    assert run("ledger", "add", "more.csv", "--title", "Areas", *more).code == 0
    assert run("ledger", "check", "new.csv").code == 1
    return str(json.loads(added.out)["id"])


def sql(statement: str, *values: object) -> None:
    db = sqlite3.connect(BOOK)
    db.execute(statement, values)
    db.commit()
    db.close()


def said(number: int) -> dict[str, object]:
    db = sqlite3.connect(BOOK)
    ((text,),) = db.execute("SELECT said FROM event WHERE number = ?", (number,)).fetchall()
    db.close()
    return dict(json.loads(text))


CHANGES: dict[str, Callable[[str], None]] = {
    **{
        f"another {name}": lambda _, name=name, value=value: sql(  # type: ignore[misc]
            "UPDATE event SET said = ? WHERE number = 1", json.dumps(said(1) | {name: value})
        )
        for name, value in {
            "variable": "turnover",
            "dimensions": ["colour"],
            "population": "nobody",
            "period": "1900",
            "title": "x",
            "revises": ["1"],
            "id": "0000000000",
        }.items()
    },
    "unseen": lambda name: sql(
        "INSERT INTO event VALUES (3, ?, 'x', '')",
        json.dumps({"event": "withdraw", "release": name, "day": "2024-01-01", "reason": "x", "unseen": True}),
    ),
    "an event deleted": lambda _: sql("DELETE FROM event WHERE number = 1"),
    "the last event deleted": lambda _: sql("DELETE FROM event WHERE number = 2"),
    "figures deleted": lambda name: sql("DELETE FROM figures WHERE id = ?", name),
    "figures of nobody": lambda _: sql("INSERT INTO figures VALUES ('0123456789', x'00')"),
    "no head": lambda _: sql("DELETE FROM head"),
    "another head": lambda _: sql("UPDATE head SET digest = 'x'"),
    "events swapped": lambda _: sql("UPDATE event SET number = number + (number = 1) * 9"),
    "no table": lambda _: sql("DROP TABLE figures"),
    "not JSON": lambda _: sql("UPDATE event SET said = '{' WHERE number = 2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_refused_by_every_command(what: str) -> None:
    name = begin()
    CHANGES[what](name)
    for command in (("check", "new.csv"), ("list",), ("verify",), ("withdraw", name, "--reason", "x")):
        assert "restore" in refused(run("ledger", *command))
    if "event" in what or "another" in what:
        assert "event" in refused(run("ledger", "verify"))


@pytest.mark.parametrize(
    "body", [b"", b"\0", zlib.compress(b"{}"), zlib.compress(b"0" * 10**8), zlib.compress(b"[" * 9)]
)
def test_a_body_that_is_no_release(body: bytes) -> None:
    name = begin()
    sql("UPDATE figures SET body = ? WHERE id = ?", body, name)
    for command in (("check", "new.csv"), ("verify",)):
        assert "restore the ledger" in refused(run("ledger", *command))


@pytest.mark.parametrize(
    "change",
    [{"parts": [{}]}, {"parts": 3}, {"parts": [{"values": [1]}]}, {"method": 3, "parts": []}, {"parts": [None]}],
    ids=str,
)
def test_a_forged_body_ends_in_one_line(change: dict[str, object]) -> None:
    """With a digest and a chain of its own: whoever can do that can do anything, but not cause a fault."""
    shown = Release.of(Figures.from_array([3, 9], {"size": ["s", "m"]}, name="t"))
    text = json.dumps(json.loads(packed(shown)) | change).encode()
    about = {"title": "t", "population": "", "period": "", "variable": ""}
    with Ledger(BOOK) as book:
        entry = book.add(shown, title="t")
        told = {"event": "add", **{k: v for k, v in vars(entry).items() if k in said(1)}}
        made = event(Head(), told | {"digest": digest(text, about), "size": len(text)}, None)
    sql("UPDATE figures SET body = ?", zlib.compress(text))
    sql("UPDATE event SET said = ?, digest = ?", made.said, made.digest)
    sql("UPDATE head SET digest = ?", made.digest)
    outcome = run("ledger", "check", "new.csv", "--population", "x")
    assert outcome.code in (0, 1) or "restore the ledger" in refused(outcome)


def test_a_head_that_was_kept_shows_what_was_cut_off() -> None:
    name = begin()
    before = BOOK.read_bytes()
    assert run("ledger", "withdraw", name, "--reason", "x").code == 0
    head = json.loads(run("ledger", "verify", "--json").out)["head"]
    assert head in run("ledger", "check", "more.csv", "--title", "y").out
    assert json.loads(run("ledger", "list", "--json").out)["head"] == head
    assert "is whole" in run("ledger", "verify", "--head", head[:20]).out
    BOOK.write_bytes(before)
    assert run("ledger", "verify").code == 0
    assert "cut off or replaced" in refused(run("ledger", "verify", "--head", head))
    for short in ("", "ab"):
        refused(run("ledger", "verify", "--head", short))


def test_signed_entries_cannot_be_forged() -> None:
    Path("office.key").write_bytes(os.urandom(32))
    Path("other.key").write_bytes(os.urandom(32))
    Path("short.key").write_bytes(b"abc")
    name = begin("--office-key", "office.key")
    assert json.loads(run("ledger", "verify", "--office-key", "office.key", "--json").out)["signed"]
    assert "not signed with this key" in refused(run("ledger", "verify", "--office-key", "other.key"))
    assert "3 bytes" in refused(run("ledger", "verify", "--office-key", "short.key"))
    assert "cannot be read" in refused(run("ledger", "verify", "--office-key", "none.key"))
    assert "is signed; name the key" in refused(run("ledger", "withdraw", name, "--reason", "x"))
    # A whole chain of one's own is not signed.
    forged = event(Head(1, event_digest(1)), said(2) | {"title": "other"}, None)
    sql("UPDATE event SET said = ?, digest = ?, signature = '' WHERE number = 2", forged.said, forged.digest)
    sql("UPDATE head SET digest = ?", forged.digest)
    assert "event 2, which is not signed" in refused(run("ledger", "check", "new.csv", "--office-key", "office.key"))


def event_digest(number: int) -> str:
    db = sqlite3.connect(BOOK)
    ((found,),) = db.execute("SELECT digest FROM event WHERE number = ?", (number,)).fetchall()
    db.close()
    return str(found)


@pytest.mark.parametrize("keep", [0, 1, 99, 2048, 4096, 9000, -1])
def test_a_ledger_that_was_cut_short(keep: int) -> None:
    begin()
    whole = BOOK.read_bytes()
    BOOK.write_bytes(whole[:keep])
    cut = BOOK.read_bytes()
    for command in (("check", "old.csv"), ("list",), ("add", "old.csv", "--title", "again")):
        assert "ledger.sqlite" in refused(run("ledger", *command))
    assert BOOK.read_bytes() == cut


def test_a_copy_of_the_one_file_is_whole_while_another_process_has_it_open() -> None:
    """There is no log beside the file that a copy could lack."""
    with Ledger(BOOK) as book:
        for number in range(3):
            book.add(Release.of(Figures.from_array([number, 9], {"a": ["x", "y"]}, name="t")), title=f"t{number}")
            shutil.copy(BOOK, "copy.sqlite")
            assert sorted(path.name for path in Path().glob("ledger.sqlite-*")) == []
            with Ledger("copy.sqlite", create=False) as copy:
                assert (copy.head, len(copy.entries())) == (book.head, number + 1)


VERSION_3 = """
CREATE TABLE release (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL UNIQUE, title TEXT NOT
NULL, published TEXT NOT NULL, method TEXT NOT NULL, dimensions TEXT NOT NULL, figures INTEGER NOT NULL, hidden INTEGER
NOT NULL, population TEXT NOT NULL, period TEXT NOT NULL, variable TEXT NOT NULL, withdrawn TEXT NOT NULL DEFAULT '',
reason TEXT NOT NULL DEFAULT '', unseen INTEGER NOT NULL DEFAULT 0, body BLOB NOT NULL, revises TEXT NOT NULL DEFAULT
'') STRICT;
CREATE TABLE amendment (number INTEGER PRIMARY KEY, release TEXT NOT NULL REFERENCES release (id), day TEXT NOT NULL,
who TEXT NOT NULL, reason TEXT NOT NULL, population TEXT NOT NULL, period TEXT NOT NULL, variable TEXT NOT NULL) STRICT;
PRAGMA application_id=1684632419;
PRAGMA user_version=3;
"""


def earlier(version: int = 3) -> None:
    """Write a ledger as an earlier version had it, with a withdrawn release and, since version 3, a retagged one."""
    db = sqlite3.connect(BOOK)
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript(VERSION_3)
    for number in (1, 2):
        shown = Release.of(Figures.from_array([number, 9], {"a": ["x", "y"]}, name="t"))
        text = packed(shown)
        mark = digest(text, {"title": f"t{number}", "population": "all", "period": "", "variable": ""})
        row = (number, mark[:10], mark, f"t{number}", "2024-05-31", "as published", "a", 2, 0, "all", "", "")
        fate = ("", "", 0) if number == 1 else ("2024-06-01", "draft", 1)
        db.execute(f"INSERT INTO release VALUES ({', '.join('?' * 17)})", (*row, *fate, zlib.compress(text), ""))
        if number == 1:
            amended = (mark[:10], "2024-06-02", "me", "why", "all", "2024", "")
            db.execute("INSERT INTO amendment VALUES (1, ?, ?, ?, ?, ?, ?, ?)", amended)
    if version < 3:
        db.execute("DROP TABLE amendment")
    if version < 2:
        db.execute("ALTER TABLE release DROP COLUMN revises")
    db.execute(f"PRAGMA user_version={version}")
    db.commit()
    db.close()


def check_earlier(version: int = 3) -> None:
    with Ledger(BOOK, create=False, whole=True) as book:
        first, second = book.entries()
        if version == 3:
            assert (first.period, first.amended[0].period, first.amended[0].who) == ("2024", "", "me")
        assert (second.unseen, second.reason, second.status) == (True, "draft", "withdrawn, nobody saw it")
        assert [book.release(e.id).parts()[0].values.tolist() for e in (first, second)] == [[1, 9], [2, 9]]
        assert book.verify().events == 4 - (version < 3)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_ledger_of_an_earlier_version_becomes_a_chain(version: int) -> None:
    earlier(version)
    check_earlier(version)
    assert run("ledger", "add", "old.csv").code == 0
    assert not list(Path().glob("ledger.sqlite-*"))
    assert run("ledger", "verify").code == 0


def test_a_copy_of_an_earlier_ledger_without_its_log_is_noticed() -> None:
    earlier()
    writer = sqlite3.connect(BOOK)
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("UPDATE release SET withdrawn = '', reason = '', unseen = 0")
    writer.commit()
    copy, log = BOOK.read_bytes(), Path("ledger.sqlite-wal").read_bytes()
    writer.close()
    for file in Path().glob("ledger.sqlite*"):
        file.unlink()
    BOOK.write_bytes(copy)
    for words in (("list",), ("check", "new.csv"), ("verify",), ("add", "old.csv")):
        assert "ledger.sqlite-wal" in refused(run("ledger", *words))
        assert BOOK.read_bytes() == copy
    # With its log it is whole, and without it only if somebody says so.
    Path("ledger.sqlite-wal").write_bytes(log)
    assert [one["status"] for one in json.loads(run("ledger", "list", "--json").out)["releases"]] == ["published"] * 2
    for file in Path().glob("ledger.sqlite*"):
        file.unlink()
    BOOK.write_bytes(copy)
    assert run("ledger", "verify", "--whole").code == 0
    assert run("ledger", "check", "new.csv").code in (0, 1)


def only_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the right to write, which nobody can take from the superuser."""
    may = os.access

    def access(path: object, mode: int, **more: object) -> bool:
        return mode != os.W_OK and may(path, mode, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "access", access)


def test_a_ledger_that_cannot_be_written_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    name = begin()
    before = BOOK.read_bytes()
    BOOK.chmod(0o400)
    only_reading(monkeypatch)
    assert "Fives" in run("ledger", "list").out
    assert run("ledger", "check", "new.csv").code == 1
    assert run("ledger", "verify").code == 0
    for command in (("add", "new.csv"), ("withdraw", name, "--reason", "x")):
        assert "cannot be written" in refused(run("ledger", *command))
    assert BOOK.read_bytes() == before


def test_an_older_ledger_that_cannot_be_written_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier()
    before = BOOK.read_bytes()
    only_reading(monkeypatch)
    check_earlier()
    assert BOOK.read_bytes() == before
    Path("ledger.sqlite-wal").write_bytes(b"part of it")
    assert "ledger.sqlite-wal" in refused(run("ledger", "list"))


@pytest.mark.parametrize(
    "text",
    ["area,count\nn,3\ns,9\nTotal,99\n", "area,count\nn,x\ns,9\nTotal,5\n", "area,sex,count\nn,m,3\nn,Total,2\n"],
)
def test_a_release_that_contradicts_itself_is_not_added(text: str) -> None:
    Path("bad.csv").write_text(text, encoding="utf-8")
    told = refused(run("ledger", "add", "bad.csv"))
    assert "contradict" in told or "sum to" in told
    assert not Path("ledger.sqlite").exists() or not json.loads(run("ledger", "list", "--json").out)["releases"]


@pytest.mark.parametrize("title", ["a\x1b[31mb", "a\nb", "\udcff", "a\u202eb"])
def test_titles_that_cannot_be_shown(title: str) -> None:
    assert "cannot be shown" in refused(run("ledger", "add", "old.csv", "--title", title))
    assert "cannot be shown" in refused(run("ledger", "add", "old.csv", "--population", title))


def test_originals_of_releases_that_were_never_added_are_removed() -> None:
    Path("true.csv").write_text(OLD, encoding="utf-8")
    name = json.loads(run("ledger", "add", "old.csv", "--original", "true.csv", "--json").out)["id"]
    kept = Path("ledger.sqlite.originals")
    assert [path.name for path in kept.iterdir()] == [f"{name}.csv"]
    # One process was killed before its release was in the ledger, another right behind.
    (kept / "0123456789.csv.pending").write_text("secret", encoding="utf-8")
    (kept / f"{name}.csv").rename(kept / f"{name}.csv.pending")
    refused(run("ledger", "add", "old.csv", "--title", "old", "--original", "true.csv"))
    assert run("ledger", "add", "more.csv", "--original", "true.csv").code == 0
    assert {path.suffix for path in kept.iterdir()} == {".csv"}
    assert len(list(kept.iterdir())) == 2
    # What was kept before stays when a release is refused.
    (kept / f"{name}.csv").write_text("first", encoding="utf-8")
    refused(run("ledger", "add", "old.csv", "--original", "true.csv"))
    assert (kept / f"{name}.csv").read_text(encoding="utf-8") == "first"


def test_nothing_is_added_to_a_ledger_that_was_changed() -> None:
    begin()
    sql("UPDATE event SET said = replace(said, 'Fives', 'Sixes') WHERE number = 1")
    before = BOOK.read_bytes()
    assert "event 1" in refused(run("ledger", "add", "new.csv", "--title", "more"))
    assert BOOK.read_bytes() == before


def test_a_ledger_that_others_write_is_verified_again() -> None:
    with Ledger(BOOK) as book:
        for number in range(3):
            book.add(Release.of(Figures.from_array([number, 9], {"a": ["x", "y"]}, name="t")), title=f"t{number}")
        sql("UPDATE event SET said = replace(said, 't0', 'tt') WHERE number = 1")
        for act in (book.entries, lambda: book.withdraw("t1", reason="x"), lambda: book.retag("t1", reason="x")):
            with pytest.raises(DataError, match="breaks at event 1"):
                act()


def test_each_event_is_verified_once_while_nobody_else_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    follow = History.follow

    def counted(past: History, one: LedgerEvent) -> None:
        steps.append(1)
        follow(past, one)

    monkeypatch.setattr(History, "follow", counted)
    with Ledger(BOOK) as book:
        for number in range(20):
            book.add(Release.of(Figures.from_array([number, 9], {"a": ["x", "y"]}, name="t")), title=f"t{number}")
        assert len(book.entries()) == len(steps) == 20
        with pytest.raises(RequestError, match="already"):
            book.add(Release.of(Figures.from_array([3, 9], {"a": ["x", "y"]}, name="t")), title="t3")
        assert [entry.title for entry in book.entries()] == [f"t{number}" for number in range(20)]
    with Ledger(BOOK) as book:
        assert book.verify().events == 20


def test_a_copy_made_while_the_file_is_written_is_refused_or_whole() -> None:
    """Without the journal beside it, such a copy has pages of two states: any mixture is one of them, or refused."""
    states = []
    for number in range(2):
        with Ledger(BOOK) as book:
            wide = [f"c{i}" for i in range(400)]
            book.add(Release.of(Figures.from_array(range(1, 401), {"a": wide}, name="t")), title=f"t{number}")
        states.append(BOOK.read_bytes())
    page = int.from_bytes(states[0][16:18], "big")
    old, new = ([state[i : i + page] for i in range(0, len(state), page)] for state in states)
    changed = [i for i in range(len(new)) if i >= len(old) or old[i] != new[i]]
    assert 3 <= len(changed) <= 10
    outcomes = set()
    for mixture in product((False, True), repeat=len(changed)):
        taken = dict(zip(changed, mixture, strict=True))
        pages = [new[i] if taken.get(i, False) or i >= len(old) else old[i] for i in range(len(new))]
        lost = [i for i in changed if i >= len(old) and not taken[i]]
        whole = b"".join(bytes(page) if i in lost else content for i, content in enumerate(pages))
        Path("copy.sqlite").write_bytes(whole if taken.get(0) else whole[: len(states[0])])
        try:
            with Ledger("copy.sqlite", create=False) as copy:
                found = [entry.title for entry in copy.entries()]
                [copy.release(name) for name in found]
        except DiscreetError:
            outcomes.add("refused")
        else:
            assert found in (["t0"], ["t0", "t1"])
            outcomes.add(str(len(found)))
    assert outcomes == {"refused", "1", "2"}


def test_the_head_stands_in_reports() -> None:
    begin()
    head = json.loads(run("ledger", "verify", "--json").out)["head"]
    assert head in run("ledger", "check", "more.csv", "--title", "y", "-o", "check.txt").out
    assert head in Path("check.txt").read_text(encoding="utf-8")
    for name in ("report.html", "report.md", "report.json"):
        run("assess", "more.csv", "--report", name, "--head-of", BOOK)
        assert head in Path(name).read_text(encoding="utf-8")
    assert run("report", "report.json", "-o", "again.html").code == 0
    assert head in Path("again.html").read_text(encoding="utf-8")
    assert run("report", "report.json", "-o", "public.html", "--edition", "public").code == 0
    assert head not in Path("public.html").read_text(encoding="utf-8")
    assert "no ledger" in refused(run("assess", "more.csv", "--report", "report.html", "--head-of", "none.sqlite"))
    assert "internal report" in refused(run("assess", "more.csv", "--head-of", BOOK))
