"""What the page may ask the command line for."""

from __future__ import annotations

import pytest

from discreet.cli.app import tree
from discreet.core.errors import RequestError
from discreet.workbench.commands import arguments_of, commands_of, inside, shown

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
        {"by": "area,/etc/passwd"},
    ],
)
def test_bad_values_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(RequestError):
        arguments_of(COMMANDS["risk"], given)


@pytest.mark.parametrize(
    "text", ["region=/etc/hosts", "region=../up.hrc", "x:~root/f", "http://host/f.csv", "a=\\\\host\\f"]
)
def test_files_hidden_in_options_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match="outside the folder"):
        inside(text)


@pytest.mark.parametrize("text", ["..", "x", "area=north/south:3", "size=7:400", "region=nuts.hrc", "5-9,10+"])
def test_labels_and_marks_pass(text: str) -> None:
    assert inside(text) == text
