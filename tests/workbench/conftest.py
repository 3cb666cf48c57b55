from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.workbench.people import browser
from tests.workbench.serving import Server, serving

from discreet import datasets


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    table = tmp_path_factory.mktemp("opened") / "religion.csv"
    datasets.load("religion").write(table)
    with serving(table) as running:
        yield running
