"""What is called by another spelling is the same, and what could be two releases is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import refused, run

from discreet.decide.ledger import Ledger
from discreet.table.figures import Figures
from discreet.table.release import Release

OLD = "area,age,count\nn,0-4,29\nn,5-9,36\ns,0-4,31\ns,5-9,39\n"
NEW = "area,age,count\nn,0-5,33\nn,6-9,32\ns,0-5,49\ns,6-9,21\n"
"""Beside each other, the two say how many are aged 5."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    Path("old.csv").write_text(OLD, encoding="utf-8")
    Path("new.csv").write_text(NEW, encoding="utf-8")
    about = ("--population", "residents > 0+", "--period", "may 2024", "--variable", "count")
    assert run("ledger", "add", "old.csv", *about).code == 0


SPELLINGS = [
    ("residents > 0+", "may 2024", "count"),
    ("Residents > 0+", "may 2024", "count"),
    ("residents  >  0+", "may 2024", ""),
    ("RESIDENTS >0+", "May  2024", "Count"),
    ("\uff52esidents > 0+", "may 2024", "COUNT"),
]


@pytest.mark.parametrize(("population", "period", "variable"), SPELLINGS)
def test_tags_in_another_spelling_are_the_same(population: str, period: str, variable: str) -> None:
    about = ("--population", population, "--period", period, "--variable", variable)
    checked = run("ledger", "check", "new.csv", *about, "--json")
    assert (checked.code, json.loads(checked.out)["verdict"]) == (1, "unsafe")


@pytest.mark.parametrize("header", ["Area,AGE", "area,Age", " area,age", "ａrea,age"])
def test_dimensions_in_another_spelling_are_the_same(header: str) -> None:
    Path("new.csv").write_text(NEW.replace("area,age", header), encoding="utf-8")
    checked = run("ledger", "check", "new.csv", "--json")
    told = json.loads(checked.out)
    assert (checked.code, told["verdict"]) == (1, "unsafe")
    if "age" not in header:
        assert any("was taken to be" in text for text in told["assumed"])


def test_two_dimensions_of_one_spelling_are_two() -> None:
    Path("new.csv").write_text("age,AGE,count\n0-4,a,60\n5-9,b,75\n", encoding="utf-8")
    assert run("ledger", "add", "new.csv", "--title", "two").code == 0
    assert run("ledger", "check", "new.csv", "--title", "again").code in (0, 1)


def test_a_title_that_is_the_beginning_of_another_id() -> None:
    name = json.loads(run("ledger", "list", "--json").out)["releases"][0]["id"]
    assert run("ledger", "add", "new.csv", "--title", name[:4]).code == 0
    assert "names 2 releases" in refused(run("ledger", "withdraw", name[:4], "--reason", "x", "--unseen"))
    assert run("ledger", "withdraw", name[:6], "--reason", "x", "--unseen").code == 0


def test_a_revised_release_counts_where_it_meets_the_new_one_through_others() -> None:
    """The first version shows what its correction hides, in a dimension that the new release does not have."""
    sides = {"b": ["b1", "b2"], "c": ["c1", "c2"]}
    with Ledger("chain.sqlite") as book:
        first = Release.of(Figures.from_array([[3, 50], [60, 40]], sides, name="first"))
        book.add(first, title="first")
        second = Release.of(Figures.from_array([[None, None], [60, 40]], sides, name="second"))
        book.add(second, title="second", revises="first")
        link = Release.of(Figures.from_array([[20, 50], [33, 50]], {"a": ["a1", "a2"], "b": ["b1", "b2"]}, name="link"))
        book.add(link, title="link")
        new = Release.of(Figures.from_array([70, 83], {"a": ["a1", "a2"]}, name="new"))
        found = book.check(new, title="new")
        assert [entry.title for entry in found.compared] == ["first"]
