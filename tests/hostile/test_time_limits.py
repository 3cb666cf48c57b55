"""Time limits hold whatever a command is doing, and what was not looked at in time is never called safe."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import run
from tests.hostile.clocks import Turns, handing_out

from discreet import LimitError, RequestError, Table
from discreet.cli import deadline
from discreet.core.clock import Clock
from discreet.core.highs import Program
from discreet.decide.geography import differences
from discreet.decide.geography.mending import coarser
from discreet.decide.geography.territory import Territory
from discreet.decide.ledger import Ledger, LedgerCheck
from discreet.decide.ledger.release_check import ReleaseCheck
from discreet.decide.ledger.settings import Settings
from discreet.decide.ledger.sums import KnownSums
from discreet.evaluate.audited_suppression import suppress
from discreet.protect.suppression import Suppression
from discreet.rules import Threshold
from discreet.table.figures import Figures
from discreet.table.release import Release
from discreet.table.tabulation import Tabulation

TABLE = "area,sex,count\nn,m,30\nn,f,41\ns,m,120\ns,f,77\n"
ENDLESS = """
import importlib
import json
import os
import sys
import time
from discreet.cli.app import main
def endless(*_, **__):
    while True:
        sum(range(1000)) if name == "assess" else time.sleep(60)
commands = json.loads(sys.argv[1])
modules = {name: importlib.import_module(module) for name, (module, _, _) in commands.items()}
for name, (_, function, words) in commands.items():
    if not os.fork():
        os.chdir(name)
        for stream in ("stdout", "stderr"):
            os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT), getattr(sys, stream).fileno())
        setattr(modules[name], function, endless)
        sys.argv = ["discreet", *words]
        main()
        os._exit(0)
    with open(f"{name}/code", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(os.wait()[1])))
"""
COMMANDS = {
    "assess": ("discreet.decide.assess", "assess", ["assess", "table.csv", "-o", "out.csv"]),
    "audit": ("discreet.auditing.audit", "audit", ["audit", "table.csv", "-o", "out.json"]),
    "geography": (
        "discreet.decide.geography.differences",
        "differences_of",
        ["geography", "table.csv", "--map", "out.svg", "-o", "out.json"],
    ),
    "compare": ("discreet.decide.compare", "compare", ["compare", "table.csv", "-o", "out.json"]),
    "suppress": (
        "discreet.evaluate.audited_suppression",
        "certify",
        ["protect", "suppress", "table.csv", "--rule", "threshold=3", "-o", "out.csv"],
    ),
    "ledger check": (
        "discreet.decide.ledger.release_check",
        "joint_findings",
        ["ledger", "check", "table.csv", "--ledger", "book.sqlite", "-o", "out.json"],
    ),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each command that would not end has run, in a process of its own that had nothing to import any more.

    One of them works, the others wait, which takes no processor time.
    """
    folder = tmp_path_factory.mktemp("endless")
    for name in COMMANDS:
        (folder / name).mkdir()
        (folder / name / "table.csv").write_text(TABLE, encoding="utf-8")
        Ledger(folder / name / "book.sqlite").close()
    limited = {name: (*about, [*words, "--time-limit", "0.1"]) for name, (*about, words) in COMMANDS.items()}
    subprocess.run([sys.executable, "-c", ENDLESS, json.dumps(limited)], cwd=folder, timeout=900, check=True)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_would_not_end_is_ended(name: str, ended: Path) -> None:
    code, out, err = ((ended / name / part).read_text(encoding="utf-8") for part in ("code", "stdout", "stderr"))
    assert (code, out) == ("2", ""), err
    assert err.count("\n") == 1
    assert "the time limit of 0.1 s has passed" in err
    assert not list((ended / name).glob("out.*"))


def test_what_is_being_written_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(deadline, "_end", lambda seconds: ended.set())
    monkeypatch.setattr(deadline, "grace", lambda seconds: 0.0)
    with deadline.own_process(), deadline.ending_within(0.0):
        assert ended.wait(60)
    ended.clear()
    with deadline.own_process(), deadline.ending_within(1000.0):
        (waiting,) = deadline._waiting
        deadline.in_time()
        waiting.join(60)
        assert not waiting.is_alive()
    assert not ended.is_set()
    # A process that others share is not ended, nor one without a limit.
    with deadline.ending_within(0.0):
        assert not deadline._waiting
    with deadline.own_process(), deadline.ending_within(None):
        assert not deadline._waiting


def figures(*values: int) -> Release:
    return Release.of(Figures.from_array(values, {"area": ["n", "s"]}, name="t"))


def test_a_ledger_check_has_one_clock_and_says_what_it_did_not_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger(tmp_path / "book.sqlite") as book:
        for year in range(2000, 2010):
            book.add(figures(100 + year, 300), title=f"of {year}", population="p", period=str(year))
        clocks: list[Clock] = []
        judging: list[Clock] = []

        class Stopped(Clock):
            @classmethod
            def within(cls, seconds: float | None) -> Clock:
                clocks.append(Clock(None))
                return clocks[-1]

        monkeypatch.setattr("discreet.decide.ledger.ledger.Clock", Stopped)
        judge = Settings.judge
        monkeypatch.setattr(Settings, "judge", lambda rules, about: judging.append(rules.clock) or judge(rules, about))  # type: ignore[func-returns-value]

        def checked() -> LedgerCheck:
            return book.check(figures(500, 700), title="new", population="p", period="1999", time_limit=5.0)

        assert checked().verdict == "safe"
        assert judging
        assert {id(one) for one in judging} == {id(clocks[0])}
        # Time is up in the middle of the fourth comparison.
        compared: list[str] = []
        compare = ReleaseCheck._compare

        def late(check: ReleaseCheck, entry: object, fewest: int) -> None:
            compare(check, entry, fewest)  # type: ignore[arg-type]
            compared.append(str(entry))
            if len(compared) == 4:
                clocks[-1].deadline = 0.0

        monkeypatch.setattr(ReleaseCheck, "_compare", late)
        found = checked()
    assert (found.verdict, len(compared)) == ("incomplete", 4)
    assert "«of 2003» and 6 other releases could not be put together or compared" in found.sentence


