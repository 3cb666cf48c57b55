from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plugin.adding import install
from tests.workbench import patient
from tests.workbench.people import browser
from tests.workbench.serving import Server, serving

from discreet import datasets


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="session")
def patience(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package that adds the protection ``patient``."""
    points = {"discreet.protections": {"patient": "patient:Patient"}}
    source = Path(patient.__file__).read_text(encoding="utf-8")
    return install(tmp_path_factory.mktemp("site"), "patient", points, source)


@pytest.fixture(scope="session")
def patiently(patience: Path) -> dict[str, str]:
    """The environment in which it is found."""
    return {"PYTHONPATH": os.pathsep.join([str(patience), *filter(None, [os.environ.get("PYTHONPATH")])])}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, patiently: dict[str, str]) -> Iterator[Server]:
    table = tmp_path_factory.mktemp("opened") / "religion.csv"
    datasets.load("religion").write(table)
    with serving(table, env=patiently) as running:
        yield running
