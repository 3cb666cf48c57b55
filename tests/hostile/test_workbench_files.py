"""What leads out of the folder of the workbench: options, uploads that name other files, saved sessions, links."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.workbench.serving import Server, serving

from discreet.workbench.confinement import Confinement, Confines, OutsideError

TABLE = b"area,sex,count\nn,m,3\nn,f,1\ns,m,12\ns,f,7\n"
SECRET = "TOPSECRET-4711"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that nobody may read or change."""
    folder = tmp_path_factory.mktemp("outside")
    for name in ("secret.csv", "secret.toml", "secret.hrc", "secret.rda", "secret.txt", "secret.parquet"):
        (folder / name).write_text(f"{SECRET},count\nx,1\n")
    (folder / "adopted.csv").write_bytes(TABLE)
    return folder


@pytest.fixture(scope="module")
def bench(outside: Path) -> Iterator[Server]:
    with serving(outside / "adopted.csv", "--ledger", outside / "office.sqlite") as server:
        server.upload("t.csv", TABLE)
        yield server


def told(server: Server, command: str, **values: Any) -> str:
    """Run what must be refused, and return everything that comes back."""
    job = server.run(command, **values)
    assert job.get("state", "refused") == "refused", job
    assert SECRET not in json.dumps(job)
    return str(job["error"])


# --- the rule -----------------------------------------------------------------------------------------------


