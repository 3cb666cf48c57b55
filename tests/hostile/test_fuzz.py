"""Generated inputs: tables, policies, records and report data of any shape end in an answer, or in one line and code 2.

Hypothesis makes them from a fixed seed, a few with every run and many in the long one; what fails is made small.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign.hostile_inputs import NUMBERS, TABLE, WORDS
from campaign.outcomes import command, fault
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FEW = settings(
    max_examples=12, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MANY = settings(FEW, max_examples=1500)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=6),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LABELS = st.one_of(st.sampled_from(["a", "b", "Total", "0-4", "5+", "x", "T", "=1", " a"]), st.text(max_size=4))
FIGURES = st.one_of(
    st.integers(0, 30).map(str), st.sampled_from(["x", "..", "<5", "3.5", "1-4", "-3"]), st.sampled_from(NUMBERS)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_LEDGER", "DISCREET_LEDGER_KEY", "DISCREET_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    Path("table.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path


def answers(words: list[Any]) -> None:
    """Check that a command answers or refuses, and say how it does not."""
    wrong = fault(words)
    assert not wrong, wrong


# --- tables ---------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Return a file that looks like a table, more or less."""
    width = draw(st.integers(0, 3))
    names = draw(st.lists(st.one_of(st.sampled_from(["area", "sex", "age"]), st.text(max_size=3)), min_size=width))
    header = [*names[:width], draw(st.sampled_from(["count", "value", "n", ""]))]
    rows = draw(st.lists(st.tuples(st.tuples(*[LABELS] * width), FIGURES), max_size=8))
    mark = draw(st.sampled_from([",", ";", "\t"]))
    ending = draw(st.sampled_from(["\n", "\r\n", ""]))
    return "".join(mark.join(line) + ending for line in [header, *([*labels, figure] for labels, figure in rows)])


READ = (["inspect"], ["risk"], ["audit"], ["protect", "conventional-rounding"], ["assess", "--as-is"])


def table_ends(text: str, number: int) -> None:
    Path("odd.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    first, *more = READ[number]
    answers([first, *more[:1], "odd.csv", *more[1:]] if first == "protect" else [first, "odd.csv", *more])
    Path("book.sqlite").unlink(missing_ok=True)
    answers(["ledger", "add", "odd.csv", "--ledger", "book.sqlite"])


# --- policies -------------------------------------------------------------------------------------------------

KEYS = (
    "threshold",
    "dominance",
    "p_percent",
    "pq",
    "group_disclosure",
    "r2",
    "dr",
    "width",
    "tau",
    "levels",
    "combine",
)


def toml(value: Any) -> str:
    """Return a value as TOML writes it, or something near it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return '""' if value is None else json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")


def policy_ends(parts: dict[str, dict[str, Any]], others: dict[str, Any]) -> None:
    lines = [f"{key} = {toml(value)}" for key, value in others.items()]
    for section, entries in parts.items():
        lines += [f"[{section}]", *(f"{key} = {toml(value)}" for key, value in entries.items())]
    Path("policy.toml").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    answers(["assess", "table.csv", "--policy", "policy.toml"])
    answers(["ledger", "check", "table.csv", "--ledger", "none.sqlite", "--policy", "policy.toml"])


ENTRIES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
PARTS = st.dictionaries(st.sampled_from(["rules", "limits", "other"]), ENTRIES, max_size=2)
OTHERS = st.dictionaries(
    st.sampled_from(["title", "weights", "zeros", "as_is", "extends", "protections", "allow"]), VALUES, max_size=2
)


# --- records and report data ----------------------------------------------------------------------------------


def places(data: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to everything in plain data."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [before, *(one for key, value in inner for one in places(value, (*before, key)))]


def changed(data: Any, where: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of plain data with another value somewhere."""
    if not where:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[where[0]] = changed(data[where[0]], where[1:], value)
    return copy


def data_ends(number: int, value: Any) -> None:
    if not Path("record.json").exists():
        assert command(["assess", "table.csv", "--record", "record.json", "--report", "data.json"])[0] in (0, 1)
    for name, words in (("record.json", ["replay"]), ("data.json", ["report", "-o", "again.html"])):
        data = json.loads(Path(name).read_text(encoding="utf-8"))
        every = places(data)
        odd = changed(data, every[number % len(every)], value)
        Path(f"odd-{name}").write_bytes(json.dumps(odd).encode("utf-8", "surrogatepass"))
        answers([words[0], f"odd-{name}", *words[1:]])


PROPERTIES: dict[str, tuple[Callable[..., None], dict[str, Any]]] = {
    "tables": (table_ends, {"text": tables(), "number": st.integers(0, len(READ) - 1)}),
    "policies": (policy_ends, {"parts": PARTS, "others": OTHERS}),
    "records and report data": (data_ends, {"number": st.integers(0, 10**6), "value": VALUES}),
}


@pytest.mark.parametrize("what", PROPERTIES)
def test_whatever_is_generated_ends_in_one_line(what: str) -> None:
    work, generated = PROPERTIES[what]
    FEW(given(**generated)(work))()


@pytest.mark.long
@pytest.mark.parametrize("what", PROPERTIES)
def test_many_of_them(what: str) -> None:
    work, generated = PROPERTIES[what]
    MANY(given(**generated)(work))()
