"""Several clients of one workbench at once: a small and fixed part of ``make campaign``."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign.load import REQUESTS, load


def test_many_clients_get_right_answers_and_strangers_none(tmp_path: Path) -> None:
    tally = load(tmp_path, clients=5, requests=60, seed=2)
    assert tally.failed == []
    assert sum(tally.tried.values()) == 61
    assert {name.removeprefix("requests: ") for name in tally.tried} >= set(REQUESTS)


@pytest.mark.long
def test_a_crowd(tmp_path: Path) -> None:
    tally = load(tmp_path, clients=50, requests=2000, seed=3)
    assert tally.failed == []