def test_a_path_is_judged_by_what_it_leads_to(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    for made in (folder, other):
        made.mkdir()
        (made / "a.csv").write_bytes(TABLE)
    (folder / "link.csv").symlink_to(other / "a.csv")
    (folder / "up").symlink_to(other)
    rule = Confinement(folder)
    for path in ("a.csv", "./a.csv", "new.csv", "sub/../a.csv", str(folder / "a.csv"), b"a.csv", folder / "a.csv", 3):
        rule.check(path, write=True)
    away = ["../other/a.csv", str(other / "a.csv"), "link.csv", "up/a.csv", "sub/../../other/a.csv", "/etc/passwd"]
    away += [str(folder) + "x/a.csv", "/proc/self/environ", "~/../../etc/passwd" if os.path.exists("~") else "/root/x"]
    for path in away:
        for write in (False, True):
            with pytest.raises(OutsideError, match="outside the folder"):
                rule.check(path, write=write)
    rule.reach = Confines(readable=(str(other / "a.csv"),))
    rule.check("link.csv")
    with pytest.raises(OutsideError):
        rule.check("link.csv", write=True)
    rule.reach = Confines(ledger=str(other / "l.sqlite"))
    rule.check(other / "l.sqlite-wal", write=True)
    rule.check(other / "l.sqlite.originals" / "1.csv", write=True)
    with pytest.raises(OutsideError):
        rule.check(other / "a.csv")


def test_code_is_read_and_never_written(tmp_path: Path) -> None:
    rule = Confinement(tmp_path)
    package = Path(sys.modules["discreet"].__file__ or "")
    rule.check(package)
    rule.check(os.__file__)
    for path in (package, os.__file__):
        with pytest.raises(OutsideError):
            rule.check(path, write=True)


EVENTS = """
import os, sqlite3, sys, tempfile
from pathlib import Path
from discreet.workbench.confinement import OutsideError, confine
folder, other = Path(sys.argv[1]), Path(sys.argv[2])
os.chdir(folder)
confine(folder)
def refused(act):
    try:
        act()
    except OutsideError:
        return
    raise SystemExit("not refused")
for act in (
    lambda: open(other), lambda: open(other, "w"), lambda: other.read_text(), lambda: os.open(other, os.O_RDONLY),
    lambda: os.remove(other), lambda: os.rename(other, "x"), lambda: os.rename("a.csv", other),
    lambda: os.symlink(other, "x"), lambda: os.link(other, "x"), lambda: os.listdir(other.parent),
    lambda: list(os.scandir(other.parent)), lambda: os.mkdir(other.parent / "x"), lambda: os.truncate(other, 0),
    lambda: sqlite3.connect(other), lambda: os.chmod(other, 0o777), lambda: os.utime(other),
):
    refused(act)
Path("b.csv").write_text("x")
os.rename("b.csv", "c.csv")
sqlite3.connect("d.sqlite").execute("CREATE TABLE t (x)")
with tempfile.TemporaryDirectory() as made:
    assert Path(made).resolve().is_relative_to(folder.resolve())
    (Path(made) / "e").write_text("x")
import decimal, wave  # code is still found
print("held")
"""


def test_the_interpreter_is_held_to_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").write_bytes(TABLE)
    victim = tmp_path / "victim.csv"
    victim.write_text("precious")
    done = subprocess.run(
        [sys.executable, "-c", EVENTS, tmp_path / "folder", victim], capture_output=True, text=True, check=False
    )
    assert done.stdout == "held\n", done.stderr
    assert victim.read_text() == "precious"


# --- options and uploads that name other files --------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "../../../../../../..", "./../../../../../../..", "x/../../../../../../../.."])
def test_options_lead_nowhere(bench: Server, outside: Path, prefix: str) -> None:
    there = f"{prefix}{outside}"
    asked: Sequence[tuple[str, dict[str, Any]]] = (
        ("risk", {"table": "t.csv", "hierarchy": [f"area={there}/secret.hrc"]}),
        ("assess", {"file": "t.csv", "policy": f"{there}/secret.toml"}),
        ("tabulate", {"records": [f"{there}/secret.csv"], "by": "x", "output": "o.parquet"}),
        ("tabulate", {"records": [f"{there}/*.csv"], "by": "x", "output": "o.parquet"}),
        ("tabulate", {"records": [f"{there}/secret.parquet"], "by": "x", "output": "o.parquet"}),
        ("tabulate", {"records": [there], "by": "x", "output": "o.parquet"}),
    )
    for command, values in asked:
        error = told(bench, command, **values)
        # What cannot be listed holds nothing; what cannot be opened is named.
        assert any(words in error for words in ("outside the folder", "does not exist", "no file fits", "without .par"))


def test_files_of_other_places_are_no_files_of_the_session(bench: Server, outside: Path) -> None:
    for name in (f"{outside}/secret.csv", "../secret.csv", "~/x.csv", "a\\b.csv", "--help", "a/b.csv", ".."):
        for values in ({"table": name}, {"table": "t.csv", "output": name}, {"table": "t.csv", "released": name}):
            assert "not a file of this session" in told(bench, "risk", **values)


def test_an_uploaded_policy_extends_nothing_outside(bench: Server, outside: Path) -> None:
    for number, above in enumerate((f"{outside}/secret.toml", f"../..{outside}/secret.toml", "/etc/passwd.toml")):
        bench.upload(f"p{number}.toml", f'extends = "{above}"\n'.encode())
        error = told(bench, "assess", file="t.csv", policy=f"p{number}.toml")
        assert "outside the folder" in error or "does not exist" in error
    assert {"p0.toml", "p1.toml"}.isdisjoint(one["name"] for one in bench.json("GET", "api/start")["policies"])


def test_an_uploaded_grid_names_nothing_outside(bench: Server, outside: Path) -> None:
    grid = f'[[methods]]\nname = "cell-key"\nfile = "{outside}/secret.csv"\n'
    bench.upload("grid.toml", grid.encode())
    job = bench.run("compare", file="t.csv", grid="grid.toml", draws=2)
    assert SECRET not in json.dumps(job)
    assert "outside the folder" in json.dumps(job)


def test_the_page_cannot_point_at_another_ledger(bench: Server, outside: Path) -> None:
    for name in ("other.sqlite", f"{outside}/other.sqlite"):
        answer = bench.json("POST", "api/run", {"command": "ledger list", "values": {"ledger": name}})
        assert (answer["status"], "has no parameter 'ledger'" in answer["error"]) == (400, True)
    added = bench.run("ledger add", release="t.csv", title="t", published_as="exact")
    assert added["state"] == "done", added
    assert (outside / "office.sqlite").exists()
    assert "outside the folder" in told(bench, "assess", file="t.csv", policy=f"{outside}/office.sqlite.toml")


def test_a_file_opened_where_it_is_can_be_read_and_not_written(bench: Server, outside: Path) -> None:
    assert bench.run("risk", table="adopted.csv")["state"] == "done"
    made = bench.run("protect random-rounding", file="t.csv", output="adopted.csv", seed=1, trial=True)
    assert made["state"] == "done"
    assert (outside / "adopted.csv").read_bytes() == TABLE


# --- saved sessions -----------------------------------------------------------------------------------------


def saved(path: Path, arguments: list[str], **more: Any) -> Path:
    """Write a session that somebody made by hand."""
    step = {"arguments": arguments, "command": "discreet risk t.csv", "result": "0" * 64}
    about = {"discreet": "session", "version": 1, "files": {"t.csv": hashlib.sha256(TABLE).hexdigest()}}
    about |= {"state": {}, "steps": [step], "signatures": [], **more}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("session.json", json.dumps(about))
        archive.writestr("files/t.csv", TABLE)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["protect", "random-rounding", "--output={victim}", "--seed=1", "--trial", "--json", "--", "t.csv"],
        ["protect", "random-rounding", "--output", "{victim}", "--seed=1", "--trial", "--json", "--", "t.csv"],
        ["assess", "--policy={victim}.toml", "--json", "--", "t.csv"],
        ["risk", "--hierarchy=area={victim}", "--json", "--", "t.csv"],
        ["workbench", "--no-browser"],
        ["tabulate", "--query=COPY (SELECT 1) TO '{victim}'", "--json", "--", "t.csv"],
    ],
)
def test_a_session_that_is_run_again_leaves_other_files_alone(tmp_path: Path, arguments: list[str]) -> None:
    victim = tmp_path / "victim.csv"
    victim.write_text(SECRET)
    session = saved(tmp_path / "evil.discreet", [word.format(victim=victim) for word in arguments])
    done = run("workbench", session, "--replay")
    assert done.code in (1, 2)
    assert "same" not in done.out.split()
    assert SECRET not in done.out + done.err
    assert victim.read_text() == SECRET


