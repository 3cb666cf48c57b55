"""Hostile inputs end in an answer, or in one line and exit code 2: a small and fixed part of ``make campaign``."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign.hostile_inputs import COMMANDS, OPTIONS, mutations, odd, options, write_files
from campaign.outcomes import Tally


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_LEDGER", "DISCREET_LEDGER_KEY", "DISCREET_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    write_files(tmp_path)
    return tmp_path


def test_changed_files_of_every_format(folder: Path) -> None:
    tally = Tally()
    mutations(tally, folder, each=6, seed=1)
    assert sum(tally.tried.values()) == 6 * len(COMMANDS)
    assert tally.failed == []


def test_odd_files(folder: Path) -> None:
    tally = Tally()
    odd(
        tally,
        folder,
        names=("nested", "twice", "binary", "null", "noted", "decimals", "base", "dropped", "rows", "kind"),
    )
    assert sum(tally.tried.values()) > 50
    assert tally.failed == []


def test_options_that_take_no_such_value(folder: Path) -> None:
    tally = Tally()
    options(tally, values=("nan", "inf", "1e400", "100000000000000000000", "", "\0"))
    assert sum(tally.tried.values()) > 5 * len(OPTIONS)
    assert tally.failed == []


@pytest.mark.long
def test_all_of_it(folder: Path) -> None:
    tally = Tally()
    mutations(tally, folder, each=300, seed=2)
    odd(tally, folder)
    options(tally)
    assert tally.failed == []
