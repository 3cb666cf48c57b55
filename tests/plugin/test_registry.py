"""Six families, one way to add to them; what cannot be told apart or loaded is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.plugin.adding import install

from discreet.auditing.laws import LAWS
from discreet.core.errors import RequestError
from discreet.core.registry import Registry
from discreet.models import MODELS
from discreet.protect import METHODS
from discreet.rules import RULES
from discreet.table.kinds import KINDS, Random
from discreet.tabulation.engine import ENGINES

FAMILIES: list[Registry[Any]] = [KINDS, METHODS, MODELS, LAWS, ENGINES, RULES]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.group)
def test_a_package_adds_to_a_family(family: Registry[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(family)
    assert "mine" not in family
    with pytest.raises(RequestError, match=f"there is no {family.what} 'mine'"):
        family["mine"]
    install(tmp_path, "added", {family.group: {"mine": "added:Mine"}}, "class Mine:\n    name = 'mine'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(family) == [*before, "mine"]
    assert len(family) == len(before) + 1
    assert family["mine"].name == "mine"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.group)
def test_members_have_the_name_under_which_they_are_found(family: Registry[Any]) -> None:
    assert {name: member.name for name, member in family.items()} == {name: name for name in family}


def test_what_comes_with_discreet_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "added", {"discreet.kinds": {"random": "added:Mine"}}, "class Mine:\n    name = 'random'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert KINDS["random"] is Random
    assert list(KINDS).count("random") == 1


def test_a_name_that_two_packages_claim_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "other"):
        install(tmp_path, name, {"discreet.kinds": {"mine": f"{name}:Mine"}}, "class Mine:\n    name = 'mine'\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RequestError, match=r"several packages add the kind of figure 'mine' \(one:Mine, other:Mine\)"):
        KINDS["mine"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import nothing_of_that_name", "cannot be loaded from broken:Mine .ModuleNotFoundError"),
        ("", "cannot be loaded from broken:Mine .AttributeError"),
        ("class Mine:\n    name = 'other'\n", "broken:Mine calls itself 'other', but is added as the law 'mine'"),
    ],
)
def test_what_cannot_be_loaded_is_refused(
    source: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "broken", {"discreet.laws": {"mine": "broken:Mine"}}, source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "broken", raising=False)
    with pytest.raises(RequestError, match=reason):
        LAWS["mine"]