@pytest.mark.parametrize(
    "more",
    [
        {"steps": 5},
        {"steps": [5]},
        {"steps": [{}]},
        {"steps": [{"arguments": [1], "command": "x", "result": "y"}]},
        {"signatures": [5]},
        {"signatures": [{"who": "Eve"}]},
        {"files": {"../t.csv": "0"}},
        {"files": {"t.csv": 5}},
        {"state": []},
        {"version": "1"},
    ],
)
def test_a_session_that_makes_no_sense_is_refused(bench: Server, tmp_path: Path, more: dict[str, Any]) -> None:
    session = saved(tmp_path / "odd.discreet", ["risk", "--json", "--", "t.csv"], **more)
    status, body, _ = bench.ask("POST", "api/sessions/odd/archive", session.read_bytes())
    assert status == 400, body
    assert run("workbench", session, "--replay").code == 2
    assert bench.json("GET", "api/start")["status"] == 200


# --- bad uploads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.toml", b"limits = 5\n"),
        ("bad.toml", b"limits = [1]\n"),
        ("bad.toml", b"[limits\n"),
        ("bad.toml", b"\xff\xfe\x00"),
        ("bad.csv", b" \n \n"),
        ("bad.csv", b""),
    ],
)
def test_bad_uploads_are_refused_and_do_no_lasting_harm(bench: Server, name: str, content: bytes) -> None:
    answer = bench.upload(name, content)
    assert (answer["status"], "bad" in answer["error"]) == (400, True)
    started = bench.json("GET", "api/start")
    assert started["status"] == 200
    assert name not in [one["name"] for one in started["files"]]
    assert not list(bench.folder.glob(".incoming-*"))


def test_odd_policies_break_nothing(bench: Server) -> None:
    bench.upload("circle.toml", b'extends = "circle.toml"\n')
    bench.upload("odd.toml", b"title = [1]\n[limits]\ndr = [2]\nr2 = 'none'\n")
    bench.upload("heir.toml", b'extends = "business"\n[limits]\nr2 = 0.25\n')
    found = {one["name"]: one["limits"] for one in bench.json("GET", "api/start")["policies"]}
    assert "circle.toml" not in found
    assert found["odd.toml"] == {}
    assert found["heir.toml"] == {**found["business"], "r2": 0.25}


def test_any_csv_can_be_taken_back(bench: Server) -> None:
    for name, content in (
        ("latin.csv", "Gebiet;Zahl\nKöln;=1+1\n".encode("latin-1")),
        ("tabs.tsv", b"a\tcount\n@x\t1\n"),
    ):
        bench.upload(name, content)
        status, body, _ = bench.ask("GET", f"api/files/{name}")
        assert (status, b"'=1" in body or b"'@x" in body) == (200, True)
    bench.upload("wide.csv", b'a,count\n"' + b"x" * 200_000 + b'",1\n')
    assert bench.ask("GET", "api/files/wide.csv")[0] in (200, 400)
