"""Every command can be tried on a bundled table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run

from discreet import datasets
from discreet.cli.app import tree
from discreet.cli.bundled import people
from discreet.table.arrow_files import read_arrow


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.commands:
        found = group.commands[name]
        if hasattr(found, "commands"):
            yield from _commands(found, f"{before}{name} ")
        else:
            yield f"{before}{name}", found


def test_every_command_takes_a_bundled_table() -> None:
    assert not {name for name, one in _commands(tree()) if not any("--example" in p.opts for p in one.params)}


def test_every_command_refuses_an_option_that_is_given_twice() -> None:
    for name, _ in _commands(tree()):
        done = run(*name.split(), "--example", "sex", "--example", "religion")
        assert done.code == 2, name
        assert "--example is given 2 times; give it once" in done.err, name


def test_columns_named_one_by_one_are_not_dropped() -> None:
    done = run("assess", "people.csv", "--by", "area", "--by", "health")
    assert done.code == 2
    assert "--by is given 2 times; give it once, with commas between its values" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tabulate", "--by", "sex", "-o", "made.csv"), "3 cells and totals in 2 margins"),
        (
            ("protect", "sample-records", "--sample-size", "30", "-o", "made.csv"),
            "30 of 2,449 records are in the sample.",
        ),
        (("protect", "swap-records", "--area", "output_area", "--match", "sex", "-o", "made.csv"), "changed places"),
        (("replay",), "Reproduced: the whole record is the same"),
        (("report", "-o", "made.html"), "Written: made.html"),
        (("study", "antal2015", "--samples", "2", "--draws", "2"), "loglinear"),
        (("ledger", "check"), "SAFE"),
        (("ledger", "add", "--ledger", "made.sqlite"), "Added"),
        (("ledger", "list"), "output_area × sex"),
        (("ledger", "verify"), "1 release"),
        (("ledger", "withdraw", "--reason", "wrong year"), "Withdrawn: "),
        (("ledger", "retag", "--reason", "left out", "--period", "2023"), "period not stated → 2023"),
        (("uniques", "size", "-N", "9000", "--at-most", "0.05"), "uniform prior"),
        (("uniques", "sizes", "-N", "9000"), "multinomial"),
        (("protect", "ptable"), "counts of sex that are not 0"),
        (("plan", "new", "-o", "made.toml"), "Written: made.toml"),
        (("plan", "check"), "1 table, 1 to protect in 1 cluster."),
        (("plan", "run", "-o", "made"), "1 table in 1 cluster: all may be published as written."),
    ],
    ids=lambda given: " ".join(given[:2]) if isinstance(given, tuple) else "",
)
def test_commands_work_on_a_bundled_table(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, "--example", "sex")
    assert done.code == 0, done.err
    assert said.casefold() in done.out.casefold()
    assert {file.name for file in tmp_path.iterdir()} == {name for name in arguments if name.startswith("made")}


def test_a_hidden_count_is_given_away_by_the_table_itself() -> None:
    done = run("ledger", "check", "--example", "religion")
    assert done.code == 1, done.err
    assert "33 figures can be worked out exactly" in " ".join(done.out.split())


def test_people_are_those_of_the_table(tmp_path: Path) -> None:
    assert people("sex").num_rows == datasets.sex().total
    file = tmp_path / "s.csv"
    assert run("protect", "sample-records", "--example", "sex", "--sample-size", "2449", "-o", file).code == 0
    assert sorted(map(str, read_arrow(file).to_pylist())) == sorted(map(str, people("sex").to_pylist()))


@pytest.mark.parametrize(
    "command",
    ["replay", "report", "tabulate", "protect sample-records", "ledger check", "ledger add", "plan new", "plan run"],
)
def test_one_thing_is_named(command: str, tmp_path: Path) -> None:
    needed = ["--by", "sex", "-o", str(tmp_path / "t.csv")] if command == "tabulate" else []
    both = "a file is given, and the bundled table 'sex' too (--example); leave out one"
    for more, told in (([], "or a bundled table with --example religion"), (["nothing.csv", "--example", "sex"], both)):
        done = run(*command.split(), *needed, *more)
        assert done.code == 2
        assert told in done.err


def test_messages_about_a_bundled_table_leave_its_temporary_folder_out() -> None:
    done = run("tabulate", "--example", "religion", "--by", "sex", "-o", "table.csv")
    assert done.code == 2
    assert done.err.startswith("discreet: religion.csv: there is no dimension column 'sex'")