def test_no_time_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE.replace("30", "x"), encoding="utf-8")
    book = ("--ledger", "book.sqlite")
    assert run("ledger", "add", "table.csv", *book, "--period", "2023").code == 0
    done = run("ledger", "check", "table.csv", *book, "--period", "2024", "--time-limit", "0", "--json")
    assert (done.code, '"verdict": "incomplete"' in done.out) == (1, True), done


IN_SUPPRESSION = "discreet.protect.suppression.suppression.Clock"


def test_differences_that_there_was_no_time_for_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever time is up, whoever is in a difference is among those found or those not examined."""
    monkeypatch.setattr(differences, "smallest_sums", lambda *_, **__: KnownSums((), False))
    rng = np.random.default_rng(1)
    sides = {"area": [f"a{i}" for i in range(6)], "grid": [f"g{i}" for i in range(8)]}
    for _ in range(20):
        table = Table.from_array(rng.choice([0, 0, 0, 0, 1, 2, 30, 60], (6, 8)), sides)
        territory = Territory.of(table)
        whole = differences.differences_of(territory, 4)
        assert (whole.unsettled, whole.safe) == (0, not whole.found)
        for turns in range(len(territory.people)):
            part = differences.differences_of(territory, 4, Turns(turns))
            assert not part.safe or whole.safe
            assert not (part.exposed & ~whole.exposed).any()
            assert int((whole.exposed & ~part.exposed).sum()) <= part.unsettled
            assert ("were not examined in time; give more" in part.sentence) == bool(part.unsettled)
            if part.unsettled:
                with pytest.raises(LimitError, match="coarse enough in time"):
                    coarser(part, "grid")


def test_a_pattern_is_safe_or_refused_whenever_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).integers(1, 30, (4, 5, 3))
    whole = Table.from_array(values, {"a": list("pqrs"), "b": list("vwxyz"), "c": list("123")})
    linked = [Tabulation.from_table(whole.margin(*pair)) for pair in (("a", "b"), ("b", "c"))]
    cost = suppress(linked, Threshold(40), levels=(2, 2)).pattern.cost
    seen = []
    for turns in range(0, 60, 3):
        clock = Turns(turns)
        with monkeypatch.context() as timed:
            timed.setattr(IN_SUPPRESSION, handing_out(clock))
            try:
                found = suppress(linked, Threshold(40), levels=(2, 2))
            except LimitError as error:
                assert "no safe pattern was found in 5 seconds; give more time" in str(error)  # noqa: PT017
                seen.append("refused")
                continue
        assert found.audit.verdict == "safe"
        assert found.pattern.cost >= cost
        seen.append("dearer" if found.pattern.cost > cost else "found")
    assert seen == sorted(seen, key=["refused", "dearer", "found"].index)
    assert set(seen) >= {"refused", "found"}


def test_the_fit_of_linked_tables_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Table.from_array(np.arange(27).reshape(3, 3, 3), {name: list("pqr") for name in "abc"})
    linked = [Tabulation.from_table(whole.margin(*pair)) for pair in (("a", "b"), ("b", "c"), ("a", "c"))]
    asked: list[float | None] = []
    solve = Program.run

    def late(program: Program, seconds: float | None = None) -> str:
        asked.append(seconds)
        clocks[-1].deadline = 0.0
        return solve(program, seconds)

    clocks = [Clock(math.inf, 7.0)]
    monkeypatch.setattr(IN_SUPPRESSION, handing_out(clocks[-1]))
    monkeypatch.setattr(Program, "run", late)
    with pytest.raises(LimitError, match="cells that linked tables share in 7 seconds; give more time"):
        Suppression(Threshold(3)).pattern(linked)
    assert asked == [math.inf]


def test_no_time_for_a_territory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("area,grid,count\nn,a,50\nn,b,6\ns,b,70\n", encoding="utf-8")
    assert run("geography", "table.csv", "--threshold", "5").code == 0
    monkeypatch.setattr(differences, "smallest_sums", lambda *_, **__: KnownSums((), False))
    done = run("geography", "table.csv", "--threshold", "8", "--time-limit", "0", "--json")
    assert (done.code, json.loads(done.out)["unsettled"], json.loads(done.out)["safe"]) == (1, 1, False)
    with pytest.raises(RequestError, match="give seconds of 0 or more"):
        differences.geography("table.csv", 5, time_limit=float("nan"))


def test_a_check_reads_what_is_related_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside four times as many releases of other things, a check reads as many figures, and no event twice."""
    read: list[str] = []
    whole = Ledger._read
    monkeypatch.setattr(Ledger, "_read", lambda book, entry, past: read.append(entry.id) or whole(book, entry, past))  # type: ignore[func-returns-value]
    counts = []
    with Ledger(tmp_path / "book.sqlite") as book:
        for number in range(80):
            sides = {"area": ["n", "s"]} if number < 4 else {f"d{number}": ["x", "y"]}
            part = Figures.from_array([900 + 50 * number, 300], sides, name="t")
            book.add(Release.of(part), title=f"t{number}", population="p", period=str(number))
            if number in (19, 79):
                read.clear()
                book.check(figures(500, 700), title="new", population="p", period="now")
                counts.append(len(read))
    assert counts == [4, 4]
