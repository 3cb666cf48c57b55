"""What the page may ask the command line for."""

from __future__ import annotations

import pytest

from discreet.cli.app import tree
from discreet.core.errors import RequestError
from discreet.workbench.commands import arguments_of, commands_of, repeated, shown

COMMANDS = commands_of(tree())


def test_options_come_from_the_command_line() -> None:
    risk = {one.name: one for one in COMMANDS["risk"].parameters}
    assert risk["table"].kind == "file"
    assert risk["table"].flag == ""
    assert risk["sampled"].kind == "flag"
    assert risk["base"].kind == "integer"
    assert risk["weights"].default == "0.1,0.8,0.1"
    assert risk["released"].help
    assert "json" not in risk
    assert any(name.startswith("protect ") for name in COMMANDS)


def test_nothing_that_reaches_beyond_the_folder_is_offered() -> None:
    assert "workbench" not in COMMANDS
    assert "replay" not in COMMANDS
    assert not {"query", "table", "engine"} & {one.name for one in COMMANDS["tabulate"].parameters}


def test_values_are_bound_to_their_options() -> None:
    made = arguments_of(
        COMMANDS["audit"], {"releases": ["a.csv", "b.csv"], "law": "--help", "relaxed": True, "about": ""}
    )
    assert made == ["audit", "--law=--help", "--relaxed", "--json", "--", "a.csv", "b.csv"]
    assert shown(made) == "discreet audit --law=--help --relaxed a.csv b.csv"


@pytest.mark.parametrize(
    "given",
    [
        {"table": "/etc/passwd"},
        {"table": "../secret.csv"},
        {"table": "folder/secret.csv"},
        {"table": "~/secret.csv"},
        {"table": "C:\\secret.csv"},
        {"table": "--output=x.csv"},
        {"table": ["a.csv", "b.csv"]},
        {"table": {"name": "a.csv"}},
        {"sampled": "yes"},
        {"nonsense": 1},
        {"ledger": "other.sqlite"},
    ],
)
def test_bad_values_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(RequestError):
        arguments_of(COMMANDS["risk"], given)


def test_what_the_page_asks_for_can_be_repeated() -> None:
    for given in ({"table": "a.csv", "seed": 3, "exact": True}, {"table": "a.csv", "by": "area,/x=1"}):
        made = arguments_of(COMMANDS["risk"], given)
        assert repeated(COMMANDS, made) == made


@pytest.mark.parametrize(
    "arguments",
    [
        ["workbench", "--no-browser"],
        ["replay", "--json", "--", "record.json"],
        ["risk", "--output=/home/x.csv", "--json", "--", "a.csv"],
        ["risk", "--output", "/home/x.csv", "--json"],
        ["risk", "--json", "--", "../a.csv"],
        ["risk", "a.csv"],
        ["risk", "-o/home/x.csv", "--json"],
        ["tabulate", "--query=SELECT 1", "--json", "--", "a.csv"],
        ["ledger", "list", "--ledger=/home/other.sqlite", "--json"],
        [],
    ],
)
def test_what_the_page_could_not_ask_for_is_not_repeated(arguments: list[str]) -> None:
    with pytest.raises(RequestError, match=r"saved session runs|not a file of this session"):
        repeated(COMMANDS, arguments)
