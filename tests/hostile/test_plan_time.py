"""The time limit of a plan holds for the whole run: what is unfinished is withheld, kept apart, and finished later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import run
from tests.hostile.clocks import Turns
from tests.programme.records import BUSINESS, FIRMS, firms, table

from discreet.core.clock import Clock
from discreet.decide.ledger import Ledger
from discreet.programme.cluster_work import Task, work_on
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.plan_reader import plan_of
from discreet.programme.running import RunOptions, run_plan

SEED = 2**127 + 1
PLAN = BUSINESS + FIRMS + table("L1", ["region", "size"], "lettuce") + table("P1", ["region", "form"], "pizza")


def made(folder: Path, text: str, to: str, seconds: float | None = None) -> ProgrammeOutcome:
    return run_plan(plan_of(text, folder=folder), RunOptions(folder / to, SEED, time_limit=seconds))


def tables(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.csv")}


def test_what_is_not_finished_in_time_is_withheld_and_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firms(tmp_path, 120)
    whole = made(tmp_path, PLAN, "whole")
    assert whole.verdict == "protect"
    with monkeypatch.context() as timed:
        timed.setattr(Task, "clock", lambda task: Clock(0.0 if task.name == "pizza" else None))
        part = made(tmp_path, PLAN, "part")
    assert [(one.name, one.verdict, one.unfinished) for one in part.clusters] == [
        ("lettuce", "protect", False),
        ("pizza", "withhold", True),
    ]
    assert "1 must not be released; 1 of these was not finished in time" in part.sentence
    assert "run the plan again, as what is finished is kept" in part.clusters[1].sentence
    assert list(tables(tmp_path / "part")) == ["L1.csv"]
    # Neither the record nor what is kept takes it for a verdict: the next run finishes it, and that alone.
    assert not (tmp_path / "part" / ".plan" / "pizza.json").exists()
    later = made(tmp_path, PLAN, "part")
    assert (later.verdict, later.fresh) == ("protect", 1)
    assert tables(tmp_path / "part") == tables(tmp_path / "whole")
    assert made(tmp_path, PLAN, "part").fresh == 0


def test_a_cluster_is_finished_or_withheld_whenever_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firms(tmp_path, 120)
    tasks: list[Task] = []
    with monkeypatch.context() as told:
        told.setattr("discreet.programme.running.work_on", lambda task, workers: tasks.append(task) or work_on(task))  # type: ignore[func-returns-value]
        made(tmp_path, BUSINESS + FIRMS + table("P1", ["district", "form"], "pizza"), "out")
    (task,) = tasks
    whole = work_on(task)
    seen = set()
    for turns in (0, 1, 2, 4, 8, 1000):
        clock = Turns(turns)
        monkeypatch.setattr(Task, "clock", lambda _, clock=clock: clock)
        monkeypatch.setattr("discreet.decide.assess.Clock.within", lambda _, clock=clock: clock)
        found = work_on(task)
        assert found.unfinished == (found.verdict == "withhold")
        assert found.verdict in ("withhold", whole.verdict)
        seen.add(found.verdict)
    assert seen == {"withhold", "protect"}


def test_no_time_for_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firms(tmp_path, 120)
    text = 'ledger = "office.sqlite"\n' + BUSINESS + FIRMS + table("L1", ["region", "size"], "pizza")
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    assert run("plan", "run", tmp_path / "plan.toml", "--publish").code == 0
    again = text.replace('period = "2024"', 'period = "2025"')
    clock = Clock(None)
    monkeypatch.setattr("discreet.programme.running.Clock.within", lambda _: clock)
    check = Ledger.check

    def late(*given: object, **options: object) -> object:
        clock.deadline = 0.0
        return check(*given, **{**options, "time_limit": 0.0})  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "check", late)
    (found,) = made(tmp_path, again, "late").clusters
    assert (found.verdict, found.unfinished, found.release) == ("withhold", True, None)
    monkeypatch.undo()
    assert made(tmp_path, again, "late").verdict == "protect"


def test_the_limit_of_the_command_comes_before_that_of_the_plan(tmp_path: Path) -> None:
    firms(tmp_path, 120)
    (tmp_path / "plan.toml").write_text("time_limit = 1000\n" + PLAN, encoding="utf-8")
    done = run("plan", "run", tmp_path / "plan.toml", "--time-limit", "0", "--json")
    assert done.code == 1, done.err
    assert [one["unfinished"] for one in json.loads(done.out)["clusters"]] == [True, True]
    assert not list(tmp_path.glob("published/*.csv"))
    done = run("plan", "run", tmp_path / "plan.toml", "--json")
    assert (done.code, json.loads(done.out)["verdict"]) == (0, "protect"), done.err


def test_a_search_that_ran_out_of_time_is_named_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    firms(tmp_path, 120)
    with monkeypatch.context() as timed:
        timed.setattr("discreet.programme.cluster_work.SEARCH", 1e-9)
        short = made(tmp_path, PLAN, "out")
    (one,) = (one for one in short.clusters if one.verdict == "withhold")
    assert one.unfinished
    assert "no protection that the policy allows was found (suppress: no safe pattern was found" in one.sentence
    assert one.checks[0][0] is False
    assert all(told.startswith("without protection: ") for _, told in one.checks[1:])
    assert "1 of these was not finished in time" in short.sentence
    assert made(tmp_path, PLAN, "out").verdict == "protect"
