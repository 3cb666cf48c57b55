"""Files that only their owner may read, that no spreadsheet runs, and of which nothing stays behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from tests.cli.running import rows_of, run

from discreet import audit, protect, read_release, read_table
from discreet.core.files import ScratchFolder, write_text, write_whole
from discreet.core.formula_texts import defused
from discreet.decide.ledger import Ledger
from discreet.table.arrow_files import read_arrow, write_csv

FORMULAS = ["=1+1", "=HYPERLINK(0)", "@x", "+1-2", "-1+cmd|' /C calc'!A0", "- none", " =2", "＝3", "'=4", "''@5", "+x"]
COMPARE = ("compare", "t.csv", "--method", "random-rounding", "--draws", "2")
PLAIN = ["-5", "+49", "-", "a=b", "x@y", "5-9", "65+", "'quoted'", "", "-1.5"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    Path("t.csv").write_text("area,sex,count\nn,m,1\nn,f,30\ns,m,22\ns,f,41\n", encoding="utf-8")
    return tmp_path


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_confidential_is_for_its_owner_alone(umask: int) -> None:
    before = os.umask(umask)
    try:
        found = run("assess", "--example", "religion", "--record", "r.json", "--report", "i.html", "-o", "release.csv")
        assert found.code == 0, found
        assert run("assess", "--example", "religion", "--report", "p.html", "--edition", "public").code == 0
        assert run("compare", "t.csv", "--method", "random-rounding", "--draws", "2", "--record", "c.json").code in (
            0,
            1,
        )
        assert run("risk", "t.csv", "-o", "risk.json").code == 0
        for ending in ("parquet", "tab"):
            assert run("tabulate", "t.csv", "--by", "area", "--value", "count", "-o", f"cells.{ending}").code == 0
        assert run("ledger", "add", "release.csv", "--original", "t.csv").code == 0
    finally:
        os.umask(before)
    secret = ["r.json", "i.html", "c.json", "risk.json", "cells.parquet", "cells.tab", "ledger.sqlite"]
    assert {name: oct(mode(name)) for name in secret} == dict.fromkeys(secret, oct(0o600))
    assert mode("ledger.sqlite.originals") == 0o700
    assert {mode(path) for path in Path("ledger.sqlite.originals").iterdir()} == {0o600}
    assert {mode("release.csv"), mode("p.html")} == {0o666 & ~umask}


def test_statuses_pictures_and_records_are_for_their_owner_alone() -> None:
    Path("people.csv").write_text("area,sex\nn,m\nn,f\ns,m\ns,f\n" * 4, encoding="utf-8")
    before = os.umask(0o022)
    try:
        example = ("--example", "religion")
        # Statuses say of every hidden figure what it is, and which ones are sensitive.
        assert run("protect", "suppress", *example, "--rule", "threshold=3", "--status", "why.csv").code == 0
        assert run("assess", *example, "--report", "data.json").code == 0
        for edition in ("internal", "public"):
            Path(edition).mkdir()
            assert run("report", "data.json", "--pictures", edition, "--edition", edition).code == 0
        for name in ("some.csv", "some.parquet"):
            assert run("protect", "sample-records", "people.csv", "--sample-size", "8", "-o", name).code == 0
    finally:
        os.umask(before)
    secret = [Path("why.csv"), Path("some.csv"), Path("some.parquet"), *Path("internal").iterdir()]
    assert {path.name: oct(mode(path)) for path in secret} == {path.name: oct(0o600) for path in secret}
    assert {mode(path) for path in Path("public").iterdir()} == {0o644}


@pytest.mark.parametrize(
    "command", [("assess", "t.csv"), ("compare", "t.csv", "--method", "random-rounding", "--draws", "2")]
)
def test_nothing_is_written_unasked(command: tuple[str, ...]) -> None:
    assert run(*command).code in (0, 1)
    assert [path.name for path in Path().iterdir()] == ["t.csv"]


@pytest.mark.parametrize("label", FORMULAS)
def test_a_label_that_a_spreadsheet_would_run_is_defused_and_comes_back(label: str) -> None:
    frame = pa.table({"area": [label, "b"] * 2, "sex": ["m", "m", "f", "f"], "count": ["30", "40", "50", "60"]})
    write_csv(frame, Path("in.csv"), formulas="keep")
    # Reading takes off one apostrophe that keeps a label from being run.
    read = read_arrow("in.csv")["area"][0].as_py()
    made = run("protect", "random-rounding", "in.csv", "--total", "", "-o", "out.csv")
    assert made.code == 0, made
    text = Path("out.csv").read_text(encoding="utf-8")
    shown = rows_of(Path("out.csv"))[0]["area"]
    assert shown == defused(read) == "'" + read, text
    assert read in read_release("out.csv").parts()[0].labels["area"]
    assert run("protect", "random-rounding", "in.csv", "--total", "", "--keep-formulas", "-o", "kept.csv").code == 0
    assert rows_of(Path("kept.csv"))[0]["area"] == read
    assert run("assess", "in.csv", "--total", "", "-o", "assessed.csv").code in (0, 1)
    if Path("assessed.csv").exists():
        assert rows_of(Path("assessed.csv"))[0]["area"].startswith("'")
    assert run("risk", "in.csv", "--total", "", "-o", "risk.csv").code == 0
    assert any(row["category"] == "'" + read for row in rows_of(Path("risk.csv")))


def test_results_are_defused_once() -> None:
    Path("in.csv").write_text("area,count\n'=1+1,1\nb,40\n", encoding="utf-8")
    assert run("rules", "in.csv", "--rule", "threshold=3", "-o", "rules.csv").code == 0
    assert rows_of(Path("rules.csv"))[0]["area"] == "'=1+1"
    found = audit(protect.conventional_rounding(read_table("in.csv"), base=5))
    assert "\n'=1+1," in found.to_csv()


@pytest.mark.parametrize("label", PLAIN)
def test_other_labels_stay_as_they_are(label: str) -> None:
    assert defused(label) == label


def test_headers_and_tables_come_back() -> None:
    Path("in.csv").write_text("'=area,count\n'@n,3\nb,4\n", encoding="utf-8")
    table = read_table("in.csv")
    assert (table.names, table.dimensions[0].categories) == (("=area",), ("@n", "b"))
    table.write("again.csv")
    assert Path("again.csv").read_text(encoding="utf-8").startswith('"\'=area"')
    assert read_table("again.csv") == table


@pytest.mark.parametrize("command", ["risk", "rules", "protect", "inspect", "assess", "audit"])
def test_control_characters_never_reach_a_terminal(command: str) -> None:
    bad = "a\x1b[2Jb\x07\x9b31m\u202e"
    Path("in.csv").write_text(f"area{bad},count\n{bad},1\nb{bad},40\n", encoding="utf-8")
    given = {"protect": ("protect", "random-rounding"), "rules": ("rules", "--rule=threshold=3")}.get(
        command, (command,)
    )
    for more in ((), ("--json",)):
        done = run(*given, "in.csv", *more)
        printed = done.out + done.err
        assert printed
        assert all(c.isprintable() or c == "\n" for c in printed), repr(printed)


KILLED = """
import sys, time
from pathlib import Path
from discreet.core.files import ScratchFolder, write_whole
def write(part):
    part.write_text("half of a secret")
    print("now", flush=True)
    time.sleep(60)
