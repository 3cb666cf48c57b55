"""What ``help`` and notebooks show of functions: annotations as written, and every option by its name."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import fields
from pydoc import TextDoc, render_doc

import pytest

import discreet as dc


def listed(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Return the signatures of something and of what it holds, as far as they are of this project."""
    try:
        found = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
    yield path, found
    for name, member in vars(value).items() if isinstance(value, type) else ():
        if not name.startswith("_") and callable(found := getattr(value, name)) and member is not None:
            yield from listed(found, f"{path}.{name}")


def all_signatures() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name in dc.__all__:
        value = getattr(dc, name)
        inside = {f"{name}.{part}": getattr(value, part) for part in getattr(value, "__all__", ())}
        for path, one in inside.items() if inspect.ismodule(value) else [(name, value)]:
            if getattr(one, "__module__", "").startswith("discreet") and callable(one):
                found += listed(one, path)
    return found


def test_no_annotation_of_the_front_door_is_in_quotes() -> None:
    found = all_signatures()
    assert len(found) > 200
    quoted = [path for path, text in found if re.search(r"(: |-> )['\"]", text)]
    assert quoted == []


def test_help_shows_plain_annotations() -> None:
    text = re.sub("\x08.", "", render_doc(dc.risk, renderer=TextDoc()))
    assert (
        "risk(table: object, released: object = None, *, weights: tuple[float, float, float] = (0.1, 0.8, 0.1)" in text
    )
    assert ") -> Risk" in text


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (dc.assess, {"by", "value", "contributor", "statistics", "time_limit"}),
        (dc.risk, {"by", "contributor", "total"}),
        (dc.sensitivity, {"by", "response"}),
        (dc.tabulate, {"value", "contributor", "engine"}),
        (dc.suppress, {field.name for field in fields(dc.protect.Suppression) if field.init} - {"rules"}),
        (dc.Ledger.add, {"population", "period"}),
    ],
)
def test_options_are_listed_by_name(function: object, options: set[str]) -> None:
    taken = inspect.signature(function).parameters  # type: ignore[arg-type]
    assert options <= set(taken)
    assert all(one.kind is not one.VAR_KEYWORD for one in taken.values())


def test_annotations_are_still_read_by_tools() -> None:
    assert typing.get_type_hints(dc.Hierarchy.to_hrc)["return"] in (str, type(None))


@pytest.mark.parametrize("name", ["datasets", "models", "plots", "protect", "report", "rules", "studies", "uniques"])
def test_rooms_list_their_front_door_only(name: str) -> None:
    room = getattr(dc, name)
    assert sorted(dir(room)) == sorted(room.__all__)


def test_an_audit_states_an_interval_with_one_reason_once() -> None:
    table = dc.Table.from_array([[8, 1, 4], [3, 12, 4]], ["a", "b"])
    shown = str(dc.audit(dc.protect.random_rounding(table, seed=2**100)))
    assert re.search(r"\n  a=\d, b=\d is \d+ to \d+: published, rounded at random to base 3", shown)