if sys.argv[1] == "scratch":
    folder = ScratchFolder()
    (Path(folder.name) / "records").write_text("secret")
    print(folder.name, flush=True)
    time.sleep(60)
write_whole(sys.argv[1], write)
"""


def killed(target: str) -> str:
    """Kill a process in the middle of its writing; return what it said."""
    child = subprocess.Popen([sys.executable, "-c", KILLED, target], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    said = child.stdout.readline().strip()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    return said


def test_temporary_files_of_a_killed_process_are_removed_by_the_next() -> None:
    killed("result.json")
    (left,) = Path().glob(".result.json.*.part")
    assert mode(left) == 0o600
    assert not Path("result.json").exists()
    write_text("other.json", "{}")
    assert left.exists()
    write_text("result.json", "{}")
    assert not left.exists()


def test_a_folder_of_finished_points_is_cleared_of_what_was_never_finished() -> None:
    Path("kept").mkdir()
    killed("kept/none-1.json")
    (left,) = Path("kept").glob(".none-1.json.*.part")
    foreign = Path("kept/.film.part")
    foreign.write_text("of another program")
    Path("table.csv").write_text("area,count\na,5\nb,9\n", encoding="utf-8")
    assert run("compare", "table.csv", "--method=none", "--draws=2", "--resume=kept").code in (0, 1)
    assert not left.exists()
    assert foreign.exists()


def test_half_a_copy_of_an_original_is_removed_with_the_next() -> None:
    Path("table.csv").write_text("area,count\na,5\nb,9\n", encoding="utf-8")
    Path("ledger.sqlite.originals").mkdir()
    killed("ledger.sqlite.originals/0123456789.csv.pending")
    (left,) = Path("ledger.sqlite.originals").glob(".*.part")
    assert run("ledger", "add", "table.csv", "--original", "table.csv").code == 0
    assert not left.exists()


def test_a_file_that_somebody_is_writing_is_left_alone() -> None:
    def write(part: Path) -> None:
        write_text("result.json", "inner")
        assert part.exists()
        part.write_text("outer", encoding="utf-8")

    write_whole("result.json", write)
    assert Path("result.json").read_text(encoding="utf-8") == "outer"


def test_scratch_folders_of_a_killed_process_are_removed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(Path.cwd()))
    monkeypatch.setattr("tempfile.tempdir", None)
    left = Path(killed("scratch"))
    assert (left / "records").exists()
    with ScratchFolder() as used:
        assert left.exists()  # It may be so new that it is not locked yet.
        old = time.time() - 60
        os.utime(left, (old, old))
        os.utime(used, (old, old))
        ScratchFolder().cleanup()
        assert not left.exists()
        assert Path(used).exists()
    assert not Path(used).exists()


def test_a_new_ledger_is_never_half_there() -> None:
    with Ledger("l.sqlite"), Ledger("l.sqlite") as book:
        assert len(book) == 0
    assert [path.name for path in Path().glob(".l.sqlite*")] == []
